package realm_test

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

// taken reports whether a call with the header is let in, or refused as one that
// is not authenticated.
func (w *world) taken(t *testing.T, scheme, token string) bool {
	t.Helper()
	_, err := w.call(scheme, token)
	if err != nil && !fault.Is(err, fault.Unauthenticated) {
		t.Errorf("%s: %v", scheme, err)
	}
	return err == nil
}

func TestAnAccessTokenExpires(t *testing.T) {
	w := newWorld(t)
	got := w.logIn(t)
	for _, step := range []struct {
		later time.Duration
		taken bool
	}{
		{0, true},
		{299 * time.Second, true},
		{30 * time.Second, true}, // the clocks of others may be late
		{2 * time.Second, false},
		{time.Hour, false},
	} {
		w.clock.advance(step.later)
		for range 2 {
			if taken := w.taken(t, "Bearer", got.Access); taken != step.taken {
				t.Errorf("%s later: taken is %v", step.later, taken)
			}
		}
	}
}

func TestWhoeverChangesMustLogInAnew(t *testing.T) {
	for name, change := range map[string]func(*people){
		"a new password": func(p *people) { p.raise("kim", func(u *access.User) { u.PasswordHash += "x" }) },
		"other roles":    func(p *people) { p.raise("kim", func(u *access.User) { u.Roles = nil }) },
		"being deleted":  func(p *people) { p.change(func(p *people) { delete(p.users, "kim") }) },
	} {
		t.Run(name+" ends the tokens at once", func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				got := w.logIn(t)
				if !w.taken(t, "Bearer", got.Access) || !w.taken(t, "Refresh", got.Refresh) {
					t.Fatal("they were not taken before")
				}
				change(w.people)
				if w.taken(t, "Bearer", got.Access) || w.taken(t, "Refresh", got.Refresh) {
					t.Error("they are still taken")
				}
				if refreshed := w.refresh(t, got.Refresh); refreshed.Error != "invalid_grant" {
					t.Errorf("refreshed: %s", refreshed)
				}
			})
		})
	}
	t.Run("a refresh token ends with its client", func(t *testing.T) {
		w := newWorld(t)
		got := w.logIn(t)
		w.people.change(func(p *people) { delete(p.clients, "hooklog") })
		if w.taken(t, "Refresh", got.Refresh) {
			t.Error("it is still taken")
		}
	})
}

func TestRolesAreThoseThatTheUserHasNow(t *testing.T) {
	w := newWorld(t)
	got := w.logIn(t)
	w.people.change(func(p *people) {
		user := p.users["kim"]
		user.Roles = []string{"other"}
		p.users["kim"] = user
	})
	for scheme, token := range map[string]string{"Bearer": got.Access, "Refresh": got.Refresh} {
		if caller, err := w.call(scheme, token); err != nil || !slices.Equal(caller.Roles, []string{"other"}) {
			t.Errorf("%s: %v, %v", scheme, caller.Roles, err)
		}
	}
}

func TestRefreshTokens(t *testing.T) {
	w := newWorld(t)
	first := w.logIn(t)
	for range 3 { // the header never rotates
		if !w.taken(t, "Refresh", first.Refresh) {
			t.Fatal("not taken")
		}
	}
	second := w.refresh(t, first.Refresh)
	if second.status != http.StatusOK || second.Refresh == first.Refresh || second.Ends != 3600 || !w.taken(t, "Bearer", second.Access) {
		t.Fatalf("rotated: %s", second)
	}
	again := w.refresh(t, first.Refresh) // as if the answer had been lost
	if again.status != http.StatusOK || !w.taken(t, "Refresh", second.Refresh) || !w.taken(t, "Refresh", again.Refresh) {
		t.Fatalf("within the grace: %s", again)
	}
	if got := w.post(t, "grant_type", "refresh_token", "client_id", "shop", "client_secret", "of the shop", "refresh_token", second.Refresh); got.Error != "invalid_grant" {
		t.Errorf("another client: %s", got)
	}
	w.clock.advance(31 * time.Second)
	if w.taken(t, "Refresh", first.Refresh) {
		t.Error("taken after the grace")
	}
	if got := w.refresh(t, first.Refresh); got.Error != "invalid_grant" {
		t.Errorf("after the grace: %s", got)
	}
	if got := w.refresh(t, second.Refresh); got.Error != "invalid_grant" || w.taken(t, "Refresh", again.Refresh) {
		t.Errorf("the family has not ended: %s", got)
	}
	last := w.logIn(t)
	w.clock.advance(time.Hour)
	if got := w.refresh(t, last.Refresh); got.Error != "invalid_grant" || w.taken(t, "Refresh", last.Refresh) {
		t.Errorf("after its life: %s", got)
	}
}

func TestAnInstanceThatIsBehindCatchesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		before := w.people.users["kim"]
		w.people.raise("kim", func(u *access.User) { u.Roles = []string{"new"} })
		after := w.people.users["kim"]
		w.rotateKey(t, "c1")
		keys := w.people.keys
		got := w.logIn(t)

		w.people.change(func(p *people) { p.users["kim"], p.keys = before, keys[1:] })
		w.people.arrive = func(p *people) { p.users["kim"], p.keys = after, keys }
		if caller, err := w.call("Bearer", got.Access); err != nil || !slices.Equal(caller.Roles, []string{"new"}) {
			t.Errorf("%+v, %v", caller, err)
		}
		w.people.change(func(p *people) { p.users["kim"] = before })
		if caller, err := w.call("Refresh", got.Refresh); err != nil || !slices.Equal(caller.Roles, []string{"new"}) {
			t.Errorf("%+v, %v", caller, err)
		}
		if looks := w.people.looks.Load(); looks != 2 {
			t.Errorf("%d looks at the end of the log", looks)
		}
	})
}

func TestAFloodOfUnknownKeysLooksOnceASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		f := newForger(t, w)
		const flood = 300
		began := time.Now()
		var accepted atomic.Int64
		var callers sync.WaitGroup
		for i := range flood {
			callers.Go(func() {
				time.Sleep(time.Duration(i) * 10 * time.Millisecond)
				// Asked without the guard, which would let nearly none through.
				_, err := w.realm.Bearer(t.Context(), secret.NewPassword(f.token(header("kid", fmt.Sprint(i)))))
				if !fault.Is(err, fault.Unauthenticated) {
					accepted.Add(1)
				}
			})
		}
		callers.Wait()
		looks, most := w.people.looks.Load(), int64(time.Since(began)/time.Second)+1
		if accepted.Load() != 0 || looks == 0 || looks > most {
			t.Errorf("%d accepted, %d looks in %s", accepted.Load(), looks, time.Since(began))
		}
	})
}
