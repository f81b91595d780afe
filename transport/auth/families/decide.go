package families

import (
	"context"
	"crypto/rand"
	"fmt"
	"time"

	"github.com/google/uuid"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/domain/session"
	"hooklog/transport/auth"
)

func parse(given secret.Password) (session.Token, error) {
	token, err := session.ParseToken(given)
	if err != nil {
		return token, session.Unknown.Err()
	}
	return token, nil
}

// find reads the family of a token. Where there is none, or it does not settle the
// matter, it looks again behind the barrier: another instance may have written
// what is missing a moment ago.
func (f *Families) find(ctx context.Context, token session.Token, settled func(session.Family) bool) (session.Family, error) {
	family, known, err := f.Sessions.Family(token.Family())
	if err != nil || (known && settled(family)) {
		return family, err
	}
	if err := f.Sessions.Current(ctx); err != nil {
		return family, unconfirmed(err)
	}
	family, known, err = f.Sessions.Family(token.Family())
	if err == nil && !known {
		err = session.Unknown.Err()
	}
	return family, err
}

// asFound settles every matter: the fold decides it, or nothing can change it.
func asFound(session.Family) bool { return true }

func (f *Families) wish(kind session.Kind, family session.Family) session.Wish {
	return session.Wish{ID: uuid.NewString(), Kind: kind, Family: family, Time: f.now()}
}

// decide appends the wish and waits until this instance has folded it.
func (f *Families) decide(ctx context.Context, w session.Wish) (session.Family, error) {
	// A caller that hangs up does not undo what is under way.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), f.cfg.Timeout)
	defer cancel()
	rec, err := w.Encode()
	if err != nil {
		return session.Family{}, err
	}
	outcomes, stop := f.Sessions.Await(w.ID)
	defer stop()
	if _, err := f.Journal.AppendWait(ctx, &rec); err != nil {
		return session.Family{}, unconfirmed(err)
	}
	select {
	case decided := <-outcomes:
		f.report(decided)
		return decided.Family, spent(decided.Outcome)
	case <-ctx.Done():
		return session.Family{}, unconfirmed(ctx.Err())
	}
}

// report tells operators of a token that somebody has a copy of.
func (f *Families) report(d session.Decided) {
	if d.Outcome == session.Reused {
		f.Log.Warn("Refresh token came again, so its family was ended", "user", d.Family.User, "client", d.Family.Client)
	}
}

// spent is nil for a wish that was granted. Who is refused although the family of
// the token is known had one of its tokens, and does not guess.
func spent(o session.Outcome) error {
	err := o.Err()
	if err == nil {
		return nil
	}
	refused := fault.From(err)
	return refused.Because(fmt.Errorf("%w: %w", refused.Unwrap(), auth.ErrOutdated))
}

func unconfirmed(cause error) error {
	return fault.New(fault.Unavailable, "The log did not confirm the refresh token in time.").
		Because(cause).After(2 * time.Second)
}

func (f *Families) now() time.Time { return f.Now().UTC().Truncate(time.Millisecond) }

func newKey() (key session.TokenKey) {
	_, _ = rand.Read(key[:]) // never fails
	return key
}
