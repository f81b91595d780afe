package pipelines

import (
	"math"
	"slices"
	"strings"

	"cel.dev/cel-go/cel"
)

// Catalog finds the commands of the service that may be steps.
type Catalog interface {
	Step(name string) (Command, bool)
}

// Command is a command as a step.
type Command struct {
	Name   string
	Params []Param
	// Passes says that it has no result: the body goes on to the next step.
	Passes bool
}

// Param is a parameter of a step.
type Param struct {
	Name string
	// Alias is another accepted name of the same parameter.
	Alias    string
	Type     Type
	Required bool
	// Literal says that it must stand in the source as it is, without expression.
	Literal bool
	// Enum lists the only values of a Text; empty means any.
	Enum []string
}

// Type is the type of a parameter.
type Type uint8

// The types, with what Steps gets: any value of a run, string, int64, float64,
// bool, map[string]any.
const (
	Any Type = iota
	Text
	Integer
	Number
	Boolean
	Object
)

var typeNames = [...]string{Any: "a value", Text: "a text", Integer: "a whole number", Number: "a number", Boolean: "true or false", Object: "an object"}

// The language's own commands, which need no catalog. Those that Steps has to tell
// apart are exported.
const (
	EventListen    = "event.listen"
	MessageReceive = "message.receive"
	RunAs          = "iam.run.as"
	set            = "set"
	logStep        = "log"
	waitStep       = "wait"
)

var language = func() map[string]Command {
	all := map[string]Command{
		EventListen:    {Passes: true, Params: []Param{{Name: "eventKey", Type: Text, Required: true, Literal: true}}},
		MessageReceive: {Passes: true, Params: []Param{{Name: "key", Type: Text, Required: true, Literal: true}}},
		RunAs:          {Passes: true, Params: []Param{{Name: "user", Type: Text, Required: true, Literal: true}}},
		logStep:        {Passes: true, Params: []Param{{Name: "message", Required: true}}},
		waitStep:       {Passes: true, Params: []Param{{Name: "seconds", Type: Number, Required: true}}},
		set:            {Params: []Param{{Name: "value", Required: true}}},
	}
	for name := range conversions {
		all[name] = Command{Params: []Param{{Name: "value"}}} // the body, when it is not given
	}
	for name, c := range all {
		c.Name = name
		all[name] = c
	}
	return all
}()

// Language lists the commands that the language itself knows, by name.
func Language() []Command {
	all := make([]Command, 0, len(language))
	for _, c := range language {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b Command) int { return strings.Compare(a.Name, b.Name) })
	return all
}

func (c Command) param(name string) (Param, bool) {
	for _, p := range c.Params {
		if p.Name == name || (p.Alias != "" && p.Alias == name) {
			return p, true
		}
	}
	return Param{}, false
}

// bind gives a value as the parameter's type has it.
func (p Param) bind(v any) (any, error) {
	bound, ok := v, true
	switch p.Type {
	case Text:
		_, ok = v.(string)
	case Integer:
		bound, ok = whole(v)
	case Number:
		bound, ok = floating(v)
	case Boolean:
		_, ok = v.(bool)
	case Object:
		_, ok = v.(map[string]any)
	}
	if !ok {
		return nil, wrong("%s must be %s", p.Name, typeNames[p.Type])
	}
	if s, _ := v.(string); len(p.Enum) > 0 && !slices.Contains(p.Enum, s) {
		return nil, wrong("%s must be one of %s", p.Name, strings.Join(p.Enum, ", "))
	}
	return bound, nil
}

func whole(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case uint64:
		return int64(v), v <= math.MaxInt64
	}
	return 0, false
}

func floating(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), true
	case uint64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// mayBe reports whether an expression of that type can give the parameter.
func (p Param) mayBe(t *cel.Type) bool {
	switch t.Kind() {
	case cel.StringKind, cel.TimestampKind, cel.DurationKind:
		return p.Type == Any || p.Type == Text
	case cel.IntKind, cel.UintKind:
		return p.Type == Any || p.Type == Integer || p.Type == Number
	case cel.DoubleKind:
		return p.Type == Any || p.Type == Number
	case cel.BoolKind:
		return p.Type == Any || p.Type == Boolean
	case cel.MapKind:
		return p.Type == Any || p.Type == Object
	case cel.ListKind, cel.BytesKind, cel.NullTypeKind:
		return p.Type == Any
	}
	return true
}
