package access

import (
	"errors"
	"slices"
	"strings"

	"hooklog/domain/fault"
)

// Rule allows its users, and whoever has one of its roles, to run its commands
// on its keys, and to run as some users. Commands and keys are patterns: "*" is
// every one, "webhook.orders.*" every one below webhook.orders, and anything
// else only itself. A rule without keys allows only what concerns no key.
type Rule struct {
	Name     string   `json:"name"`
	Users    []string `json:"users,omitempty"`
	Roles    []string `json:"roles,omitempty"`
	Commands []string `json:"commands,omitempty"`
	Keys     []string `json:"keys,omitempty"`
	// RunAs are names of users, or "*" for all.
	RunAs   []string `json:"runAs,omitempty"`
	Version int      `json:"version,omitzero"`
	Trail
}

// Check reports what is wrong with a rule.
func (r Rule) Check() error {
	err := errors.Join(
		checkName("name", r.Name),
		checkAll("users", r.Users, checkLabel),
		checkAll("roles", r.Roles, checkLabel),
		checkAll("commands", r.Commands, checkPattern),
		checkAll("keys", r.Keys, checkPattern),
		checkAll("runAs", r.RunAs, checkLabel),
	)
	switch {
	case err != nil:
		return err
	case len(r.Users)+len(r.Roles) == 0:
		return fault.New(fault.Invalid, "A rule needs users or roles.")
	case len(r.Commands)+len(r.RunAs) == 0:
		return fault.New(fault.Invalid, "A rule needs commands or runAs.")
	}
	return nil
}

func (r *Rule) concerns(s Subject) bool {
	return slices.Contains(r.Users, s.Principal) ||
		slices.ContainsFunc(s.Roles, func(role string) bool { return slices.Contains(r.Roles, role) })
}

func (r *Rule) allows(s Subject, command string) bool {
	return r.concerns(s) && coveredBy(r.Commands, command)
}

func coveredBy(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return covers(pattern, name) })
}

func covers(pattern, name string) bool {
	if below, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, below) && name != below
	}
	return pattern == name
}
