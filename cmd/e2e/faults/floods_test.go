//go:build faults

package faults_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// flood is a service under more than it can take, and what it answers.
type flood struct {
	t *testing.T
	p *process

	mu       sync.Mutex
	statuses map[int]int
	slowest  time.Duration
}

func newFlood(t *testing.T, args ...string) *flood {
	t.Helper()
	p := serve(t, nil, append([]string{"--data-dir", t.TempDir(), "--log-level", "error"}, args...)...)
	return &flood{t: t, p: p, statuses: map[int]int{}}
}

func (f *flood) note(status int, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.statuses[status]++
	f.slowest = max(f.slowest, took)
}

// answered is the statuses so far, for figures; they begin anew.
func (f *flood) answered() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var all []string
	for _, status := range slices.Sorted(maps.Keys(f.statuses)) {
		name := strconv.Itoa(status)
		if status == 0 {
			name = "no answer"
		}
		all = append(all, fmt.Sprintf("%d × %s", f.statuses[status], name))
	}
	f.statuses = map[int]int{}
	return strings.Join(all, ", ")
}

// peak is the most memory that the service ever had, in bytes.
func (f *flood) peak() int64 {
	f.t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", f.p.cmd.Process.Pid))
	if err != nil {
		f.t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	kib, err := strconv.ParseInt(strings.Fields(rest)[0], 10, 64)
	if err != nil {
		f.t.Fatal(err)
	}
	return kib << 10
}

// goroutines is how many the service has.
func (f *flood) goroutines() int {
	f.t.Helper()
	_, text, err := f.p.do(http.MethodGet, f.p.ops+"/debug/pprof/goroutine?debug=1", nil)
	if err != nil {
		f.t.Fatal(err)
	}
	var n int
	if _, err := fmt.Sscanf(string(text), "goroutine profile: total %d", &n); err != nil {
		f.t.Fatal(err)
	}
	return n
}

// inTime is how soon a call has to be taken to count for the rate.
const inTime = time.Second

// beat is calls of a webhook at a steady pace, whatever becomes of them.
type beat struct {
	sent, taken int             // taken in time
	took        []time.Duration // of all that were taken
	over        time.Duration   // without the wait for the last answers
}

// beat calls for a time, or until the end. A call that could not be sent in its
// time is sent as soon as it can, so that the pace is kept on average.
func (f *flood) beat(b *beat, token string, perSecond int, length time.Duration, end <-chan struct{}) {
	var (
		mu      sync.Mutex
		calling sync.WaitGroup
		body    = bytes.Repeat([]byte("b"), 1<<10)
		began   = time.Now()
		going   = true
	)
	for n := 0; going; n++ {
		at := time.Duration(n) * time.Second / time.Duration(perSecond)
		if at >= length {
			break
		}
		select {
		case <-end:
			going = false
			continue
		case <-time.After(at - time.Since(began)):
		}
		b.sent++
		calling.Go(func() {
			start := time.Now()
			_, status, err := f.p.call(token, body)
			mu.Lock()
			defer mu.Unlock()
			if took := time.Since(start); err == nil && status == http.StatusOK {
				b.took = append(b.took, took)
				if took <= inTime {
					b.taken++
				}
			}
		})
	}
	b.over += time.Since(began)
	calling.Wait()
	slices.Sort(b.took)
}

func (b beat) rate() float64 { return float64(b.taken) / b.over.Seconds() }

func (b beat) quantile(q float64) time.Duration {
	if len(b.took) == 0 {
		return 0
	}
	return b.took[int(q*float64(len(b.took)-1))].Round(100 * time.Microsecond)
}

func (b beat) String() string {
	return fmt.Sprintf("%d of %d calls taken in time, %.0f/s, p50 %s, p99 %s, slowest %s",
		b.taken, b.sent, b.rate(), b.quantile(0.5), b.quantile(0.99), b.quantile(1))
}

// besiege runs the flood in so many callers until it is told to stop.
func besiege(callers int, once func(end <-chan struct{})) (stop func()) {
	end := make(chan struct{})
	var flooding sync.WaitGroup
	for range callers {
		flooding.Go(func() {
			for {
				select {
				case <-end:
					return
				default:
					once(end)
				}
			}
		})
	}
	return func() {
		close(end)
		flooding.Wait()
	}
}

// maxPeak is what a flood may make of the service's memory. The embedded log is
// in it, which the accepted calls of the flood grow.
const maxPeak = 512 << 20

// The rate of a webhook is what its callers send and get taken. A flood of
// another may take the service's time, but not that.
func TestAWebhookKeepsItsRateBesideAFlood(t *testing.T) {
	embeddedOnly(t)
	const rate = 200
	rounds := counts(3, 20) // of a second alone and a second beside the flood
	for name, kind := range map[string]struct {
		args    []string
		callers int
		body    int
		stall   bool
	}{
		"small calls without a rate":       {nil, 32, 1 << 10, false},
		"small calls over the rate":        {[]string{"--webhook-rate", "500"}, 32, 1 << 10, false},
		"large calls over the bytes' rate": {[]string{"--webhook-bytes", "8388608"}, 8, 4 << 20, false},
		"large calls over the budget":      {[]string{"--body-budget", "67108864"}, 8, 4 << 20, false},
		"bodies that stall on the budget":  {[]string{"--body-budget", "67108864"}, 64, 1 << 20, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFlood(t, kind.args...)
			quiet := f.p.put(t, "eventKey=webhook.quiet").UUID
			loud := f.p.put(t, "eventKey=webhook.loud", "maxPayloadLength=4194304").UUID
			var warm, alone, beside beat
			f.beat(&warm, quiet, rate, time.Second, nil)
			body := bytes.Repeat([]byte("x"), kind.body)
			for range rounds {
				f.beat(&alone, quiet, rate, time.Second, nil)
				stop := besiege(kind.callers, func(end <-chan struct{}) {
					if kind.stall {
						f.stall(loud, body, end)
						return
					}
					start := time.Now()
					_, status, _ := f.p.call(loud, body)
					f.note(status, time.Since(start))
				})
				f.beat(&beside, quiet, rate, time.Second, nil)
				stop()
			}
			t.Logf("alone:  %s", alone)
			t.Logf("beside: %s", beside)
			t.Logf("kept %.1f %% of its rate; the flood was answered %s; peak memory %d MiB",
				100*beside.rate()/alone.rate(), f.answered(), f.peak()>>20)
			if f.peak() > maxPeak {
				t.Errorf("it took %d MiB", f.peak()>>20)
			}
			// Times are judged in a soak only, where nothing else takes the machine.
			if soaking && (beside.rate() < 0.9*alone.rate() || alone.rate() < 0.9*rate) {
				t.Errorf("it keeps %.0f of %.0f calls/s", beside.rate(), alone.rate())
			}
		})
	}
}
