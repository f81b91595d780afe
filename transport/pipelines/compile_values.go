package pipelines

import (
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
)

var decimal = regexp.MustCompile(`^-?(0|[1-9][0-9]*)$`)

// template compiles a value with the expressions in it.
func (c *compiler) template(n *yaml.Node) template {
	switch n.Kind {
	case yaml.SequenceNode:
		return c.list(n)
	case yaml.MappingNode:
		return c.object(n)
	case yaml.ScalarNode:
		return c.scalar(n)
	}
	return literal{} // an alias, which was found already
}

func (c *compiler) scalar(n *yaml.Node) template {
	switch n.ShortTag() {
	case "!!str":
		return c.text(n)
	case "!!int":
		i, err := strconv.ParseInt(n.Value, 10, 64)
		if err != nil || !decimal.MatchString(n.Value) {
			c.add(at(n), "write the number with decimal digits and within 64 bits, or in quotes")
		}
		return literal{i}
	case "!!float":
		var f float64
		if err := n.Decode(&f); err != nil || (&meter{left: MaxValue}).add(f) != nil {
			c.add(at(n), "the number is none that JSON has")
		}
		return literal{f}
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			c.add(at(n), "write true or false")
		}
		return literal{b}
	case "!!null":
		return literal{}
	}
	return literal{n.Value} // a date
}

func (c *compiler) list(n *yaml.Node) template {
	made, plain := list{}, []any{}
	for _, child := range n.Content {
		t := c.template(child)
		made = append(made, t)
		if l, ok := t.(literal); ok {
			plain = append(plain, l.value)
		}
	}
	if len(plain) == len(made) {
		return literal{plain}
	}
	return made
}

func (c *compiler) object(n *yaml.Node) template {
	made, plain := object{}, map[string]any{}
	constant := true
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i].Value
		t := c.template(n.Content[i+1])
		made = append(made, member{key, t})
		l, ok := t.(literal)
		constant = constant && ok
		plain[key] = l.value
	}
	if constant {
		return literal{plain}
	}
	return made
}

// text compiles a text: one whole expression keeps its type.
func (c *compiler) text(n *yaml.Node) template {
	where := c.scalarAt(n)
	parts, unclosed, ok := split(n.Value)
	if !ok {
		c.add(where.offset(unclosed), "this ${ has no end; write $${ for the characters themselves")
		return literal{""}
	}
	made := make(words, 0, len(parts))
	for _, p := range parts {
		if p.expression {
			made = append(made, c.expression(where, p))
		} else {
			made = append(made, literal{p.text})
		}
	}
	switch {
	case len(made) == 0:
		return literal{""}
	case len(made) == 1:
		return made[0]
	}
	return made
}

func (c *compiler) expression(where scalarAt, p part) template {
	c.expressions++
	if c.expressions > maxExpressions {
		if c.expressions == maxExpressions+1 {
			c.add(where.offset(p.offset), "there are more than %d expressions", maxExpressions)
		}
		return unknown{}
	}
	e, offset, err := compileExpression(p.text)
	if err != nil {
		c.add(where.offset(p.offset+offset), "%v", err)
		return unknown{}
	}
	e.at = where.offset(p.offset)
	return e
}

// unknown stands for an expression that could not be compiled: it is no literal,
// and may have any type.
type unknown struct{ template }
