package access

import (
	"slices"
	"strings"
	"unicode/utf8"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

// Limits of a password. The upper one bounds the work of hashing it.
const (
	MinPasswordCharacters = 8
	MaxPasswordBytes      = 1024
)

// User is a local user. The hash is argon2id in PHC form; without one the user
// cannot log in.
type User struct {
	Name         string   `json:"name"`
	PasswordHash string   `json:"passwordHash,omitempty"`
	Roles        []string `json:"roles"`
	// Version counts the changes of a user, from 1. It goes on when a user of the
	// same name is created again, so that nothing issued to the one that was
	// deleted comes back to life.
	Version int  `json:"version"`
	Deleted bool `json:"deleted,omitempty"`
	Trail
}

// AnonymousUser is there from the first command on.
func AnonymousUser(by Author) User {
	return User{Name: Anonymous, Roles: []string{}, Version: 1, Trail: Trail{}.after(by)}
}

// Check reports what is wrong with a user record.
func (u User) Check() error {
	if err := checkName("username", u.Name); err != nil {
		return err
	}
	if !strings.HasPrefix(u.PasswordHash, "$argon2id$") {
		return fault.New(fault.Invalid, "A password hash must be argon2id.")
	}
	return checkAll("roles", u.Roles, checkLabel)
}

// Shown is the user without the hash, for answers.
func (u User) Shown() User {
	u.PasswordHash = ""
	return u
}

// CheckPassword reports what is wrong with a new password.
func CheckPassword(p secret.Password) error {
	text := p.Reveal()
	if utf8.RuneCountInString(text) < MinPasswordCharacters {
		return fault.New(fault.Invalid, "password must have at least %d characters.", MinPasswordCharacters)
	}
	if len(text) > MaxPasswordBytes {
		return fault.New(fault.Invalid, "password must have at most %d bytes.", MaxPasswordBytes)
	}
	return nil
}

// UserPut is the wish to create or to change a user; what is not given stays.
type UserPut struct {
	Name string `json:"username"`
	// PasswordHash is empty when no password was given.
	PasswordHash string `json:"passwordHash,omitempty"`
	// Roles are nil when they were not given.
	Roles []string `json:"roles,omitzero"`
}

// Check reports what is wrong with the fields themselves, whatever is stored.
func (p UserPut) Check() error {
	if err := checkName("username", p.Name); err != nil {
		return err
	}
	return checkAll("roles", p.Roles, checkLabel)
}

// Decide gives the user as the put leaves it. current is the user of that name,
// the zero User when there never was one.
func (p UserPut) Decide(current User, by Author) (User, error) {
	if p.Name == Anonymous {
		return User{}, errBuiltIn("user", Anonymous)
	}
	next := current
	if current.Version == 0 || current.Deleted {
		if p.PasswordHash == "" {
			return User{}, fault.New(fault.Invalid, "password is required to create the user %s.", p.Name)
		}
		next = User{Name: p.Name, Roles: []string{}, Version: current.Version}
	}
	if p.PasswordHash != "" {
		next.PasswordHash = p.PasswordHash
	}
	if p.Roles != nil {
		next.Roles = p.Roles
	}
	if next.Name == Administrator && !slices.Contains(next.Roles, RoleAdministrator) {
		return User{}, fault.New(fault.Conflict, "The user %s keeps the role %s.", Administrator, RoleAdministrator)
	}
	next.Version++
	next.Trail = next.after(by)
	return next, next.Check()
}

// Delete gives what stays of the user: that there was one.
func (u User) Delete(by Author) (User, error) {
	if u.Name == Administrator || u.Name == Anonymous {
		return User{}, errBuiltIn("user", u.Name)
	}
	u.PasswordHash, u.Roles, u.Deleted = "", []string{}, true
	u.Version++
	u.Trail = u.after(by)
	return u, nil
}
