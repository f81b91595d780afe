package pipelines

import (
	"regexp"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"

	"hooklog/domain/pipeline"
)

// compiler turns nodes into a program, and goes on after a fault to find the rest.
type compiler struct {
	reader
	catalog     Catalog
	program     Program
	ids         map[string]bool
	expressions int
}

// identifier is the form of ids and of the names of variables, which stand in
// expressions behind a dot.
var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// members calls each for the keys and values of a mapping, or finds fault.
func (c *compiler) members(n *yaml.Node, what string, each func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		c.add(at(n), "%s must be a mapping", what)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		each(n.Content[i], n.Content[i+1])
	}
}

func (c *compiler) source(root *yaml.Node) {
	found := false
	c.members(root, "a pipeline", func(key, value *yaml.Node) {
		switch key.Value {
		case "headers":
			c.headers(value)
		case "vars":
			c.vars(value)
		case "pipeline":
			found = true
			c.steps(value)
		case "body":
			c.program.body = c.template(value)
		default:
			c.add(at(key), "%q is unknown here; there are headers, vars, pipeline and body", shown(key.Value))
		}
	})
	if root.Kind == yaml.MappingNode && !found {
		c.add(at(root), "pipeline is missing: the list of steps")
	}
}

func (c *compiler) headers(n *yaml.Node) {
	c.members(n, "headers", func(key, value *yaml.Node) {
		t := c.template(value)
		l, constant := t.(literal)
		if _, isText := l.value.(string); constant && !isText {
			c.add(at(value), "a header must be a text")
		}
		c.program.headers = append(c.program.headers, entry{key.Value, t, at(value)})
	})
}

func (c *compiler) vars(n *yaml.Node) {
	c.members(n, "vars", func(key, value *yaml.Node) {
		if key.ShortTag() == "!!str" && !identifier.MatchString(key.Value) {
			c.add(at(key), "a variable is named by a letter and up to 63 letters, digits and underscores")
		}
		c.program.vars = append(c.program.vars, entry{key.Value, c.template(value), at(value)})
	})
}

func (c *compiler) steps(n *yaml.Node) {
	switch {
	case n.Kind != yaml.SequenceNode || len(n.Content) == 0:
		c.add(at(n), "pipeline must be a list of steps")
		return
	case len(n.Content) > MaxSteps:
		c.add(at(n.Content[MaxSteps]), "there are %d steps; at most %d are allowed", len(n.Content), MaxSteps)
		return
	}
	for i, child := range n.Content {
		s := step{path: strconv.Itoa(i + 1), at: at(child)}
		switch child.Kind {
		case yaml.ScalarNode:
			c.command(&s, i == 0, child, nil)
		case yaml.MappingNode:
			c.step(&s, i == 0, child)
		default:
			c.add(at(child), "a step must be the name of a command, or a mapping with one")
		}
		c.program.steps = append(c.program.steps, s)
	}
}

// step compiles a mapping: one key is the command, the others are options.
func (c *compiler) step(s *step, first bool, n *yaml.Node) {
	var name, params *yaml.Node
	options := map[string]*yaml.Node{}
	c.members(n, "a step", func(key, value *yaml.Node) {
		switch {
		case slices.Contains(optionNames, key.Value):
			options[key.Value] = value
		case name == nil:
			name, params = key, value
		default:
			c.add(at(key), "a step has one command; %q is none of its options (id, if, output, onError)", shown(key.Value))
		}
	})
	if name == nil {
		c.add(at(n), "the step has no command")
		return
	}
	c.options(s, options)
	c.command(s, first, name, params)
	if s.command.Passes && s.output != "" {
		c.add(at(options["output"]), "%s has no result; the body goes on as it is", s.command.Name)
	}
	if isListener(s.command.Name) {
		for _, option := range []string{"if", "onError"} {
			if given := options[option]; given != nil {
				c.add(at(given), "%s has no such option: it says what starts the pipeline", s.command.Name)
			}
		}
	}
}

func isListener(command string) bool { return command == EventListen || command == MessageReceive }

// command compiles the name and the parameters of a step; params may be nil.
func (c *compiler) command(s *step, first bool, name, params *yaml.Node) {
	command, known := language[name.Value]
	if !known {
		command, known = c.catalog.Step(name.Value)
	}
	if !known {
		c.add(at(name), "there is no step %q", shown(name.Value))
		if params != nil {
			c.template(params) // for the faults of its expressions
		}
		return
	}
	if isListener(command.Name) && !first {
		c.add(at(name), "%s must be the first step", command.Name)
	}
	s.command = command
	c.params(s, name, params)
	c.keys(s)
}

// keys takes out what the fold must know of a program.
func (c *compiler) keys(s *step) {
	if len(s.params) != 1 {
		return
	}
	l, _ := s.params[0].value.(literal)
	given, ok := l.value.(string)
	if !ok {
		return
	}
	p := &c.program
	var err error
	switch s.command.Name {
	case EventListen:
		err = pipeline.CheckPattern("eventKey", given)
		p.EventKeys = append(p.EventKeys, given)
	case MessageReceive:
		err = pipeline.CheckPattern("key", given)
		p.MessageKeys = append(p.MessageKeys, given)
	case RunAs:
		if given == "" {
			err = wrong("user must not be empty")
		}
		if !slices.Contains(p.RunAs, given) {
			p.RunAs = append(p.RunAs, given)
		}
	}
	if err != nil {
		c.add(s.params[0].at, "%v", err)
	}
}
