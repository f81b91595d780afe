package auth_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/auth"
)

func TestWhoeverIsHeldUpCannotMakeTheGuardForgetOthers(t *testing.T) {
	guarded(t, func(t *testing.T, _ *gate, a *auth.Authenticator) {
		for range 19 {
			_ = kindOf(t, a, "192.0.2.1", request("Bearer x"))
		}
		for i := range 10_100 { // more names than are remembered
			if kind := kindOf(t, a, "198.51.100.1", basicRequest(fmt.Sprint(i), "x")); i >= 19 && kind != fault.TooMany {
				t.Fatalf("attempt %d: got %s", i, kind)
			}
		}
		if kind := kindOf(t, a, "192.0.2.1", request("Bearer x")); kind != fault.TooMany {
			t.Errorf("a network that has guessed too often gets %s", kind)
		}
	})
}

// patient gives up with its caller, like a question to somebody far away.
type patient struct{ takes time.Duration }

func (p patient) Basic(ctx context.Context, _ string, _ secret.Password) (auth.Identity, error) {
	select {
	case <-time.After(p.takes):
		return auth.Identity{}, fault.New(fault.Unauthenticated, "Wrong.")
	case <-ctx.Done():
		return auth.Identity{}, fault.New(fault.Unavailable, "Given up.").Because(ctx.Err())
	}
}

func TestWhoHangsUpHasGuessedAllTheSame(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		guard := newGuard(&journal{}, slog.DiscardHandler)
		defer guard.Close()
		a, err := auth.New(auth.Schemes{Basic: patient{time.Second}}, guard, auth.Proxies{}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		attempt := func(leaves time.Duration) fault.Kind {
			ctx, cancel := context.WithTimeout(t.Context(), leaves)
			defer cancel()
			return kindOf(t, a, "192.0.2.1", basicRequest("kim", "x").WithContext(ctx))
		}
		for i := range 10 {
			if kind := attempt(time.Millisecond); kind != fault.Unauthenticated {
				t.Fatalf("attempt %d: got %s", i, kind)
			}
		}
		if kind := attempt(time.Minute); kind != fault.TooMany {
			t.Errorf("after ten guesses of one who hung up: got %s", kind)
		}
	})
}

// Who joins the hash of another has his answer sooner. That must not tell names
// that are unknown from others.
func TestUnknownUsersShareNoHash(t *testing.T) {
	local, err := auth.NewLocal(newUsers(t), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	before := allocated()
	var callers sync.WaitGroup
	for _, name := range []string{"nobody", "neither"} {
		callers.Go(func() {
			if _, err := local.Basic(t.Context(), name, secret.NewPassword("the same")); !fault.Is(err, fault.Unauthenticated) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	callers.Wait()
	if took := allocated() - before; took < 2*19<<20 { // each hash takes 19 MiB
		t.Errorf("two log-ins took %d MiB", took>>20)
	}
}

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}
