package auth_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/refused"
	"hooklog/domain/secret"
	"hooklog/transport/auth"
)

// gate takes any user with the password "good", and any token that begins with
// it. Checking takes a while.
type gate struct {
	takes   time.Duration
	checked atomic.Int64
	after   error // the cause of a refusal
}

func (g *gate) check(who string, word secret.Password) (auth.Identity, error) {
	g.checked.Add(1)
	time.Sleep(g.takes)
	if !strings.HasPrefix(word.Reveal(), "good") {
		return auth.Identity{}, fault.New(fault.Unauthenticated, "Wrong.").Because(g.after)
	}
	return auth.Identity{Principal: who}, nil
}

func (g *gate) Basic(_ context.Context, name string, p secret.Password) (auth.Identity, error) {
	return g.check(name, p)
}

func (g *gate) Bearer(_ context.Context, token secret.Password) (auth.Identity, error) {
	return g.check("bearer", token)
}

func (g *gate) Refresh(_ context.Context, token secret.Password) (auth.Identity, error) {
	return g.check("refresh", token)
}

func (g *gate) authenticator(t *testing.T, guard *auth.Guard) *auth.Authenticator {
	t.Helper()
	a, err := auth.New(auth.Schemes{Basic: g, Bearer: g, Refresh: g}, guard, auth.Proxies{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// guarded runs a test in a bubble of time.
func guarded(t *testing.T, test func(*testing.T, *gate, *auth.Authenticator)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		guard := newGuard(&journal{}, slog.DiscardHandler)
		defer guard.Close()
		g := &gate{}
		test(t, g, g.authenticator(t, guard))
	})
}

func kindOf(t *testing.T, a *auth.Authenticator, address string, r *http.Request) fault.Kind {
	t.Helper()
	_, err := a.Authenticate(from(address, r))
	if err == nil {
		t.Fatalf("%s was let in", address)
	}
	f := fault.From(err)
	if f.Kind == fault.TooMany && (f.RetryAfter <= 0 || f.RetryAfter > time.Minute) {
		t.Errorf("come back after %s", f.RetryAfter)
	}
	return f.Kind
}

func mustLogIn(t *testing.T, a *auth.Authenticator, address string, r *http.Request) {
	t.Helper()
	if _, err := a.Authenticate(from(address, r)); err != nil {
		t.Errorf("from %s: %v", address, err)
	}
}

func TestANetworkThatGuessesIsHeldUpFromTheTwentiethFailureOn(t *testing.T) {
	for scheme, guess := range map[string]func(i int) *http.Request{
		"one user by Basic":   func(i int) *http.Request { return basicRequest("kim", fmt.Sprint(i)) },
		"many users by Basic": func(i int) *http.Request { return basicRequest(fmt.Sprint(i), "x") },
		"Bearer":              func(i int) *http.Request { return request(fmt.Sprint("Bearer ", i)) },
		"Refresh":             func(i int) *http.Request { return request(fmt.Sprint("Refresh ", i)) },
		"all of them": func(i int) *http.Request {
			return []*http.Request{basicRequest("kim", "x"), request("Bearer x"), request("Refresh x")}[i%3]
		},
	} {
		t.Run(scheme, func(t *testing.T) {
			guarded(t, func(t *testing.T, g *gate, a *auth.Authenticator) {
				// In every minute, however it is laid over the attempts.
				var wrong []time.Time
				for i := range 600 {
					switch kindOf(t, a, fmt.Sprintf("192.0.2.%d", i%250), guess(i)) {
					case fault.Unauthenticated:
						wrong = append(wrong, time.Now())
					case fault.TooMany:
					default:
						t.Fatal("neither wrong nor too many")
					}
					time.Sleep(500 * time.Millisecond)
				}
				for i := range wrong[19:] {
					if wrong[i+19].Sub(wrong[i]) < time.Minute {
						t.Fatalf("20 failures within %s", wrong[i+19].Sub(wrong[i]))
					}
				}
				if int(g.checked.Load()) != len(wrong) {
					t.Errorf("%d were looked at, %d were wrong", g.checked.Load(), len(wrong))
				}
				time.Sleep(time.Minute)
				mustLogIn(t, a, "192.0.2.1", basicRequest("kim", "good"))
			})
		})
	}
}

func TestNobodyIsHeldUpByAnothersGuesses(t *testing.T) {
	guarded(t, func(t *testing.T, _ *gate, a *auth.Authenticator) {
		heldUp := func(address string, r *http.Request) {
			t.Helper()
			if kind := kindOf(t, a, address, r); kind != fault.TooMany {
				t.Errorf("from %s: got %s", address, kind)
			}
		}
		mustLogIn(t, a, "192.0.2.9", basicRequest("kim", "good"))
		mustLogIn(t, a, "192.0.2.9", request("Bearer good"))
		for range 15 {
			_, _ = a.Authenticate(from("192.0.2.1", basicRequest("kim", "x")))
		}
		heldUp("192.0.2.1", basicRequest("kim", "good"))
		heldUp("192.0.2.77", basicRequest("kim", "good"))
		// The same user from elsewhere, and another from there.
		mustLogIn(t, a, "198.51.100.1", basicRequest("kim", "good"))
		mustLogIn(t, a, "[2001:db8::1]", basicRequest("kim", "good"))
		mustLogIn(t, a, "192.0.2.1", basicRequest("lee", "good"))

		for i := range 15 {
			_, _ = a.Authenticate(from("192.0.2.1", basicRequest(fmt.Sprint(i), "x")))
		}
		heldUp("192.0.2.1", basicRequest("max", "good"))
		heldUp("192.0.2.1", request("Bearer good 2"))
		heldUp("192.0.2.1", request("Refresh good"))
		// Not whoever had logged in a moment before, from the very same address.
		mustLogIn(t, a, "192.0.2.9", basicRequest("kim", "good"))
		mustLogIn(t, a, "192.0.2.9", request("Bearer good"))
		heldUp("192.0.2.1", basicRequest("kim", "good"))
	})
}

func TestWhatWasGoodOnceIsNoGuess(t *testing.T) {
	guarded(t, func(t *testing.T, g *gate, a *auth.Authenticator) {
		g.after = auth.ErrOutdated
		for range 50 {
			if kind := kindOf(t, a, "192.0.2.1", request("Bearer expired")); kind != fault.Unauthenticated {
				t.Fatalf("got %s", kind)
			}
		}
	})
}

func TestManyAtOnceGetNoFurtherThanAsManyInTurn(t *testing.T) {
	for name, c := range map[string]struct {
		attempt func(i int) *http.Request
		most    int64
	}{
		"one user":   {func(i int) *http.Request { return basicRequest("kim", fmt.Sprint(i)) }, 10},
		"many users": {func(i int) *http.Request { return basicRequest(fmt.Sprint(i), "x") }, 19},
		"tokens":     {func(i int) *http.Request { return request(fmt.Sprint("Bearer ", i)) }, 19},
	} {
		t.Run(name, func(t *testing.T) {
			guarded(t, func(t *testing.T, g *gate, a *auth.Authenticator) {
				g.takes = 10 * time.Millisecond
				var wrong, held atomic.Int64
				var callers sync.WaitGroup
				for i := range 500 {
					callers.Go(func() {
						switch kindOf(t, a, "192.0.2.1", c.attempt(i)) {
						case fault.Unauthenticated:
							wrong.Add(1)
						case fault.TooMany:
							held.Add(1)
						}
					})
				}
				callers.Wait()
				if g.checked.Load() != c.most || wrong.Load() != c.most || held.Load() != 500-c.most {
					t.Errorf("%d looked at, %d wrong, %d held up", g.checked.Load(), wrong.Load(), held.Load())
				}
			})
		})
	}
}

func TestManyGoodOnesAtOnceWaitForEachOther(t *testing.T) {
	guarded(t, func(t *testing.T, g *gate, a *auth.Authenticator) {
		g.takes = 10 * time.Millisecond
		var callers sync.WaitGroup
		for i := range 500 {
			callers.Go(func() { mustLogIn(t, a, "192.0.2.1", request(fmt.Sprint("Bearer good ", i))) })
		}
		callers.Wait()
	})
	guarded(t, func(t *testing.T, g *gate, a *auth.Authenticator) {
		g.takes = time.Hour // and no longer than two seconds
		for range 19 {
			go func() { _, _ = a.Authenticate(from("192.0.2.1", request("Bearer good"))) }()
		}
		synctest.Wait()
		began := time.Now()
		if kind := kindOf(t, a, "192.0.2.1", request("Bearer good")); kind != fault.TooMany || time.Since(began) != 2*time.Second {
			t.Errorf("got %s after %s", kind, time.Since(began))
		}
		time.Sleep(time.Hour)
	})
}

func TestFailedLogInsAreCountedByTheirNetwork(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		j := &journal{}
		guard := newGuard(j, slog.DiscardHandler)
		g := &gate{}
		a := g.authenticator(t, guard)
		began := time.Now()
		mustLogIn(t, a, "198.51.100.1", basicRequest("kim", "good"))
		for range 12 {
			_, _ = a.Authenticate(from("192.0.2.1", basicRequest("kim", "x")))
		}
		_, _ = a.Authenticate(from("[2001:db8:1:2::3]", request("Bearer x")))
		for i := range 100 { // more networks than a record tells apart
			_, _ = a.Authenticate(from(fmt.Sprintf("203.%d.113.1", i), request("Refresh x")))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		counted := j.failures(t)
		if len(counted) != 1 || len(counted[0].Networks) != refused.MaxNetworks || counted[0].Rest["unauthenticated"] != 100-62 {
			t.Fatalf("counted %+v", counted)
		}
		want := access.Failures{
			Instance: "i1", From: began.UTC(), To: began.Add(time.Minute).UTC(),
			Networks: []refused.Network{{
				Prefix:  netip.MustParsePrefix("192.0.2.0/24"),
				Reasons: map[string]int64{"unauthenticated": 10, "too-many": 2},
			}},
			Rest: counted[0].Rest,
		}
		counted[0].Networks = counted[0].Networks[:1]
		if diff := cmp.Diff(want, counted[0], cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
			t.Errorf("counts differ (-want +got):\n%s", diff)
		}

		time.Sleep(time.Hour) // nothing failed, nothing written
		_, _ = a.Authenticate(from("192.0.2.1", request("Bearer x")))
		guard.Close()
		_, _ = a.Authenticate(from("192.0.2.1", request("Bearer x")))
		if counted = j.failures(t); len(counted) != 2 || !counted[1].From.Equal(time.Now()) {
			t.Errorf("the end brought %+v", counted[1:])
		}
	})
}

