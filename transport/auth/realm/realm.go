// Package realm is the service's own OAuth 2.0 realm for its local users: it
// gives out access and refresh tokens, publishes the keys to verify them, and
// checks them where they come back. It keeps nothing itself: users, clients and
// keys are the registry's, refresh tokens are families on the log. It has no
// log-in page and no grant that would need one.
package realm

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"sync/atomic"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"hooklog/domain/access"
	"hooklog/domain/secret"
	"hooklog/domain/session"
	"hooklog/transport/auth"
)

const (
	// skew is how far the clocks of two instances may be apart.
	skew = 30 * time.Second
	// remember is how long a verified token is not verified anew.
	remember       = 60 * time.Second
	rememberAtMost = 4096
)

// Config are the values of a realm.
type Config struct {
	// BaseURL is how callers reach the service, without a slash at its end.
	BaseURL   string
	Namespace string
	// Audience is whom access tokens are for: this service.
	Audience   string
	AccessLife time.Duration
	// Proxies are those in front of the service.
	Proxies auth.Proxies
}

// Registry is the fold of users, clients and signing keys.
type Registry interface {
	// User finds a user that lives.
	User(name string) (access.User, bool, error)
	Client(id string) (access.Client, bool, error)
	// SigningKeys are the realm's keys, the one that signs first.
	SigningKeys() access.SigningKeys
	// Current returns when all that was on the log at the time of the call has
	// been folded.
	Current(ctx context.Context) error
}

// Families are the refresh tokens. What they refuse is Unauthenticated.
type Families interface {
	Open(ctx context.Context, user access.User, client, scope string) (token secret.Password, expires time.Time, err error)
	Rotate(ctx context.Context, token secret.Password, client string) (secret.Password, session.Family, error)
	// Alive changes nothing.
	Alive(ctx context.Context, token secret.Password) (session.Family, error)
}

// Ring opens the signing keys.
type Ring interface {
	Open(field, id string, s secret.Sealed) ([]byte, error)
}

// Deps are a realm's collaborators.
type Deps struct {
	Log      *slog.Logger
	Now      func() time.Time
	Registry Registry
	Families Families
	// Passwords checks the local users.
	Passwords auth.Basic
	Guard     *auth.Guard
	// Ring is nil where there is none: such an instance issues nothing.
	Ring    Ring
	Journal auth.Journal
	// AccessPartitions is how many partitions svc.access has.
	AccessPartitions func() int32
}

// Realm is the handler of all paths below Prefix, and the schemes Bearer and
// Refresh.
type Realm struct {
	cfg Config
	Deps
	issuer    string
	endpoints map[string]endpoint
	signing   atomic.Pointer[signingKey]
	behind    *latecomer
	// verified are the access tokens that were good a moment ago, by their hash.
	verified *lru.Cache[[sha256.Size]byte, proven]
}

var namespacePattern = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]*$`)

// New makes a realm.
func New(cfg Config, deps Deps) (*Realm, error) {
	if !namespacePattern.MatchString(cfg.Namespace) {
		return nil, errors.New("the namespace of a realm must be letters, digits, - and _")
	}
	verified, err := lru.New[[sha256.Size]byte, proven](rememberAtMost)
	if err != nil {
		return nil, err
	}
	rl := &Realm{cfg: cfg, Deps: deps, behind: newLatecomer(deps.Registry.Current), verified: verified}
	rl.issuer = cfg.BaseURL + "/auth/realms/" + cfg.Namespace
	rl.endpoints = map[string]endpoint{
		tokenPath:     {http.MethodPost, rl.serveToken},
		discoveryPath: {http.MethodGet, rl.serveDiscovery},
		keysPath:      {http.MethodGet, rl.serveKeys},
	}
	return rl, nil
}

// Prefix is what all paths of the realm begin with.
func (rl *Realm) Prefix() string { return "/auth/realms/" + rl.cfg.Namespace }
