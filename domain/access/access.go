// Package access holds who may do what: the users and what they are allowed.
// It verifies no password (transport/auth does) and knows no request.
package access

import (
	"strings"

	"hooklog/domain/fault"
)

// The names that exist before any record does.
const (
	// Administrator is the user that the first start creates.
	Administrator = "admin"
	// System is the principal of what an operator does on the machine itself,
	// with the key ring at hand. No caller of the API can be it.
	System = "svc:system"
)

// RoleAdministrator may run every command.
const RoleAdministrator = "administrator"

// User is a local user. The hash is argon2id in PHC form.
type User struct {
	Name         string   `json:"name"`
	PasswordHash string   `json:"passwordHash"`
	Roles        []string `json:"roles"`
	// Version counts the changes of a user, from 1.
	Version int `json:"version"`
}

// Check reports what is wrong with a user record.
func (u User) Check() error {
	if u.Name == "" || strings.Contains(u.Name, ":") {
		return fault.New(fault.Invalid, "A user name must not be empty or contain a colon.")
	}
	if !strings.HasPrefix(u.PasswordHash, "$argon2id$") {
		return fault.New(fault.Invalid, "A password hash must be argon2id.")
	}
	return nil
}

// Allow answers whether the principal with these roles may run the command;
// nothing is allowed but what a role says.
func Allow(principal string, roles []string, command string) error {
	for _, r := range roles {
		if r == RoleAdministrator {
			return nil
		}
	}
	return fault.New(fault.Forbidden, "%s may not run %s.", principal, command)
}
