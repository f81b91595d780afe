package realm_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"

	"hooklog/transport/auth/realm"
)

func TestKeysAreRotatedWithoutOneFailedCall(t *testing.T) {
	w := newWorld(t)
	first := w.logIn(t)
	var calls, grants atomic.Int64
	stop := make(chan struct{})
	var busy sync.WaitGroup
	for range 4 {
		busy.Go(func() {
			latest := first
			for n := 1; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				if !w.taken(t, "Bearer", latest.Access) || !w.taken(t, "Bearer", first.Access) {
					t.Error("a call failed")
				}
				calls.Add(2)
				if n%10 == 0 {
					latest = w.logIn(t)
					grants.Add(1)
				}
			}
		})
	}
	for i := range 4 {
		waitFor(t, func() bool { return grants.Load() >= int64(i+1)*4 })
		w.rotateKey(t, fmt.Sprint("c", i+1))
	}
	waitFor(t, func() bool { return grants.Load() >= 24 })
	close(stop)
	busy.Wait()
	t.Logf("%d calls and %d log-ins over 4 rotations", calls.Load(), grants.Load())

	published := func() int {
		var keys jose.JSONWebKeySet
		w.get(t, prefix+"/protocol/openid-connect/certs", &keys)
		for _, key := range keys.Keys {
			if !key.IsPublic() || key.Use != "sig" || key.Algorithm != "ES256" || key.KeyID == "" {
				t.Errorf("published %+v", key)
			}
		}
		return len(keys.Keys)
	}
	if n := published(); n != 5 {
		t.Errorf("%d keys are published", n)
	}
	f := newForger(t, w)
	for _, key := range w.people.keys {
		if f.use(t, key); !w.taken(t, "Bearer", f.token()) {
			t.Errorf("a new token of the key of %s is not taken", key.SealedFor)
		}
	}
	w.clock.advance(accessLife + 31*time.Second)
	if n := published(); n != 1 {
		t.Errorf("%d keys are published when the tokens of the earlier ones have expired", n)
	}
	// Not even a token that claims to live on is taken from a key that is over.
	for i, key := range w.people.keys {
		if f.use(t, key); w.taken(t, "Bearer", f.token()) != (i == 0) {
			t.Errorf("a new token of the key of %s: taken is %v", key.SealedFor, i != 0)
		}
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}

func TestWithoutTheRingNothingIsIssued(t *testing.T) {
	for name, ring := range map[string]realm.Ring{"no ring": nil, "another ring": newWorld(t).ring} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(_ *world, deps *realm.Deps) { deps.Ring = ring })
			got := w.post(t, "grant_type", "password", "client_id", "hooklog", "username", "kim", "password", password)
			if got.status != http.StatusServiceUnavailable || got.header.Get("Retry-After") == "" || got.Error != "temporarily_unavailable" {
				t.Errorf("got %s", got)
			}
			if len(w.tokens.families) != 0 || !strings.Contains(w.log.String(), "Token request failed") {
				t.Errorf("families %v, log %s", w.tokens.families, w.log)
			}
			if !w.taken(t, "Bearer", newForger(t, w).token()) {
				t.Error("what was issued before is not taken")
			}
			var keys jose.JSONWebKeySet
			w.get(t, prefix+"/protocol/openid-connect/certs", &keys)
			if len(keys.Keys) != 1 {
				t.Errorf("%d keys are published", len(keys.Keys))
			}
		})
	}
}
