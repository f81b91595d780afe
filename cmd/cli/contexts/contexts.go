// Package contexts remembers where services are and who is logged in there, in
// one file that only its owner can read. Processes that use it at the same time
// take turns. It talks to an issuer only to renew a token; logging in is the
// command line's affair.
package contexts

import (
	"fmt"
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"hooklog/domain/secret"
)

// Set is what the file holds.
type Set struct {
	// Current is the name of the context that counts when none is named.
	Current  string    `yaml:"current,omitempty"`
	Contexts []Context `yaml:"contexts"`
}

// Context is one service and a log-in there.
type Context struct {
	Name string `yaml:"name"`
	URL  string `yaml:"url"`
	// CA is a file of certificates to trust; empty means the system's.
	CA string `yaml:"ca,omitempty"`
	// Issuer is the identity provider; empty means the service's own realm.
	Issuer string `yaml:"issuer,omitempty"`
	Client string `yaml:"client"`
	// User is who logged in, where the log-in named one.
	User  string `yaml:"user,omitempty"`
	Token Token  `yaml:"token"`
}

// Token is what the log-in gave. A context without one is logged out.
type Token struct {
	Access  secret.Password
	Refresh secret.Password
	// Expires is when the access token ends; zero means that it is not known.
	Expires time.Time
}

type tokenText struct {
	Access  string    `yaml:"access,omitempty"`
	Refresh string    `yaml:"refresh,omitempty"`
	Expires time.Time `yaml:"expires,omitempty"`
}

// MarshalYAML is the one place where the tokens are written in the clear.
func (t Token) MarshalYAML() (any, error) {
	return tokenText{t.Access.Reveal(), t.Refresh.Reveal(), t.Expires}, nil
}

// UnmarshalYAML implements yaml.Unmarshaler.
func (t *Token) UnmarshalYAML(n *yaml.Node) error {
	var text tokenText
	if err := n.Decode(&text); err != nil {
		return err
	}
	*t = Token{secret.NewPassword(text.Access), secret.NewPassword(text.Refresh), text.Expires}
	return nil
}

// early is how long before its end an access token is renewed: it must live
// until the service has looked at it.
const early = 10 * time.Second

func (t Token) lives(now time.Time) bool {
	return !t.Access.IsZero() && (t.Expires.IsZero() || now.Add(early).Before(t.Expires))
}

// Find gives the context of that name.
func (s *Set) Find(name string) (Context, error) {
	i := s.index(name)
	if i < 0 {
		return Context{}, fmt.Errorf("there is no context %q; hooklog context list shows them", name)
	}
	return s.Contexts[i], nil
}

// Put adds a context, or replaces the one of that name.
func (s *Set) Put(c Context) {
	if i := s.index(c.Name); i >= 0 {
		s.Contexts[i] = c
		return
	}
	s.Contexts = append(s.Contexts, c)
}

func (s *Set) index(name string) int {
	return slices.IndexFunc(s.Contexts, func(c Context) bool { return c.Name == name })
}
