package access_test

import (
	"strings"
	"testing"

	"hooklog/domain/access"
	"hooklog/domain/fault"
)

func TestNothingIsAllowedButWhatARoleSays(t *testing.T) {
	tests := []struct {
		name  string
		given []string
		then  bool
	}{
		{"an administrator may run the command", []string{access.RoleAdministrator}, true},
		{"one role of several is enough", []string{"reader", access.RoleAdministrator}, true},
		{"a user without roles may not", nil, false},
		{"an unknown role gives nothing", []string{"Administrator", "admin", ""}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := access.Allow("kim", tt.given, "webhook.put")
			if tt.then && err != nil {
				t.Fatalf("refused: %v", err)
			}
			if !tt.then && !fault.Is(err, fault.Forbidden) {
				t.Fatalf("err = %v, want forbidden", err)
			}
		})
	}
	t.Run("a name alone gives nothing, not even the system's", func(t *testing.T) {
		for _, name := range []string{access.Administrator, access.System} {
			err := access.Allow(name, nil, "webhook.put")
			if !fault.Is(err, fault.Forbidden) {
				t.Errorf("%s: err = %v, want forbidden", name, err)
			}
		}
	})
}

func TestUserCheck(t *testing.T) {
	const hash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA"
	tests := []struct {
		name  string
		given access.User
		valid bool
	}{
		{"a name and an argon2id hash make a user", access.User{Name: "kim", PasswordHash: hash}, true},
		{"the administrator is a user", access.User{Name: access.Administrator, PasswordHash: hash, Roles: []string{access.RoleAdministrator}, Version: 1}, true},
		{"the name must not be empty", access.User{PasswordHash: hash}, false},
		{"a colon is for names of an outside issuer", access.User{Name: "realm:kim", PasswordHash: hash}, false},
		{"nobody can be the system", access.User{Name: access.System, PasswordHash: hash}, false},
		{"a password in the clear is no hash", access.User{Name: "kim", PasswordHash: "open sesame"}, false},
		{"another hash is refused", access.User{Name: "kim", PasswordHash: "$2y$10$abcdefghijklmnopqrstuv"}, false},
		{"no hash is refused", access.User{Name: "kim"}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.given.Check()
			if tt.valid && err != nil {
				t.Fatalf("refused: %v", err)
			}
			if !tt.valid && !fault.Is(err, fault.Invalid) {
				t.Fatalf("err = %v, want invalid", err)
			}
			if err != nil && tt.given.PasswordHash != "" && strings.Contains(err.Error(), tt.given.PasswordHash) {
				t.Errorf("the fault %q repeats what was given for the hash", err)
			}
		})
	}
}
