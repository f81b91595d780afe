package access_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

const hash = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA"

// kind is the fault's kind in words, "" for none.
func kind(err error) string {
	if err == nil {
		return ""
	}
	return fault.From(err).Kind.String()
}

func TestUserPut(t *testing.T) {
	made := access.Trail{Created: monday, CreatedBy: "pat", Updated: monday, UpdatedBy: "pat"}
	changed := access.Trail{Created: monday, CreatedBy: "pat", Updated: monday, UpdatedBy: "kim"}
	ann := access.User{Name: "ann", PasswordHash: hash, Roles: []string{"reader"}, Version: 3, Trail: made}
	admin := access.User{Name: access.Administrator, PasswordHash: hash, Roles: []string{access.RoleAdministrator}, Version: 1, Trail: made}
	fresh := access.Trail{Created: monday, CreatedBy: "kim", Updated: monday, UpdatedBy: "kim"}
	tests := []struct {
		name  string
		given access.User
		when  access.UserPut
		fails string
		then  access.User
	}{
		{"creates a user", access.User{}, access.UserPut{Name: "ann", PasswordHash: hash, Roles: []string{"a"}}, "", access.User{Name: "ann", PasswordHash: hash, Roles: []string{"a"}, Version: 1, Trail: fresh}},
		{"creates one without roles", access.User{}, access.UserPut{Name: "ann", PasswordHash: hash}, "", access.User{Name: "ann", PasswordHash: hash, Roles: []string{}, Version: 1, Trail: fresh}},
		{"creates none without a password", access.User{}, access.UserPut{Name: "ann", Roles: []string{"a"}}, "invalid", access.User{}},
		{"changes the password and keeps the roles", ann, access.UserPut{Name: "ann", PasswordHash: hash + "2"}, "", access.User{Name: "ann", PasswordHash: hash + "2", Roles: []string{"reader"}, Version: 4, Trail: changed}},
		{"changes the roles and keeps the password", ann, access.UserPut{Name: "ann", Roles: []string{"b"}}, "", access.User{Name: "ann", PasswordHash: hash, Roles: []string{"b"}, Version: 4, Trail: changed}},
		{"takes all roles", ann, access.UserPut{Name: "ann", Roles: []string{}}, "", access.User{Name: "ann", PasswordHash: hash, Roles: []string{}, Version: 4, Trail: changed}},
		{"gives a deleted name to a new user, who counts on", access.User{Name: "ann", Version: 7, Deleted: true, Trail: made}, access.UserPut{Name: "ann", PasswordHash: hash}, "", access.User{Name: "ann", PasswordHash: hash, Roles: []string{}, Version: 8, Trail: fresh}},
		{"does not bring a deleted user back", access.User{Name: "ann", Version: 7, Deleted: true}, access.UserPut{Name: "ann", Roles: []string{"a"}}, "invalid", access.User{}},
		{"takes no password in the clear", ann, access.UserPut{Name: "ann", PasswordHash: "open sesame"}, "invalid", access.User{}},
		{"leaves the administrator the role", admin, access.UserPut{Name: access.Administrator, Roles: []string{"reader"}}, "conflict", access.User{}},
		{"changes the administrator's password", admin, access.UserPut{Name: access.Administrator, PasswordHash: hash + "2"}, "", access.User{Name: access.Administrator, PasswordHash: hash + "2", Roles: []string{access.RoleAdministrator}, Version: 2, Trail: changed}},
		{"leaves the anonymous user alone", access.AnonymousUser(byKim), access.UserPut{Name: access.Anonymous, PasswordHash: hash}, "conflict", access.User{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.when.Decide(tt.given, byKim)
			if kind(err) != tt.fails {
				t.Fatalf("err = %v, want %q", err, tt.fails)
			}
			if diff := cmp.Diff(tt.then, got); err == nil && diff != "" {
				t.Errorf("user differs (-want +got):\n%s", diff)
			}
			if err != nil && tt.when.PasswordHash != "" && strings.Contains(err.Error(), tt.when.PasswordHash) {
				t.Errorf("the fault %q repeats what was given for the hash", err)
			}
		})
	}
}

