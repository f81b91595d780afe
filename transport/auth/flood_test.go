package auth_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"hooklog/domain/fault"
	"hooklog/transport/auth"
)

// A flood that was not limited would take 19 MiB for each of its 500.
func TestFiveHundredWrongPasswordsAtOnceTakeLittle(t *testing.T) {
	const wrong = 500
	for name, c := range map[string]struct {
		network func(i int) string
		// most is how many of the flood's may be hashed; where each is from
		// elsewhere, only the turns limit them.
		most int64
	}{
		"from one network":      {func(i int) string { return fmt.Sprintf("192.0.2.%d", i%250) }, 10},
		"from as many networks": {func(i int) string { return fmt.Sprintf("10.%d.%d.1", i/250, i%250) }, wrong},
	} {
		t.Run(name, func(t *testing.T) {
			local, err := auth.NewLocal(newUsers(t), time.Now)
			if err != nil {
				t.Fatal(err)
			}
			a := newSchemes(t, auth.Schemes{Basic: local}, auth.Proxies{})
			mustLogIn(t, a, "192.0.2.9", basicRequest("admin", password))
			runtime.GC()
			before, peak := heap(), uint64(0)
			var refused [3]atomic.Int64
			var flood sync.WaitGroup
			for i := range wrong {
				flood.Go(func() {
					_, err := a.Authenticate(from(c.network(i), basicRequest("admin", fmt.Sprint(i))))
					refused[indexOf(t, err)].Add(1)
				})
			}
			over := make(chan struct{})
			go func() { flood.Wait(); close(over) }()
			goodCalls := 0
			for flooding := true; flooding; {
				select {
				case <-over:
					flooding = false
				case <-time.After(time.Millisecond):
				}
				peak = max(peak, heap())
				// From the flood's own network, as one who had logged in before.
				mustLogIn(t, a, "192.0.2.9", basicRequest("admin", password))
				goodCalls++
			}
			hashed := refused[0].Load() // who is told to be wrong was hashed, nobody else
			t.Logf("%d wrong at once %s: %d hashed, %d held up, %d told to come back; heap grew by %d MiB at most; %d good calls meanwhile",
				wrong, name, hashed, refused[1].Load(), refused[2].Load(), (peak-min(peak, before))>>20, goodCalls)
			if hashed == 0 || hashed > c.most {
				t.Errorf("%d passwords were hashed", hashed)
			}
			if limit := before + 400<<20; peak > limit {
				t.Errorf("the heap had %d MiB", peak>>20)
			}
		})
	}
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}

func indexOf(t *testing.T, err error) int {
	switch {
	case fault.Is(err, fault.Unauthenticated):
		return 0
	case fault.Is(err, fault.TooMany):
		return 1
	case fault.Is(err, fault.Unavailable):
		return 2
	}
	t.Errorf("got %v", err)
	return 0
}

func TestTheMemoryOfGuessesIsBounded(t *testing.T) {
	guard := newGuard(&journal{}, slog.DiscardHandler)
	defer guard.Close()
	a := (&gate{}).authenticator(t, guard)
	r := basicRequest(strings.Repeat("n", 8<<10), "x")
	runtime.GC()
	before := heap()
	const guesses = 12_000
	for i := range guesses {
		_, _ = a.Authenticate(from(fmt.Sprintf("[2001:db8:%x::1]", i), r))
	}
	runtime.GC()
	grown := int64(heap()) - int64(before)
	t.Logf("%d guesses from as many networks: memory grew by %d KiB", guesses, grown>>10)
	if grown > 16<<20 {
		t.Errorf("memory grew by %d KiB", grown>>10)
	}
	runtime.KeepAlive(a)
}

// The words that must never be said are found where they are said on purpose.
func TestNoSecretIsInAnErrorOrALogLine(t *testing.T) {
	const canary = "canary-4711-canary"
	var log bytes.Buffer
	guard := newGuard(&journal{}, slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	local, err := auth.NewLocal(newUsers(t), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	a, err := auth.New(auth.Schemes{Basic: local, Bearer: tokens{}, Refresh: tokens{}}, guard, auth.Proxies{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	said := []string{"planted: " + canary}
	for i, r := range []*http.Request{
		basicRequest("admin", canary), basicRequest(canary, "x"), basicRequest("nobody", canary), request("Bearer " + canary),
		request("Refresh " + canary), request(canary), request("Digest " + canary), request("Basic " + canary),
		request("Bearer "+canary, "Bearer "+canary),
	} {
		_, err := a.Authenticate(from(fmt.Sprintf("10.0.%d.1", i), r))
		if err == nil {
			t.Fatal("the canary was let in")
		}
		said = append(said, err.Error(), fmt.Sprintf("%+v %#v", err, err))
	}
	guard.Close()
	said = append(said, log.String())
	for i, text := range said {
		if found := strings.Contains(text, canary); found != (i == 0) {
			t.Errorf("canary in %q: %v", text, found)
		}
	}
}
