// Package families gives out refresh tokens: it appends a wish to svc.session,
// waits until its own instance has folded it, and answers with the outcome. It
// decides nothing, and knows neither HTTP nor passwords: that the user and the
// client are who they say is settled before it is asked.
package families

import (
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/domain/session"
)

// Journal is the log to append to.
type Journal interface {
	// AppendWait returns when the record is on the log, or with a fault of kind
	// Unavailable when that is not known in time.
	AppendWait(ctx context.Context, r *record.Record) (record.Position, error)
}

// Sessions is the fold of the wishes.
type Sessions interface {
	// Await must be called before the append.
	Await(wishID string) (outcome <-chan session.Decided, stop func())
	Family(id session.Hash) (f session.Family, known bool, err error)
	// Current returns when all that was on the log at the time of the call has been
	// folded.
	Current(ctx context.Context) error
}

// Config are the values of Families.
type Config struct {
	// Life is how long a family lives from its log-in on; rotation does not
	// prolong it.
	Life time.Duration
	// Timeout is how long a wish may take before it is answered 503.
	Timeout time.Duration
}

// Deps are the collaborators of Families.
type Deps struct {
	Log      *slog.Logger
	Now      func() time.Time
	Journal  Journal
	Sessions Sessions
}

// Families opens, rotates and ends families of refresh tokens. Its faults are of
// kind Unauthenticated with a *session.Refusal as cause where a token is not
// taken, and Unavailable where that cannot be told.
type Families struct {
	cfg Config
	Deps
}

// New makes Families.
func New(cfg Config, deps Deps) *Families { return &Families{cfg: cfg, Deps: deps} }

// Open gives the first token of a new family, and when the family expires.
func (f *Families) Open(ctx context.Context, user access.User, client, scope string) (secret.Password, time.Time, error) {
	var id session.FamilyID
	_, _ = rand.Read(id[:]) // never fails
	token, now := session.NewToken(id, newKey()), f.now()
	family := session.Family{
		ID: token.Family(), User: user.Name, UserVersion: user.Version, Client: client, Scope: scope,
		Created: now, Expires: now.Add(f.cfg.Life), Current: []session.Hash{token.Hash()}, Seen: now,
	}
	if _, err := f.decide(ctx, f.wish(session.Open, family)); err != nil {
		return secret.Password{}, time.Time{}, err
	}
	return token.Password, family.Expires, nil
}

// Rotate gives a successor for a token, and its family. A token that was rotated
// before ends the family, unless its successor may have been lost on the way.
func (f *Families) Rotate(ctx context.Context, given secret.Password, client string) (secret.Password, session.Family, error) {
	refused := func(err error) (secret.Password, session.Family, error) {
		return secret.Password{}, session.Family{}, err
	}
	token, err := parse(given)
	if err != nil {
		return refused(err)
	}
	before, err := f.find(ctx, token, asFound)
	if err != nil {
		return refused(err)
	}
	successor := token.Successor(newKey())
	wish := f.wish(session.Rotate, before)
	wish.Client, wish.Token, wish.Successor = client, token.Hash(), successor.Hash()
	if _, outcome := session.Decide(&before, wish); outcome.Lasting() {
		return refused(spent(outcome)) // which the log need not hear
	}
	after, err := f.decide(ctx, wish)
	if err != nil {
		return refused(err)
	}
	return successor.Password, after, nil
}

// Alive gives the family of a token that may be used, and changes nothing.
func (f *Families) Alive(ctx context.Context, given secret.Password) (session.Family, error) {
	token, err := parse(given)
	if err != nil {
		return session.Family{}, err
	}
	alive := func(family session.Family) bool { return family.Alive(token.Hash(), f.now()) }
	settled := func(family session.Family) bool { return alive(family) || family.Over(f.now()) }
	family, err := f.find(ctx, token, settled)
	if err == nil && !alive(family) {
		err = spent(session.Unknown)
	}
	if err != nil {
		return session.Family{}, err
	}
	return family, nil
}

// End ends the family of a token. That it is over already is no fault.
func (f *Families) End(ctx context.Context, given secret.Password) error {
	token, err := parse(given)
	if err != nil {
		return err
	}
	family, err := f.find(ctx, token, asFound)
	if err != nil || family.Over(f.now()) {
		return err
	}
	_, err = f.decide(ctx, f.wish(session.End, family))
	return err
}
