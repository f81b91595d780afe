// Package auth finds out who calls: it reads the authorization header and asks
// the scheme that it names. Local users are checked here; the own realm and an
// external issuer are rooms below. What a user may do is not its question: that
// is decided by the fold of each command.
package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"net/http"
	"net/netip"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/commands"
)

const (
	// remember is how long what was verified is not verified anew.
	remember = 60 * time.Second
	// rememberAtMost bounds the memory of it.
	rememberAtMost = 4096
	// checkTime bounds a check, which does not end with its caller. It is longer
	// than any scheme takes.
	checkTime = 20 * time.Second
)

// Identity is who somebody is, as a scheme found out.
type Identity struct {
	// Principal is the name of a local user, or <namespace>:<sub> of an external
	// issuer.
	Principal string
	// Name is what people call an external principal; empty for a local one.
	Name  string
	Roles []string
	// Client is the OAuth client that a token was given to, if any.
	Client string
}

// Basic checks a user name and a password. Like the other schemes it answers
// Unauthenticated to what is wrong, without saying what of it.
type Basic interface {
	Basic(ctx context.Context, name string, password secret.Password) (Identity, error)
}

// Bearer checks an access token.
type Bearer interface {
	Bearer(ctx context.Context, token secret.Password) (Identity, error)
}

// Refresh checks a refresh token, and does not use it up.
type Refresh interface {
	Refresh(ctx context.Context, token secret.Password) (Identity, error)
}

// Schemes are the ways to authenticate; one that is nil is not offered.
type Schemes struct {
	Basic   Basic
	Bearer  Bearer
	Refresh Refresh
}

// Authenticator checks authorization headers.
type Authenticator struct {
	schemes Schemes
	guard   *Guard
	proxies Proxies
	now     func() time.Time
	// passes are the credentials that were good a moment ago, by the address that
	// brought them: they need not ask the guard, so somebody who guesses does not
	// lock out his neighbours at once. They are not renewed by use: whoever tries
	// passwords against them has a minute, not for ever.
	passes  *lru.Cache[[sha256.Size]byte, time.Time]
	passKey [sha256.Size]byte
}

// New makes an authenticator. The proxies are those in front of the service.
func New(schemes Schemes, guard *Guard, proxies Proxies, now func() time.Time) (*Authenticator, error) {
	passes, err := lru.New[[sha256.Size]byte, time.Time](rememberAtMost)
	if err != nil {
		return nil, err
	}
	a := &Authenticator{schemes: schemes, guard: guard, proxies: proxies, now: now, passes: passes}
	_, err = rand.Read(a.passKey[:])
	return a, err
}

// Authenticate gives the caller of a request, or Unauthenticated: the same for
// an unknown user and for a wrong password. Who was wrong too often is TooMany.
func (a *Authenticator) Authenticate(r *http.Request) (commands.Caller, error) {
	given, err := a.schemes.parse(r.Header)
	if err != nil {
		return commands.Caller{}, err
	}
	from := a.proxies.Address(r)
	who, err := a.identify(r.Context(), from, given)
	if err != nil {
		return commands.Caller{}, err
	}
	return commands.Caller{
		Principal: who.Principal,
		Name:      who.Name,
		Roles:     who.Roles,
		Client:    who.Client,
		Address:   from.String(),
	}, nil
}

func (a *Authenticator) identify(ctx context.Context, from netip.Addr, c credential) (who Identity, err error) {
	id := a.passID(from, c)
	if until, ok := a.passes.Get(id); ok && a.now().Before(until) {
		who, err = c.check(ctx)
		if !fault.Is(err, fault.Unauthenticated) {
			return who, err
		}
		a.passes.Remove(id)
	}
	settle, err := a.guard.Admit(ctx, from, c.user)
	if err != nil {
		return Identity{}, err
	}
	defer func() { settle(err) }()
	// Who hangs up has guessed all the same: what came of it is remembered, and can
	// be asked for again.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), checkTime)
	defer cancel()
	who, err = c.check(ctx)
	if err == nil {
		a.passes.Add(id, a.now().Add(remember))
	}
	return who, err
}

func (a *Authenticator) passID(from netip.Addr, c credential) [sha256.Size]byte {
	return keyedHash(a.passKey, c.scheme, from.String(), c.user, c.secret.Reveal())
}

// keyedHash tells lists of texts apart, and does not lead back to them.
func keyedHash(key [sha256.Size]byte, texts ...string) [sha256.Size]byte {
	mac := hmac.New(sha256.New, key[:])
	for _, text := range texts {
		var length [8]byte
		binary.BigEndian.PutUint64(length[:], uint64(len(text)))
		_, _ = mac.Write(length[:])
		_, _ = mac.Write([]byte(text))
	}
	return [sha256.Size]byte(mac.Sum(nil))
}
