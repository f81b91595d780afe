package commands

import (
	"context"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
)

// putRule replaces the rule as a whole: what is not given is empty.
func (d *Dispatcher) putRule(ctx context.Context, req Request) (any, error) {
	list := func(parameter string) []string {
		if given := catalog.Arg[[]string](req.Args, parameter); given != nil {
			return *given
		}
		return nil
	}
	rule := access.Rule{
		Name:     *catalog.Arg[string](req.Args, "name"),
		Users:    list("users"),
		Roles:    list("roles"),
		Commands: list("commands"),
		Keys:     list("keys"),
		RunAs:    list("runAs"),
	}
	if err := rule.Check(); err != nil {
		return nil, err
	}
	outcome, err := d.decide(ctx, req, change{id: commandID(req), request: rule, params: rule})
	if err != nil {
		return nil, err
	}
	return showRule(*outcome.Rule), nil
}

func (d *Dispatcher) getOrDeleteRule(ctx context.Context, req Request) (any, error) {
	outcome, err := d.decideNamed(ctx, req, "name")
	if err != nil {
		return nil, err
	}
	if outcome.Rule != nil {
		return showRule(*outcome.Rule), nil
	}
	rules := func() ([]access.Rule, error) { return d.Registry.Policy(), nil }
	return listAll(d, req, rules, showRule)
}

func showRule(r access.Rule) Rule {
	return Rule{
		Name:     r.Name,
		Users:    orEmpty(r.Users),
		Roles:    orEmpty(r.Roles),
		Commands: orEmpty(r.Commands),
		Keys:     orEmpty(r.Keys),
		RunAs:    orEmpty(r.RunAs),
		Version:  r.Version,
		Trail:    r.Trail,
	}
}

// orEmpty is for readers to whom null is no list.
func orEmpty(list []string) []string { return append([]string{}, list...) }
