package families_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/domain/session"
	"hooklog/transport/auth"
)

func TestALifeOfAFamily(t *testing.T) {
	w := newWorld()
	i := w.join()
	first := i.open(t)
	for range 2 {
		if !i.alive(t, first) {
			t.Fatal("not alive, or used up by the question")
		}
	}
	second := i.rotate(t, first)
	w.now = w.now.Add(30 * time.Second)
	again := i.rotate(t, first) // the answer with the second was lost
	if !i.alive(t, first) || !i.alive(t, second) || !i.alive(t, again) {
		t.Error("within the grace, not all are alive")
	}
	w.now = w.now.Add(time.Second)
	if i.alive(t, first) {
		t.Error("the predecessor outlives its grace")
	}
	third := i.rotate(t, again)
	if i.alive(t, second) || !i.alive(t, third) {
		t.Error("the siblings of a token that was rotated are alive, or its successor is not")
	}
	if err := i.End(t.Context(), third); err != nil {
		t.Fatal(err)
	}
	if i.alive(t, third) {
		t.Error("the family was ended and lives")
	}
	if err := i.End(t.Context(), third); err != nil {
		t.Errorf("to end it once more: %v", err)
	}
	if _, _, err := i.Rotate(t.Context(), third, "hooklog"); reason(err) != session.Over {
		t.Errorf("rotation after the end: %v", err)
	}
}

func TestRefusedRotations(t *testing.T) {
	tests := []struct {
		name string
		// when gives a token to rotate, and by whom.
		when func(t *testing.T, w *world, i *instance, first secret.Password) (secret.Password, string)
		then session.Outcome
		ends bool // the family
		// appends is how many records the refusal itself costs.
		appends int
	}{
		{
			"an older token ends the family",
			func(t *testing.T, _ *world, i *instance, first secret.Password) (secret.Password, string) {
				i.rotate(t, i.rotate(t, first))
				return first, "hooklog"
			},
			session.Reused, true, 1,
		},
		{
			"the predecessor ends it after its grace",
			func(t *testing.T, w *world, i *instance, first secret.Password) (secret.Password, string) {
				i.rotate(t, first)
				w.now = w.now.Add(31 * time.Second)
				return first, "hooklog"
			},
			session.Reused, true, 1,
		},
		{
			"another client is refused and the family lives on",
			func(_ *testing.T, _ *world, _ *instance, first secret.Password) (secret.Password, string) {
				return first, "other"
			},
			session.Foreign, false, 0,
		},
		{
			"an expired family is not written to the log",
			func(_ *testing.T, w *world, _ *instance, first secret.Password) (secret.Password, string) {
				w.now = w.now.Add(life)
				return first, "hooklog"
			},
			session.Expired, true, 0,
		},
		{
			"nor one that is unknown",
			func(*testing.T, *world, *instance, secret.Password) (secret.Password, string) {
				return session.NewToken(session.FamilyID{9}, session.TokenKey{9}).Password, "hooklog"
			},
			session.Unknown, false, 0,
		},
		{
			"nor what cannot be a token",
			func(*testing.T, *world, *instance, secret.Password) (secret.Password, string) {
				return secret.NewPassword("a.b"), "hooklog"
			},
			session.Unknown, false, 0,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld()
			i := w.join()
			first := i.open(t)
			token, client := tt.when(t, w, i, first)
			before := len(w.records)
			got, _, err := i.Rotate(t.Context(), token, client)
			if reason(err) != tt.then || !fault.Is(err, fault.Unauthenticated) || !got.IsZero() {
				t.Errorf("got %v, want %s", err, tt.then)
			}
			if guessed := !errors.Is(err, auth.ErrOutdated); guessed != (tt.then == session.Unknown) {
				t.Errorf("a guess: %v (%v)", guessed, err)
			}
			if n := len(w.records) - before; n != tt.appends {
				t.Errorf("%d records were appended, want %d", n, tt.appends)
			}
			parsed, err := session.ParseToken(first)
			if err != nil {
				t.Fatal(err)
			}
			if over := i.families[parsed.Family()].Over(w.now); over != tt.ends {
				t.Errorf("the family is over: %v", over)
			}
			if _, err := i.Alive(t.Context(), first); tt.ends && !errors.Is(err, auth.ErrOutdated) {
				t.Errorf("who shows a token of an ended family is said to guess: %v", err)
			}
			warned := strings.Contains(w.logs.String(), "Refresh token came again")
			if warned != (tt.then == session.Reused) {
				t.Errorf("logged %q", w.logs.String())
			}
		})
	}
}

