package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"runtime"
	"strconv"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"
	"golang.org/x/sync/singleflight"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

// hashWait is how long a caller waits for its turn to be hashed.
const hashWait = time.Second

// Users finds a local user.
type Users interface {
	User(name string) (access.User, bool, error)
}

// Local is the scheme Basic for the users on the log.
type Local struct {
	users Users
	now   func() time.Time
	// turns bounds how many passwords are hashed at once: each takes 19 MiB.
	turns   *semaphore.Weighted
	flights singleflight.Group
	// verified holds successes only, under a key that a new version of the user
	// does not have.
	verified *lru.Cache[[sha256.Size]byte, time.Time]
	cacheKey [sha256.Size]byte
	// nobody is the hash that unknown users are checked against, so that they
	// cost the same work as known ones.
	nobody string
}

// NewLocal makes the scheme over the users.
func NewLocal(users Users, now func() time.Time) (*Local, error) {
	nobody, err := Hash(NewPassword())
	if err != nil {
		return nil, err
	}
	verified, err := lru.New[[sha256.Size]byte, time.Time](rememberAtMost)
	if err != nil {
		return nil, err
	}
	l := &Local{
		users:    users,
		now:      now,
		turns:    semaphore.NewWeighted(int64(runtime.GOMAXPROCS(0))),
		verified: verified,
		nobody:   nobody,
	}
	_, err = rand.Read(l.cacheKey[:])
	return l, err
}

// Basic gives the user with that name and password.
func (l *Local) Basic(ctx context.Context, name string, password secret.Password) (Identity, error) {
	user, known, err := l.users.User(name)
	if err != nil {
		return Identity{}, err
	}
	known = known && mayLogIn(user)
	if !known {
		// By the name that was claimed: under one name for all of them, those who come
		// at once would share a hash, and be told from known users by it.
		user = access.User{Name: name, PasswordHash: l.nobody}
	}
	ok, err := l.check(ctx, user, password)
	if err != nil {
		return Identity{}, err
	}
	if !ok || !known {
		return Identity{}, ErrWrongPassword()
	}
	return Identity{Principal: user.Name, Roles: user.Roles}, nil
}

// ErrWrongPassword is the one answer to an unknown user and to a wrong password.
func ErrWrongPassword() error {
	return fault.New(fault.Unauthenticated, "The user name or the password is wrong.")
}

// mayLogIn is false for users without a password, and for the names that are no
// local user's, whatever a record says of them.
func mayLogIn(u access.User) bool {
	return u.PasswordHash != "" && u.Name != access.Anonymous && !access.IsOutside(u.Name)
}

func (l *Local) check(ctx context.Context, u access.User, p secret.Password) (bool, error) {
	id := keyedHash(l.cacheKey, strconv.Itoa(u.Version), u.Name, p.Reveal())
	if until, ok := l.verified.Get(id); ok && l.now().Before(until) {
		return true, nil
	}
	// The same log-in many times at once, as of a client that starts, is one.
	ok, err, _ := l.flights.Do(string(id[:]), func() (any, error) {
		return l.verify(context.WithoutCancel(ctx), id, u, p)
	})
	return ok == true, err
}

func (l *Local) verify(ctx context.Context, id [sha256.Size]byte, u access.User, p secret.Password) (bool, error) {
	done, err := l.turn(ctx)
	if err != nil {
		return false, err
	}
	defer done()
	ok, err := Verify(u.PasswordHash, p)
	if ok {
		l.verified.Add(id, l.now().Add(remember))
	}
	return ok, err
}

// Hash makes the hash of a new password. It waits for its turn like every log-in:
// whoever has a name here can ask for it, even who may set no password.
func (l *Local) Hash(p secret.Password) (string, error) {
	done, err := l.turn(context.Background())
	if err != nil {
		return "", err
	}
	defer done()
	return Hash(p)
}

// turn waits until something may be hashed; done must be called behind it.
func (l *Local) turn(ctx context.Context) (done func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, hashWait)
	defer cancel()
	if err := l.turns.Acquire(waiting, 1); err != nil {
		return nil, fault.New(fault.Unavailable, "There are too many log-ins at once.").After(time.Second)
	}
	return func() { l.turns.Release(1) }, nil
}
