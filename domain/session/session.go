// Package session is the life of refresh tokens: the tokens that descend from
// one log-in are a family, and a wish to open, rotate or end it is decided by
// folding svc.session. It sees tokens only as hashes, verifies no user and no
// client, and makes nothing random: whoever writes a wish brings all of that.
package session

import (
	"slices"
	"time"

	"hooklog/domain/secret"
)

const (
	// Grace is how long the direct predecessor of the current tokens is still
	// taken: the answer that carried its successor may have been lost.
	Grace = 30 * time.Second
	// MaxCurrent bounds the successors that one token gets within its grace.
	MaxCurrent = 128
)

// Hash stands for a secret: the id of a family, or a whole token.
type Hash secret.TokenHash

// String is the hash in hexadecimal.
func (h Hash) String() string { return secret.TokenHash(h).String() }

// MarshalText writes the hexadecimal form.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads the hexadecimal form.
func (h *Hash) UnmarshalText(text []byte) error {
	parsed, err := secret.ParseTokenHash(string(text))
	*h = Hash(parsed)
	return err
}

// Family is all tokens that descend from one log-in. User, client, scope and end
// never change.
type Family struct {
	ID   Hash   `json:"id"`
	User string `json:"user"`
	// UserVersion is that of the user when the family was opened.
	UserVersion int       `json:"userVersion"`
	Client      string    `json:"client"`
	Scope       string    `json:"scope,omitempty"`
	Created     time.Time `json:"created"`
	Expires     time.Time `json:"expires"`
	// Current are the newest tokens: more than one where a predecessor came again
	// within its grace. They stay until one of them is rotated.
	Current []Hash `json:"current,omitempty"`
	// Predecessor is the token that the current ones were given for.
	Predecessor Hash      `json:"predecessor,omitzero"`
	Rotated     time.Time `json:"rotated,omitzero"`
	// Seen is the latest time that the family has heard of: its own never goes back.
	Seen  time.Time `json:"seen"`
	Ended bool      `json:"ended,omitempty"`
}

// Over reports that no token of the family is taken any more, now or later.
func (f Family) Over(now time.Time) bool {
	return f.Ended || !f.clock(now).Before(f.Expires)
}

// Alive reports that the token may be used: it is a current one, or the
// predecessor within its grace.
func (f Family) Alive(token Hash, now time.Time) bool {
	return !f.Over(now) && (f.current(token) || f.spared(token, now))
}

func (f Family) current(token Hash) bool { return slices.Contains(f.Current, token) }

// spared reports that the token is the predecessor within its grace.
func (f Family) spared(token Hash, now time.Time) bool {
	return token == f.Predecessor && token != Hash{} && !f.clock(now).After(f.Rotated.Add(Grace))
}

// clock is the time for this family: the clocks of two instances may differ.
func (f Family) clock(now time.Time) time.Time {
	if f.Seen.After(now) {
		return f.Seen
	}
	return now
}
