package access

import (
	"crypto/sha256"
	"encoding/hex"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

// Client is an OAuth client that users come through. A public one has no secret.
type Client struct {
	ID     string `json:"id"`
	Public bool   `json:"public"`
	// SecretHash is SecretHash of the secret: that is 256 random bits, so it needs
	// no slow hash.
	SecretHash string `json:"secretHash,omitempty"`
	Version    int    `json:"version"`
	Trail
}

// OwnClient is the public client that is there from the first command on.
func OwnClient(by Author) Client {
	return Client{ID: PublicClient, Public: true, Version: 1, Trail: Trail{}.after(by)}
}

// SecretHash is the hexadecimal SHA-256 by which a client's secret is known.
func SecretHash(p secret.Password) string {
	sum := sha256.Sum256([]byte(p.Reveal()))
	return hex.EncodeToString(sum[:])
}

// ClientPut is the wish to create or to change a client; what is not given stays.
type ClientPut struct {
	ID string `json:"id"`
	// Public is nil when it was not given; a new client is then confidential.
	Public *bool `json:"public,omitempty"`
	// NewSecret asks for another secret than the client has.
	NewSecret bool `json:"newSecret,omitempty"`
	// SecretHash is that of a secret made for this put: the client gets it where
	// it needs one. Whether it does is known only when the put is decided.
	SecretHash string `json:"secretHash,omitempty"`
}

// Check reports what is wrong with the fields themselves, whatever is stored.
func (p ClientPut) Check() error { return checkName("id", p.ID) }

// Decide gives the client as the put leaves it. current is the client with that
// id, the zero Client when there is none.
func (p ClientPut) Decide(current Client, by Author) (Client, error) {
	if p.ID == PublicClient {
		return Client{}, errBuiltIn("client", PublicClient)
	}
	next := current
	next.ID = p.ID
	if p.Public != nil {
		next.Public = *p.Public
	}
	switch {
	case next.Public && p.NewSecret:
		return Client{}, fault.New(fault.Invalid, "A public client has no secret.")
	case next.Public:
		next.SecretHash = ""
	case p.NewSecret || next.SecretHash == "":
		if len(p.SecretHash) != hex.EncodedLen(sha256.Size) {
			return Client{}, fault.New(fault.Invalid, "The put brings no secret for the client.")
		}
		next.SecretHash = p.SecretHash
	}
	next.Version++
	next.Trail = next.after(by)
	return next, nil
}

// CheckDelete reports whether the client may be deleted.
func (c Client) CheckDelete() error {
	if c.ID == PublicClient {
		return errBuiltIn("client", PublicClient)
	}
	return nil
}

func errBuiltIn(what, name string) error {
	return fault.New(fault.Conflict, "The %s %s is built in and stays as it is.", what, name)
}
