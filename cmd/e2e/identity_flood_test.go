package e2e_test

import (
	"fmt"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
)

// 500 wrong passwords at once, each of which would take 19 MiB to check, while
// others work. The figures are for people; the bounds are no timings.
func TestFiveHundredWrongPasswordsAtOnce(t *testing.T) {
	s := startOnOne(t, behindLoopback)
	s.http.Transport.(*http.Transport).MaxIdleConnsPerHost = 512
	s.user("kim", kimsPassword, "administrator")
	bearer := s.bearer(s.passwordGrant("kim", kimsPassword).granted().Access).from("203.0.113.1")
	known := s.as("Authorization", basic("kim", kimsPassword)).from("203.0.113.1")
	known.run("webhook.list").want(http.StatusOK)

	for name, address := range map[string]func(n int) string{
		"from one network":      func(n int) string { return fmt.Sprintf("198.51.100.%d", n%250) },
		"from as many networks": func(n int) string { return fmt.Sprintf("10.%d.%d.1", n/250, n%250) },
	} {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			runtime.GC()
			before := heapInUse()
			statuses := make([]int, 500)
			var flood sync.WaitGroup
			for n := range statuses {
				flood.Go(func() {
					statuses[n] = s.as("Authorization", basic("kim", fmt.Sprint("guess ", n))).from(address(n)).run("webhook.list").status
				})
			}
			over := make(chan struct{})
			go func() { flood.Wait(); close(over) }()
			took, peak := goodCalls(over, bearer, known)
			counts := map[int]int{}
			for _, status := range statuses {
				counts[status]++
			}
			t.Logf("%d wrong at once %s, by status: %v; %d good calls meanwhile, p50 %s, p99 %s; the heap grew from %d to %d MiB at most",
				len(statuses), name, counts, len(took), took[len(took)/2], took[len(took)*99/100], before>>20, peak>>20)
			refused := counts[http.StatusUnauthorized] + counts[http.StatusTooManyRequests] + counts[http.StatusServiceUnavailable]
			if refused != len(statuses) || counts[http.StatusUnauthorized] == 0 {
				t.Errorf("the wrong ones are answered %v", counts)
			}
			if limit := before + 400<<20; peak > limit {
				t.Errorf("the heap grew from %d to %d MiB", before>>20, peak>>20)
			}
		})
	}
}

// goodCalls calls until the flood is over, and gives how long each took, in order,
// and the most memory there was.
func goodCalls(over <-chan struct{}, callers ...caller) (took []time.Duration, peak uint64) {
	for {
		for _, c := range callers {
			began := time.Now()
			c.run("webhook.get").want(http.StatusOK)
			took = append(took, time.Since(began))
			peak = max(peak, heapInUse())
		}
		select {
		case <-over:
			slices.Sort(took)
			return took, peak
		default:
		}
	}
}

func heapInUse() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapInuse
}
