package pipelines

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"
)

// params compiles the parameters of a step, nil for none.
func (c *compiler) params(s *step, name, n *yaml.Node) {
	if n != nil && n.ShortTag() != "!!null" {
		c.members(n, "the parameters of "+s.command.Name, func(key, value *yaml.Node) { c.param(s, key, value) })
		if n.Kind != yaml.MappingNode {
			return // what is missing is not known
		}
	}
	for _, p := range s.command.Params {
		if p.Required && !s.has(p.Name) {
			c.add(at(name), "%s needs the parameter %s", s.command.Name, p.Name)
		}
	}
}

func (s *step) has(param string) bool {
	return slices.ContainsFunc(s.params, func(a argument) bool { return a.param.Name == param })
}

func (c *compiler) param(s *step, key, value *yaml.Node) {
	t := c.template(value)
	p, known := s.command.param(key.Value)
	switch {
	case !known:
		c.add(at(key), "%s has no parameter %q", s.command.Name, shown(key.Value))
		return
	case s.has(p.Name): // perhaps by its other name
		c.add(at(key), "%q is given twice", p.Name)
		return
	}
	s.params = append(s.params, argument{p, t, at(value)})
	c.checkParam(p, t, value)
}

// checkParam finds the wrong types that can be known before a run.
func (c *compiler) checkParam(p Param, t template, n *yaml.Node) {
	l, constant := t.(literal)
	switch t := t.(type) {
	case literal:
		if _, err := p.bind(l.value); err != nil {
			c.add(at(n), "%v", err)
		}
	case *expression:
		if !p.mayBe(t.kind) {
			c.add(t.at, "%s must be %s", p.Name, typeNames[p.Type])
		}
	case words:
		if p.Type != Any && p.Type != Text {
			c.add(at(n), "%s must be %s", p.Name, typeNames[p.Type])
		}
	case list:
		if p.Type != Any {
			c.add(at(n), "%s must be %s", p.Name, typeNames[p.Type])
		}
	case object:
		if p.Type != Any && p.Type != Object {
			c.add(at(n), "%s must be %s", p.Name, typeNames[p.Type])
		}
	}
	if p.Literal && !constant {
		c.add(at(n), "%s must stand here as it is, without ${…}", p.Name)
	}
}

var optionNames = []string{"id", "if", "output", "onError"}

func (c *compiler) options(s *step, options map[string]*yaml.Node) {
	if n := options["id"]; n != nil {
		s.path = c.name(n, "id")
		if c.ids[s.path] {
			c.add(at(n), "the id %s is given twice", s.path)
		}
		c.ids[s.path] = true
	}
	if n := options["if"]; n != nil {
		s.condition = c.condition(n)
	}
	if n := options["output"]; n != nil {
		s.output = c.name(n, "output")
	}
	if n := options["onError"]; n != nil {
		s.onError = c.onError(n)
	}
}

func (c *compiler) name(n *yaml.Node, option string) string {
	if n.Kind != yaml.ScalarNode || !identifier.MatchString(n.Value) {
		c.add(at(n), "%s must be a letter and up to 63 letters, digits and underscores", option)
		return ""
	}
	return n.Value
}

func (c *compiler) condition(n *yaml.Node) template {
	t := c.template(n)
	c.checkParam(Param{Name: "if", Type: Boolean}, t, n)
	return t
}

// onError is throw, ignore, or a mapping with retry.
func (c *compiler) onError(n *yaml.Node) (made onError) {
	switch {
	case n.Kind == yaml.ScalarNode && n.Value == "throw":
	case n.Kind == yaml.ScalarNode && n.Value == "ignore":
		made.ignore = true
	case n.Kind == yaml.MappingNode && len(n.Content) == 2 && n.Content[0].Value == "retry":
		made.times, made.wait = c.retry(n.Content[1])
	default:
		c.add(at(n), "onError must be throw, ignore or {retry: {times: …, wait: …}}")
	}
	return made
}

// retry has the number of further tries, and the seconds between two.
func (c *compiler) retry(n *yaml.Node) (times int, wait time.Duration) {
	found := false
	c.members(n, "retry", func(key, value *yaml.Node) {
		l, _ := c.template(value).(literal)
		seconds, isNumber := floating(l.value)
		count, isWhole := whole(l.value)
		switch key.Value {
		case "times":
			found = true
			if times = int(count); !isWhole || count < 1 || count > maxRetries {
				c.add(at(value), "times must be a whole number from 1 to %d", maxRetries)
			}
		case "wait":
			if !isNumber || seconds < 0 || seconds > maxRetryWait.Seconds() {
				c.add(at(value), "wait must be a number of seconds from 0 to %v", maxRetryWait.Seconds())
			}
			wait = duration(seconds)
		default:
			c.add(at(key), "%q is unknown here; there are times and wait", shown(key.Value))
		}
	})
	if n.Kind == yaml.MappingNode && !found {
		c.add(at(n), "retry needs times")
	}
	return times, wait
}

// duration turns seconds into a duration; more than a year is a year.
func duration(seconds float64) time.Duration {
	const year = 365 * 24 * time.Hour
	if seconds > year.Seconds() {
		return year
	}
	return time.Duration(seconds * float64(time.Second))
}
