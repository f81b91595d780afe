package access

import (
	"slices"
	"strings"

	"hooklog/domain/fault"
)

// maxRules bounds the policy, which is held in memory and asked for every command.
const maxRules = 1000

// Policy is the rules in the order of their names. Nothing is allowed but what a
// rule says, and rules only allow: another rule never takes a right away. It is a
// value: a change gives a new one.
type Policy []Rule

// AnonymousRule is the name of the rule that the first policy consists of.
const AnonymousRule = "anonymous"

// FirstPolicy is in force from the first command on: what triggered pipelines may
// do as long as the operator says nothing else.
func FirstPolicy(by Author) Policy {
	return Policy{{
		Name:     AnonymousRule,
		Users:    []string{Anonymous},
		Commands: []string{"event.listen", "event.receive", "message.receive", "convert.*", "set", "log", "wait", "iam.run.as"},
		Keys:     []string{"*"},
		Version:  1,
		Trail:    Trail{}.after(by),
	}}
}

// Allow answers whether the subject may run the command on the key; "" is for
// what concerns no key, or none yet.
func (p Policy) Allow(s Subject, command, key string) error {
	if s.administers() {
		return nil
	}
	for i := range p {
		if r := &p[i]; r.allows(s, command) && (key == "" || coveredBy(r.Keys, key)) {
			return nil
		}
	}
	if key != "" {
		return fault.New(fault.Forbidden, "%s may not run %s on this key.", s.Principal, command)
	}
	return fault.New(fault.Forbidden, "%s may not run %s.", s.Principal, command)
}

// AllowAll answers whether the subject may run the command on every key that
// fits the pattern, in which * stands for one group and # for any number of them.
func (p Policy) AllowAll(s Subject, command, pattern string) error {
	covered := p.Reads(s, command)
	// No key has a wildcard in it, so a rule that covers the pattern as a text
	// covers whatever its wildcards may stand for, but for one thing: a # at the
	// end may stand for nothing.
	least := pattern
	for strings.HasSuffix(least, ".#") {
		least = strings.TrimSuffix(least, ".#")
	}
	if covered(pattern) && covered(least) {
		return nil
	}
	return fault.New(fault.Forbidden, "%s may not run %s on all that fits %s.", s.Principal, command, pattern)
}

// Reads tells the keys on which the subject may run the command from others; it
// is for the filtering of lists.
func (p Policy) Reads(s Subject, command string) func(key string) bool {
	patterns := []string{}
	for i := range p {
		if p[i].allows(s, command) {
			patterns = append(patterns, p[i].Keys...)
		}
	}
	all := s.administers() || slices.Contains(patterns, "*")
	return func(key string) bool { return all || coveredBy(patterns, key) }
}

// MayRunAs answers whether the subject may have a pipeline run as the user.
func (p Policy) MayRunAs(s Subject, user string) bool {
	return s.administers() || slices.ContainsFunc(p, func(r Rule) bool {
		return r.concerns(s) && (slices.Contains(r.RunAs, user) || slices.Contains(r.RunAs, "*"))
	})
}

// Rule finds a rule by its name.
func (p Policy) Rule(name string) (Rule, bool) {
	i, found := p.find(name)
	if !found {
		return Rule{}, false
	}
	return p[i], true
}

// Put gives the policy with the rule in place of the one of its name, and the
// rule as it stands there.
func (p Policy) Put(r Rule, by Author) (Policy, Rule, error) {
	if err := r.Check(); err != nil {
		return nil, Rule{}, err
	}
	i, found := p.find(r.Name)
	next := slices.Clone(p)
	if found {
		r.Version, r.Trail = p[i].Version, p[i].Trail
	} else {
		if len(p) == maxRules {
			return nil, Rule{}, fault.New(fault.Conflict, "There are %d rules, and more are not allowed.", maxRules)
		}
		r.Version, r.Trail = 0, Trail{}
		next = slices.Insert(next, i, Rule{})
	}
	r.Version++
	r.Trail = r.after(by)
	next[i] = r
	return next, r, nil
}

// Without gives the policy without the rule of that name, and what the rule was.
func (p Policy) Without(name string) (Policy, Rule, error) {
	i, found := p.find(name)
	if !found {
		return nil, Rule{}, ErrNoRule(name)
	}
	return slices.Delete(slices.Clone(p), i, i+1), p[i], nil
}

// ErrNoRule is the answer to a name that no rule has.
func ErrNoRule(name string) error {
	return fault.New(fault.NotFound, "There is no rule %q.", name)
}

func (p Policy) find(name string) (int, bool) {
	return slices.BinarySearchFunc(p, name, func(r Rule, name string) int { return strings.Compare(r.Name, name) })
}