func TestAnInstanceThatLagsBehind(t *testing.T) {
	w := newWorld()
	one, two := w.join(), w.join()
	two.lags = true
	first := one.open(t)
	t.Run("finds a new family behind the barrier", func(t *testing.T) {
		if !two.alive(t, first) || two.barriers != 1 {
			t.Errorf("not alive, or %d barriers", two.barriers)
		}
		if !two.alive(t, first) || two.barriers != 1 {
			t.Error("a known token needs no barrier")
		}
	})
	second := one.rotate(t, first)
	t.Run("finds a new token of a known family behind the barrier", func(t *testing.T) {
		if !two.alive(t, second) || two.barriers != 2 {
			t.Errorf("not alive, or %d barriers", two.barriers)
		}
	})
	t.Run("says that a token is unknown only behind the barrier, which it passes once", func(t *testing.T) {
		if two.alive(t, session.NewToken(session.FamilyID{9}, session.TokenKey{}).Password) || two.barriers != 3 {
			t.Errorf("alive, or %d barriers", two.barriers)
		}
	})
	t.Run("does not refuse what it cannot tell", func(t *testing.T) {
		two.deaf = errors.New("broker-7:9092 is away")
		_, err := two.Alive(t.Context(), session.NewToken(session.FamilyID{9}, session.TokenKey{}).Password)
		if f := fault.From(err); f.Kind != fault.Unavailable || strings.Contains(f.Detail, "broker") {
			t.Errorf("got %v", err)
		}
		if !two.alive(t, second) {
			t.Error("a known token needs no barrier")
		}
		two.deaf = nil
	})
	t.Run("needs no barrier for a family that is over", func(t *testing.T) {
		w.now = w.now.Add(life)
		if two.alive(t, second) || two.barriers != 4 {
			t.Errorf("alive, or %d barriers", two.barriers)
		}
	})
}

func TestARotationIsDecidedByTheLogAndNotByWhatAnInstanceSaw(t *testing.T) {
	w := newWorld()
	one, two := w.join(), w.join()
	first := one.open(t)
	two.lags = true // and has seen the first token only
	one.rotate(t, one.rotate(t, first))
	two.lags = false
	if _, _, err := two.Rotate(t.Context(), first, "hooklog"); reason(err) != session.Reused {
		t.Errorf("got %v", err)
	}
}

func TestTheLogCannotTakeIt(t *testing.T) {
	for name, breakDown := range map[string]func(*world, *instance){
		"because it is away":             func(w *world, _ *instance) { w.failure = errors.New("broker-7:9092 is away") },
		"because the fold does not come": func(_ *world, i *instance) { i.lags = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld()
				i := w.join()
				token := i.open(t)
				breakDown(w, i)
				_, _, openErr := i.Open(t.Context(), kim, "hooklog", "")
				_, _, rotateErr := i.Rotate(t.Context(), token, "hooklog")
				for _, err := range []error{openErr, rotateErr, i.End(t.Context(), token)} {
					f := fault.From(err)
					if f.Kind != fault.Unavailable || f.RetryAfter <= 0 || strings.Contains(f.Detail, "broker") {
						t.Errorf("got %v", err)
					}
				}
				if n := len(i.waiters); n != 0 {
					t.Errorf("%d wishes are waited for", n)
				}
			})
		})
	}
}

func TestNoTokenInTheClear(t *testing.T) {
	w := newWorld()
	i := w.join()
	first := i.open(t)
	second := i.rotate(t, first)
	third := i.rotate(t, second)
	_, _, reused := i.Rotate(t.Context(), first, "hooklog")
	_, dead := i.Alive(t.Context(), third)
	_, _, malformed := i.Rotate(t.Context(), secret.NewPassword(third.Reveal()+"x"), "hooklog")
	w.failure = errors.New("down")
	_, _, down := i.Open(t.Context(), kim, "hooklog", "")
	places := w.logs.String()
	for _, err := range []error{reused, dead, malformed, down} {
		if err == nil {
			t.Fatal("nothing failed")
		}
		places += err.Error() + fault.From(err).Detail
	}
	for _, r := range w.records {
		places += string(r.Key) + string(r.Value)
	}
	for _, token := range []secret.Password{first, second, third} {
		parsed, err := session.ParseToken(token)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(places, parsed.Hash().String()) || !strings.Contains(places, "came again") {
			t.Fatal("the search does not see what was written about the token")
		}
		for _, part := range strings.Split(token.Reveal(), ".") {
			if strings.Contains(places, part) {
				t.Errorf("%s lies in the clear", part)
			}
		}
	}
}
