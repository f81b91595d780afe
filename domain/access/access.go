// Package access holds who may do what: the users, the clients that they come
// through, the rules that allow, and the keys that the realm signs with. It
// verifies no password (transport/auth does) and knows no request.
package access

import (
	"slices"
	"time"
)

// The names that exist before any operator gives one.
const (
	// Administrator is the user that the first start creates.
	Administrator = "admin"
	// Anonymous is the user that triggered pipelines run as. It cannot log in,
	// and has only what the policy gives it.
	Anonymous = "anonymousUser"
	// System is the principal of what an operator does on the machine itself,
	// with the key ring at hand. No caller of the API can be it.
	System = "svc:system"
	// PublicClient is the client that everybody may come through.
	PublicClient = "hooklog"
)

// RoleAdministrator may do everything, whatever the rules say: so nobody can
// lock the operators out.
const RoleAdministrator = "administrator"

// Subject is who wants something: a local name, or "<namespace>:<sub>" of an
// outside issuer, with the roles of that user.
type Subject struct {
	Principal string
	Roles     []string
}

func (s Subject) administers() bool { return slices.Contains(s.Roles, RoleAdministrator) }

// Author is who changes something, and when.
type Author struct {
	Name string
	At   time.Time
}

// Trail is who made something and who changed it last.
type Trail struct {
	Created   time.Time `json:"created,omitzero"`
	CreatedBy string    `json:"createdBy,omitempty"`
	Updated   time.Time `json:"updated,omitzero"`
	UpdatedBy string    `json:"updatedBy,omitempty"`
}

// after is the trail once the author has made a change.
func (t Trail) after(by Author) Trail {
	if t.CreatedBy == "" {
		t.Created, t.CreatedBy = by.At, by.Name
	}
	t.Updated, t.UpdatedBy = by.At, by.Name
	return t
}
