// Package auth finds out who calls: it reads the authorization header and checks
// it against the users on the log. What a user may do is not its question: that
// is decided by the fold of each command.
package auth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"runtime"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/commands"
)

const (
	// remember is how long a verified password is not hashed again.
	remember = 60 * time.Second
	// rememberAtMost bounds the memory of verified passwords.
	rememberAtMost = 1024
	// hashWait is how long a caller waits for its turn to be hashed.
	hashWait = time.Second
)

// Users finds a local user.
type Users interface {
	User(name string) (access.User, bool, error)
}

// Authenticator checks authorization headers.
type Authenticator struct {
	users   Users
	proxies Proxies
	now     func() time.Time
	// turns bounds how many passwords are hashed at once: each takes 19 MiB.
	turns    *semaphore.Weighted
	flights  singleflight.Group
	verified *lru.Cache[[sha256.Size]byte, time.Time]
	cacheKey [sha256.Size]byte
	// nobody is the hash that unknown users are checked against, so that they
	// cost the same work as known ones.
	nobody string
}

// New makes an authenticator over the users. The proxies are those in front of
// the service.
func New(users Users, proxies Proxies, now func() time.Time) (*Authenticator, error) {
	nobody, err := Hash(NewPassword())
	if err != nil {
		return nil, err
	}
	verified, err := lru.New[[sha256.Size]byte, time.Time](rememberAtMost)
	if err != nil {
		return nil, err
	}
	a := &Authenticator{
		users:    users,
		proxies:  proxies,
		now:      now,
		turns:    semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))),
		verified: verified,
		nobody:   nobody,
	}
	_, err = rand.Read(a.cacheKey[:])
	return a, err
}

// Authenticate gives the caller of a request, or Unauthenticated: the same for
// an unknown user and for a wrong password.
func (a *Authenticator) Authenticate(r *http.Request) (commands.Caller, error) {
	name, password, err := basic(r.Header)
	if err != nil {
		return commands.Caller{}, err
	}
	user, known, err := a.users.User(name)
	if err != nil {
		return commands.Caller{}, err
	}
	if !known {
		user = access.User{PasswordHash: a.nobody}
	}
	ok, err := a.check(r.Context(), user, password)
	if err != nil {
		return commands.Caller{}, err
	}
	if !ok || !known {
		return commands.Caller{}, fault.New(fault.Unauthenticated, "The user name or the password is wrong.")
	}
	return commands.Caller{Principal: user.Name, Roles: user.Roles, Address: a.proxies.Address(r).String()}, nil
}

func basic(h http.Header) (string, secret.Password, error) {
	given := h.Values("Authorization")
	if len(given) == 0 {
		return "", secret.Password{}, fault.New(fault.Unauthenticated, "This command needs an authorization header.")
	}
	scheme, text, _ := strings.Cut(given[0], " ")
	if len(given) > 1 || !strings.EqualFold(scheme, "Basic") {
		return "", secret.Password{}, fault.New(fault.Unauthenticated, "The authorization must be one Basic header.")
	}
	pair, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	name, password, ok := strings.Cut(string(pair), ":")
	if err != nil || !ok {
		return "", secret.Password{}, fault.New(fault.Unauthenticated, "The Basic authorization must be the base64 of username:password.")
	}
	return name, secret.NewPassword(password), nil
}

// check verifies the password; only successes are remembered, under a key that
// a new version of the user does not have.
func (a *Authenticator) check(ctx context.Context, u access.User, p secret.Password) (bool, error) {
	id := a.cacheID(u, p)
	if until, ok := a.verified.Get(id); ok && a.now().Before(until) {
		return true, nil
	}
	// The same log-in many times at once, as of a client that starts, is one.
	ok, err, _ := a.flights.Do(string(id[:]), func() (any, error) {
		return a.verify(context.WithoutCancel(ctx), id, u, p)
	})
	return ok == true, err
}

func (a *Authenticator) verify(ctx context.Context, id [sha256.Size]byte, u access.User, p secret.Password) (bool, error) {
	waiting, cancel := context.WithTimeout(ctx, hashWait)
	defer cancel()
	if err := a.turns.Acquire(waiting, 1); err != nil {
		return false, fault.New(fault.Unavailable, "Too many log-ins at once.").After(time.Second)
	}
	defer a.turns.Release(1)
	ok, err := Verify(u.PasswordHash, p)
	if ok {
		a.verified.Add(id, a.now().Add(remember))
	}
	return ok, err
}

func (a *Authenticator) cacheID(u access.User, p secret.Password) [sha256.Size]byte {
	mac := hmac.New(sha256.New, a.cacheKey[:])
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(u.Version))
	_, _ = mac.Write(n[:])
	binary.BigEndian.PutUint64(n[:], uint64(len(u.Name)))
	_, _ = mac.Write(n[:])
	_, _ = mac.Write([]byte(u.Name))
	_, _ = mac.Write([]byte(p.Reveal()))
	return [sha256.Size]byte(mac.Sum(nil))
}