func TestCountsThatTheLogDoesNotTakeAreOnlyLogged(t *testing.T) {
	var log strings.Builder
	guard := newGuard(&journal{refuse: errors.New("full")}, slog.NewTextHandler(&log, nil))
	_, _ = (&gate{}).authenticator(t, guard).Authenticate(request("Bearer x"))
	guard.Close()
	if !strings.Contains(log.String(), "Counts of refusals were not recorded") {
		t.Errorf("the log has %q", log.String())
	}
}

func TestAttemptsAreObserved(t *testing.T) {
	var seen []error
	guard := auth.NewGuard(auth.GuardDeps{
		Log: slog.New(slog.DiscardHandler), Now: time.Now, Journal: &journal{}, Partitions: func() int32 { return 1 },
		Observe: func(err error) { seen = append(seen, err) },
	})
	from := netip.MustParseAddr("192.0.2.1")
	wrong := fault.New(fault.Unauthenticated, "Wrong.")
	for n := range 12 {
		settle, err := guard.Admit(t.Context(), from, "ada")
		switch {
		case err != nil:
		case n == 0:
			settle(nil)
		default:
			settle(wrong)
		}
	}
	if len(seen) != 12 || seen[0] != nil || !errors.Is(seen[10], wrong) || !fault.Is(seen[11], fault.TooMany) {
		t.Errorf("observed %v", seen)
	}
}
