package audit

import (
	"cmp"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/record"
)

// OfAccess is the entry of a record of svc.access, as access.Decode gives it.
func OfAccess(at record.Position, decoded any) Entry {
	e := entryAt(at)
	switch r := decoded.(type) {
	case access.Look:
		ofLook(&e, r)
	case access.Login:
		e.Time, e.ID, e.Command = r.Time, r.ID, Login
		e.Who = Who{Principal: r.Principal, Effective: r.Principal, Client: r.Client, Address: r.Address}
		e.User = r.Principal
		e.Params = map[string]any{"grant": r.Grant}
		if r.Scope != "" {
			e.Params["scope"] = r.Scope
		}
	case access.Failures:
		e.Time, e.Command, e.Outcome, e.Failures = r.To, Login, fault.Unauthenticated.String(), &r
	default:
		panic("audit: a record of svc.access that has no entry")
	}
	return e
}

func ofLook(e *Entry, l access.Look) {
	e.Time, e.ID, e.Command, e.Outcome, e.Params = l.Time, l.ID, l.Name, l.Outcome, l.Params
	e.Who = Who{
		Principal: l.Principal, PrincipalName: l.PrincipalName, Effective: cmp.Or(l.Effective, l.Principal), Roles: l.Roles,
		Client: l.Client, Address: l.Address,
	}
	e.EventKey, e.Last6 = l.EventKey, l.Last6
	e.Keys = keys([]string{l.EventKey})
}
