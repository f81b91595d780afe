package realm

import (
	"context"
	"crypto/ecdsa"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	jose "github.com/go-jose/go-jose/v4"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/transport/commands"
)

// tokenType is the typ of an access token, RFC 9068: nothing else that was signed
// with the same key can be taken for one.
const tokenType = "at+jwt"

// signingKey is a key that was opened.
type signingKey struct {
	id     string
	signer jose.Signer
}

// signingKey gives the newest key. It is opened once.
func (rl *Realm) signingKey() (*signingKey, error) {
	keys := rl.Registry.SigningKeys()
	if len(keys) == 0 || rl.Ring == nil {
		return nil, fault.New(fault.Unavailable, "This instance cannot issue tokens.").After(time.Minute)
	}
	if opened := rl.signing.Load(); opened != nil && opened.id == keys[0].ID {
		return opened, nil
	}
	opened, err := openKey(rl.Ring, keys[0])
	if err != nil {
		return nil, fault.New(fault.Unavailable, "This instance cannot issue tokens.").Because(err).After(time.Minute)
	}
	rl.signing.Store(opened)
	return opened, nil
}

func openKey(ring Ring, key access.SigningKey) (*signingKey, error) {
	plain, err := ring.Open(commands.SigningKeyField, key.SealedFor, key.Sealed)
	if err != nil {
		return nil, fmt.Errorf("open signing key %s: %w", key.ID, err)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(plain)
	if err != nil {
		return nil, errors.New("the signing key is no PKCS #8") // the cause may quote it
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok {
		return nil, errors.New("the signing key is not for " + access.KeyAlgorithm)
	}
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.ES256, Key: jose.JSONWebKey{Key: private, KeyID: key.ID}},
		(&jose.SignerOptions{}).WithType(tokenType),
	)
	if err != nil {
		return nil, fmt.Errorf("signing key %s: %w", key.ID, err)
	}
	return &signingKey{key.ID, signer}, nil
}

// livingKeys are the keys that tokens may be signed with: the newest, and those
// before it until the last token of each has expired.
func (rl *Realm) livingKeys() access.SigningKeys {
	keys, now := rl.Registry.SigningKeys(), rl.Now()
	for i := 1; i < len(keys); i++ {
		if now.After(keys[i-1].Created.Add(rl.cfg.AccessLife + skew)) {
			return keys[:i]
		}
	}
	return keys
}

// verifyingKey finds the living key with that id. One that was never heard of may
// have been made by another instance a moment ago.
func (rl *Realm) verifyingKey(ctx context.Context, id string) (jose.JSONWebKey, error) {
	named := func(key access.SigningKey) bool { return key.ID == id }
	if !slices.ContainsFunc(rl.Registry.SigningKeys(), named) {
		if err := rl.behind.catchUp(ctx); err != nil {
			return jose.JSONWebKey{}, err
		}
	}
	keys := rl.livingKeys()
	i := slices.IndexFunc(keys, named)
	if i < 0 {
		return jose.JSONWebKey{}, errNotValid()
	}
	return publicKey(keys[i])
}

func publicKey(key access.SigningKey) (jose.JSONWebKey, error) {
	var public jose.JSONWebKey
	if err := public.UnmarshalJSON(key.Public); err != nil {
		return public, fmt.Errorf("signing key %s: %w", key.ID, err)
	}
	if !public.IsPublic() {
		return public, fmt.Errorf("signing key %s: its public half is not public", key.ID)
	}
	public.KeyID, public.Algorithm, public.Use = key.ID, key.Algorithm, "sig"
	return public, nil
}

// latecomer lets the callers that know less than they should pass the registry's
// barrier, together and once a second at most: anybody can invent a key id.
type latecomer struct {
	current func(context.Context) error
	turn    chan struct{} // holds one
	// began is when the last look did, and failed what came of it. They are for
	// whoever has the turn.
	began  time.Time
	failed error
}

// lookEvery is the pace of looks behind the barrier.
const lookEvery = time.Second

func newLatecomer(current func(context.Context) error) *latecomer {
	return &latecomer{current: current, turn: make(chan struct{}, 1)}
}

// catchUp returns after a look that began after it was called, its own or that of
// another caller.
func (l *latecomer) catchUp(ctx context.Context) error {
	asked := time.Now()
	select {
	case l.turn <- struct{}{}:
		defer func() { <-l.turn }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if l.began.After(asked) {
		return l.failed
	}
	pause := time.NewTimer(time.Until(l.began.Add(lookEvery)))
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
		return ctx.Err()
	}
	l.began = time.Now()
	// The others wait for it, even if the one who looks is gone.
	l.failed = l.current(context.WithoutCancel(ctx))
	return l.failed
}
