package catalog

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

// Source is where a parameter came from.
type Source uint8

// The sources.
const (
	Query Source = iota
	Body
)

// Given is one parameter as it was sent: every transport has texts.
type Given struct {
	Name   string
	Value  string
	Source Source
}

// Args are the parameters of one request, checked against the catalog.
type Args struct {
	values map[string]any
}

// Bind checks what was given: no unknown name, no contradiction, no secret in a
// query, every value of its type, every required one there.
func (c Command) Bind(given []Given) (Args, error) {
	texts := make(map[string]string, len(given))
	for _, g := range given {
		p, ok := c.param(g.Name)
		if g.Source == Query && (p.Type == Password || isSecret(g.Name)) {
			return Args{}, fault.New(fault.Invalid, "%s must not stand in a query, because queries are written to logs; send it in the body.", g.Name)
		}
		if !ok {
			return Args{}, c.unknown(g.Name)
		}
		if before, twice := texts[p.Name]; twice && before != g.Value {
			return Args{}, fault.New(fault.Invalid, "%s is given twice with different values.", p.Name)
		}
		texts[p.Name] = g.Value
	}
	args := Args{values: make(map[string]any, len(texts))}
	for _, p := range c.Params {
		text, ok := texts[p.Name]
		if !ok {
			if p.Required {
				return Args{}, fault.New(fault.Invalid, "%s needs the parameter %s.", c.Name, p.Name)
			}
			continue
		}
		v, err := p.parse(text)
		if err != nil {
			return Args{}, err
		}
		args.values[p.Name] = v
	}
	return args, nil
}

// isSecret knows the names of secrets, also where no parameter has them.
func isSecret(name string) bool {
	return strings.EqualFold(name, "password") || strings.EqualFold(name, "secret")
}

func (c Command) param(name string) (Param, bool) {
	for _, p := range c.Params {
		if p.Name == name || (p.Alias != "" && p.Alias == name) {
			return p, true
		}
	}
	return Param{}, false
}

// maxShownName is the longest name that is repeated: every parameter's name is
// shorter, and a token or a made password is longer.
const maxShownName = 24

// unknown names a parameter that the command does not have, unless it may be a
// secret that was put in the wrong place.
func (c Command) unknown(name string) error {
	if len(name) > maxShownName {
		return fault.New(fault.Invalid, "%s has no parameter with such a name of %d bytes.", c.Name, len(name))
	}
	return fault.New(fault.Invalid, "%s has no parameter %q.", c.Name, name)
}

func (p Param) parse(text string) (any, error) {
	switch p.Type {
	case Integer:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fault.New(fault.Invalid, "%s must be an integer.", p.Name)
		}
		return n, nil
	case Boolean:
		return ParseBool(p.Name, text)
	case Token:
		t, err := secret.ParseToken(text)
		if err != nil {
			return nil, fault.New(fault.Invalid, "%s must be a UUID of 36 lower-case characters.", p.Name)
		}
		return t, nil
	case Password:
		return secret.NewPassword(text), nil
	case List:
		return p.list(text)
	default:
		if len(p.Enum) > 0 && !slices.Contains(p.Enum, text) {
			return nil, fault.New(fault.Invalid, "%s must be one of %s.", p.Name, strings.Join(p.Enum, ", "))
		}
		return text, nil
	}
}

// maxEntries bounds the work for a list; what it may hold is the rule's affair.
const maxEntries = 1000

// list drops spaces around the commas and what is repeated.
func (p Param) list(text string) ([]string, error) {
	entries := []string{}
	if strings.TrimSpace(text) == "" {
		return entries, nil
	}
	if strings.Count(text, ",") >= maxEntries {
		return nil, fault.New(fault.Invalid, "%s has more than %d entries.", p.Name, maxEntries)
	}
	for entry := range strings.SplitSeq(text, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			return nil, fault.New(fault.Invalid, "%s has an empty entry between its commas.", p.Name)
		}
		if !slices.Contains(entries, entry) {
			entries = append(entries, entry)
		}
	}
	return entries, nil
}

// ParseBool accepts exactly true and false.
func ParseBool(name, text string) (bool, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	return false, fault.New(fault.Invalid, "%s must be true or false.", name)
}

// shownText is the form of names, keys and times. Whoever puts a password or a
// token of theirs where it does not belong has mostly put something else.
var shownText = regexp.MustCompile(`^[A-Za-z0-9._:@+-]{1,64}$`)

// Shown are the arguments as they may stand on a record: without secrets, and of
// a text that may be the token of a webhook only the last six characters. Where a
// page goes on says nothing and is left out.
func (a Args) Shown() map[string]any {
	shown := map[string]any{}
	for name, v := range a.values {
		switch v := v.(type) {
		case secret.Token:
			shown[name] = hidden + v.Last6()
		case secret.Password:
		case string:
			token, err := secret.ParseToken(v)
			switch {
			case name == "cursor":
			case err == nil:
				shown[name] = hidden + token.Last6()
			case shownText.MatchString(v):
				shown[name] = v
			default:
				shown[name] = hidden
			}
		default:
			shown[name] = v
		}
	}
	return shown
}

// hidden stands for what is not shown of a text.
const hidden = "…"

// Arg gives the named argument, or nil when it was not given. T must be the Go
// type of the parameter's type: string, int, bool, secret.Token, secret.Password
// or []string.
func Arg[T any](a Args, name string) *T {
	v, ok := a.values[name]
	if !ok {
		return nil
	}
	t := v.(T)
	return &t
}
