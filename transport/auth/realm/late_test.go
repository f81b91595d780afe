package realm_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/domain/session"
	"hooklog/transport/auth/realm"
)

// far is a registry whose barrier takes a while, and may fail.
type far struct {
	*people
	fails error
}

func (f far) Current(ctx context.Context) error {
	select {
	case <-time.After(100 * time.Millisecond):
	case <-ctx.Done():
		return ctx.Err()
	}
	return errors.Join(f.fails, f.people.Current(ctx))
}

func TestWhoWaitsForTheLookOfAnotherGetsWhatCameOfIt(t *testing.T) {
	down := fault.New(fault.Unavailable, "Down.")
	for name, c := range map[string]struct {
		fails error
		// stays is how long the first caller waits.
		stays time.Duration
		taken bool
	}{
		"a key that arrived": {nil, time.Hour, true},
		"a key that arrived after who asked first was gone": {nil, 50 * time.Millisecond, true},
		"no verdict where the look failed":                  {down, time.Hour, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(w *world, deps *realm.Deps) { deps.Registry = far{w.people, c.fails} })
				w.rotateKey(t, "c1")
				keys := w.people.keys
				token := secret.NewPassword(w.logIn(t).Access)
				w.people.change(func(p *people) { p.keys = keys[1:] })
				w.people.arrive = func(p *people) { p.keys = keys }
				// The look of the first waits a second for its turn: the others, who come
				// meanwhile, share it.
				_, _ = w.realm.Bearer(t.Context(), secret.NewPassword(newForger(t, w).token(header("kid", "none"))))
				w.people.change(func(p *people) { p.keys = keys[1:] })
				var callers sync.WaitGroup
				for i := range 3 {
					callers.Go(func() {
						ctx := t.Context()
						if i == 0 {
							var cancel context.CancelFunc
							ctx, cancel = context.WithTimeout(ctx, 900*time.Millisecond+c.stays)
							defer cancel()
						}
						time.Sleep(time.Duration(i) * time.Millisecond)
						_, err := w.realm.Bearer(ctx, token)
						switch {
						case c.taken && err != nil && i > 0:
							t.Errorf("caller %d: %v", i, err)
						case !c.taken && !fault.Is(err, fault.Unavailable):
							t.Errorf("caller %d: got %v, want unavailable", i, err)
						}
					})
				}
				callers.Wait()
			})
		})
	}
}

func TestARefreshTokenOfAClientThatIsNotHeardOfYetIsTaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		got := w.logIn(t)
		own := w.people.clients["hooklog"]
		w.people.change(func(p *people) { delete(p.clients, "hooklog") })
		w.people.arrive = func(p *people) { p.clients["hooklog"] = own }
		if !w.taken(t, "Refresh", got.Refresh) {
			t.Error("it is not taken")
		}
	})
}

func TestAClientOfTheSameNameRevivesNoRefreshToken(t *testing.T) {
	w := newWorld(t)
	for name, took := range map[string]func(token string) bool{
		"in the header": func(token string) bool { return w.taken(t, "Refresh", token) },
		"for a new one": func(token string) bool { return w.refresh(t, token).status == http.StatusOK },
	} {
		t.Run(name, func(t *testing.T) {
			got := w.logIn(t)
			w.clock.advance(10 * time.Minute)
			w.people.change(func(p *people) {
				p.clients["hooklog"] = access.Client{ID: "hooklog", Public: true, Trail: access.Trail{Created: w.clock.Now()}}
			})
			if took(got.Refresh) {
				t.Error("a token of the client before it is taken")
			}
			if later := w.logIn(t); !took(later.Refresh) {
				t.Error("a token of its own is not taken")
			}
		})
	}
}

// blind cannot tell whether a family is alive.
type blind struct{ *tokens }

func (blind) Alive(context.Context, secret.Password) (session.Family, error) {
	return session.Family{}, fault.New(fault.Unavailable, "Down.")
}

func TestAScopeThatCannotBeCheckedIsNotGiven(t *testing.T) {
	w := newWorld(t, func(w *world, deps *realm.Deps) { deps.Families = blind{w.tokens} })
	first := w.logIn(t, "scope", "profile")
	if got := w.refresh(t, first.Refresh, "scope", "profile roles"); got.status != http.StatusServiceUnavailable {
		t.Errorf("got %s with the scope %q", got, got.Scope)
	}
	if got := w.refresh(t, first.Refresh); got.status != http.StatusOK || got.Scope != "profile" {
		t.Errorf("the token was used up: %s", got)
	}
}