func TestUserNames(t *testing.T) {
	for name, ok := range map[string]bool{
		"kim": true, "kim.p@example.org": true, "K-9_a+b": true, strings.Repeat("a", 100): true,
		"": false, "realm:kim": false, access.System: false, "kim,pat": false, "kim pat": false, ".kim": false, "kim\n": false, "kïm": false, strings.Repeat("a", 101): false,
	} {
		if err := (access.UserPut{Name: name}).Check(); (err == nil) != ok || (err != nil && !fault.Is(err, fault.Invalid)) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestPasswords(t *testing.T) {
	for text, ok := range map[string]bool{
		"12345678": true, "äöüäöüäö": true, strings.Repeat("p", 1024): true,
		"": false, "1234567": false, "äöüäöüä": false, strings.Repeat("p", 1025): false,
	} {
		err := access.CheckPassword(secret.NewPassword(text))
		if (err == nil) != ok || (err != nil && !fault.Is(err, fault.Invalid)) {
			t.Errorf("%d bytes: %v", len(text), err)
		}
		if err != nil && text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("the fault %q shows the password", err)
		}
	}
}

func TestDeletingUsers(t *testing.T) {
	ann := access.User{Name: "ann", PasswordHash: hash, Roles: []string{"reader"}, Version: 3, Trail: access.Trail{Created: monday, CreatedBy: "pat"}}
	gone, err := ann.Delete(byKim)
	want := access.User{Name: "ann", Roles: []string{}, Version: 4, Deleted: true, Trail: access.Trail{Created: monday, CreatedBy: "pat", Updated: monday, UpdatedBy: "kim"}}
	if diff := cmp.Diff(want, gone); err != nil || diff != "" {
		t.Errorf("what stays (-want +got):\n%s%v", diff, err)
	}
	for _, name := range []string{access.Administrator, access.Anonymous} {
		if _, err := (access.User{Name: name}).Delete(byKim); !fault.Is(err, fault.Conflict) {
			t.Errorf("%s: %v, want a conflict", name, err)
		}
	}
}

func TestAShownUserHasNoHash(t *testing.T) {
	u := access.User{Name: "ann", PasswordHash: hash, Roles: []string{"a"}, Version: 2}
	if diff := cmp.Diff(access.User{Name: "ann", Roles: []string{"a"}, Version: 2}, u.Shown()); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}

func TestClientPut(t *testing.T) {
	first, second := access.SecretHash(secret.NewPassword("one")), access.SecretHash(secret.NewPassword("two"))
	made := access.Trail{Created: monday, CreatedBy: "kim", Updated: monday, UpdatedBy: "kim"}
	confidential := access.Client{ID: "shop", SecretHash: first, Version: 1, Trail: made}
	public := access.Client{ID: "shop", Public: true, Version: 1, Trail: made}
	put := access.ClientPut{ID: "shop", SecretHash: second}
	with := func(change func(*access.ClientPut)) access.ClientPut { p := put; change(&p); return p }
	tests := []struct {
		name  string
		given access.Client
		when  access.ClientPut
		fails string
		then  access.Client
	}{
		{"creates a confidential client with the secret", access.Client{}, put, "", access.Client{ID: "shop", SecretHash: second, Version: 1, Trail: made}},
		{"creates a public client without", access.Client{}, with(func(p *access.ClientPut) { p.Public = new(true) }), "", access.Client{ID: "shop", Public: true, Version: 1, Trail: made}},
		{"keeps the secret that there is", confidential, put, "", access.Client{ID: "shop", SecretHash: first, Version: 2, Trail: made}},
		{"replaces the secret when asked", confidential, with(func(p *access.ClientPut) { p.NewSecret = true }), "", access.Client{ID: "shop", SecretHash: second, Version: 2, Trail: made}},
		{"forgets the secret of what becomes public", confidential, with(func(p *access.ClientPut) { p.Public = new(true) }), "", access.Client{ID: "shop", Public: true, Version: 2, Trail: made}},
		{"gives a secret to what becomes confidential", public, with(func(p *access.ClientPut) { p.Public = new(false) }), "", access.Client{ID: "shop", SecretHash: second, Version: 2, Trail: made}},
		{"keeps a public client public", public, put, "", access.Client{ID: "shop", Public: true, Version: 2, Trail: made}},
		{"gives no secret to a public client", public, with(func(p *access.ClientPut) { p.NewSecret = true }), "invalid", access.Client{}},
		{"refuses a record without a secret where one is needed", access.Client{}, with(func(p *access.ClientPut) { p.SecretHash = "" }), "invalid", access.Client{}},
		{"leaves the own client alone", access.OwnClient(byKim), access.ClientPut{ID: access.PublicClient, SecretHash: second}, "conflict", access.Client{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.when.Decide(tt.given, byKim)
			if kind(err) != tt.fails {
				t.Fatalf("err = %v, want %q", err, tt.fails)
			}
			if diff := cmp.Diff(tt.then, got); err == nil && diff != "" {
				t.Errorf("client differs (-want +got):\n%s", diff)
			}
		})
	}
	if err := access.OwnClient(byKim).CheckDelete(); !fault.Is(err, fault.Conflict) {
		t.Errorf("the own client may be deleted: %v", err)
	}
	if err := confidential.CheckDelete(); err != nil {
		t.Errorf("an operator's client may not be deleted: %v", err)
	}
}
