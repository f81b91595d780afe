package auth_test

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/auth"
)

func TestANewPasswordEndsTheOldOneAtOnce(t *testing.T) {
	u := newUsers(t)
	a := newAuthenticator(t, u, auth.Proxies{})
	if _, err := a.Authenticate(basicRequest("admin", password)); err != nil {
		t.Fatal(err)
	}
	changed := u["admin"]
	changed.Version++
	changed.PasswordHash = hashOf(t, "another")
	u["admin"] = changed
	if _, err := a.Authenticate(basicRequest("admin", password)); !fault.Is(err, fault.Unauthenticated) {
		t.Fatalf("got %v", err)
	}
	if _, err := a.Authenticate(basicRequest("admin", "another")); err != nil {
		t.Fatal(err)
	}
}

func TestVerifyRefusesForgedCosts(t *testing.T) {
	for _, hash := range []string{
		"", "$argon2id$v=19$m=4194304,t=99,p=1$YWJj$YWJj", "$argon2i$v=19$m=19456,t=2,p=1$YWJj$YWJj", "plain",
	} {
		if ok, err := auth.Verify(hash, secret.NewPassword("x")); ok || err == nil {
			t.Fatalf("%q: %v, %v", hash, ok, err)
		}
	}
}

func TestTheSameLogInManyTimesAtOnceIsHashedOnce(t *testing.T) {
	a := newAuthenticator(t, newUsers(t), auth.Proxies{})
	var callers sync.WaitGroup
	for range 200 { // hashed one by one, they would wait longer than anyone does
		callers.Go(func() {
			if _, err := a.Authenticate(basicRequest("admin", password)); err != nil {
				t.Error(err)
			}
		})
	}
	callers.Wait()
}

// All at once they would take 1900 MiB.
func TestNewPasswordsWaitForTheirTurnToBeHashed(t *testing.T) {
	local, err := auth.NewLocal(newUsers(t), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	runtime.GC()
	before, peak := heap(), uint64(0)
	var hashed atomic.Int64
	var callers sync.WaitGroup
	for range 100 {
		callers.Go(func() {
			hash, err := local.Hash(secret.NewPassword(password))
			switch {
			case err == nil && strings.HasPrefix(hash, "$argon2id$"):
				hashed.Add(1)
			case !fault.Is(err, fault.Unavailable): // which is for who waits too long
				t.Errorf("got %q, %v", hash, err)
			}
		})
	}
	over := make(chan struct{})
	go func() { callers.Wait(); close(over) }()
	for hashing := true; hashing; {
		select {
		case <-over:
			hashing = false
		case <-time.After(time.Millisecond):
		}
		peak = max(peak, heap())
	}
	if hashed.Load() == 0 {
		t.Error("nothing was hashed")
	}
	if limit := before + 400<<20; peak > limit {
		t.Errorf("the heap had %d MiB", peak>>20)
	}
}
