package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/registry"
	"hooklog/domain/webhook"
)

// OfDecision is the entry of a command.
func OfDecision(at record.Position, d registry.Decision) (Entry, error) {
	c := d.Command
	e := entryAt(at)
	e.Time, e.ID, e.Command, e.Repeat = c.Time, c.ID, c.Name, d.Repeated
	e.Who = Who{
		Principal: c.Principal, PrincipalName: c.PrincipalName, Effective: c.Effective, Roles: c.Roles,
		Client: c.Client, Address: c.Address, Owner: c.Owner, Via: c.Via, Call: c.Call,
	}
	if d.Fault != "" {
		e.Outcome, e.Detail = d.Fault, d.Detail
	}
	e.About = about(d)
	before, after := redacted(d.Change)
	var err error
	if e.Before, err = encode(before); err != nil {
		return e, err
	}
	e.After, err = encode(after)
	return e, err
}

func encode(state any) (json.RawMessage, error) {
	if state == nil {
		return nil, nil
	}
	text, err := json.Marshal(state)
	if err != nil {
		return nil, fmt.Errorf("encode a state of %T: %w", state, err)
	}
	return text, nil
}

// OfInvalid is the entry of a record that no release can read.
func OfInvalid(r *record.Record) Entry {
	e := entryAt(r.Position)
	e.Time, e.Outcome, e.Detail = r.Time, fault.Invalid.String(), "The record cannot be read."
	return e
}

// mentioned is what the parameters of commands name things by.
type mentioned struct {
	EventKey  string   `json:"eventKey"`
	Last6     string   `json:"last6"`
	Name      string   `json:"name"`
	Username  string   `json:"username"`
	ID        string   `json:"id"`
	Pipelines []string `json:"pipelines"`
}

// about tells what a command is about: by its parameters, also where it was
// refused, and by what the fold found there.
func about(d registry.Decision) (a About) {
	var m mentioned
	_ = json.Unmarshal(d.Command.Params, &m) // what cannot be read names nothing
	family, _, _ := strings.Cut(d.Command.Name, ".")
	switch family {
	case "webhook":
		a.EventKey, a.Last6 = m.EventKey, m.Last6
		for _, w := range []*webhook.Webhook{d.Named, d.Webhook} {
			a.see(w)
		}
	case "pipeline":
		a.Pipeline = m.Name
	case "run":
		a.Keys = m.Pipelines
		if len(m.Pipelines) == 1 {
			a.Pipeline = m.Pipelines[0]
		}
	case "user":
		a.User = cmp.Or(m.Username, m.Name)
	case "client":
		a.ClientID = cmp.Or(m.ID, m.Name)
	case "policy":
		a.Rule = m.Name
	case "key":
		a.SigningKey = m.ID
	case "cluster", "admin":
		a.User = access.Administrator
	}
	a.Keys = keys(append(a.Keys, a.EventKey, a.Pipeline))
	return a
}

// see takes in a webhook that a command was about; the last one counts.
func (a *About) see(w *webhook.Webhook) {
	if w == nil {
		return
	}
	a.Keys = append(a.Keys, a.EventKey, w.EventKey)
	a.EventKey, a.Last6 = w.EventKey, w.Token.Last6
}

// keys are the keys in order, each once.
func keys(all []string) []string {
	all = slices.DeleteFunc(slices.Clone(all), func(key string) bool { return key == "" })
	slices.Sort(all)
	return slices.Compact(all)
}
