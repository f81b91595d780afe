package httpapi_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/webhook"
)

const other = "11111111-2222-4333-8444-555555fedcba"

// withOther adds a second webhook; both take the largest calls.
func withOther(t *testing.T) func(*world) {
	return func(w *world) {
		gate := webhook.Gate{EventKey: "webhook.orders", PayloadType: webhook.Base64, MaxPayloadLength: webhook.MaxPayloadLength}
		w.gates.add(t, token, gate)
		gate.EventKey = "webhook.other"
		w.gates.add(t, other, gate)
	}
}

func postTo(token string, body io.Reader) *http.Request {
	r := httptest.NewRequest(http.MethodPost, receive, body)
	r.Header.Set("Token", token)
	return r
}

// statuses counts how the requests are answered, all at once.
func (w *world) statuses(requests []*http.Request) map[int]int {
	var mu sync.Mutex
	var all sync.WaitGroup
	counts := map[int]int{}
	for _, r := range requests {
		all.Go(func() {
			rec := w.do(r)
			mu.Lock()
			defer mu.Unlock()
			counts[rec.Code]++
		})
	}
	all.Wait()
	return counts
}

func TestTheBudgetIsTakenUntilTheLogHasLetGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, withOther(t), func(w *world) { w.journal.hang = make(chan struct{}) })
		// A quarter of the budget is 16 MiB; each of these becomes 1.3 MB.
		body := strings.Repeat("x", 1_000_000)
		began := time.Now()
		waited, refused := 0, 0
		answers := make(chan *httptest.ResponseRecorder, 20)
		for range cap(answers) {
			go func() { answers <- w.do(postTo(token, strings.NewReader(body))) }()
			synctest.Wait()
		}
		for range cap(answers) {
			wantProblem(t, <-answers, fault.Unavailable)
			if time.Since(began) == 0 {
				refused++
			} else {
				waited++
			}
		}
		if waited != 11 || refused != 9 || time.Since(began) != 8*time.Second {
			t.Errorf("%d waited for the log for %v, %d were refused at once", waited, time.Since(began), refused)
		}

		began = time.Now()
		rec := w.do(postTo(token, strings.NewReader(body)))
		wantProblem(t, rec, fault.Unavailable)
		if time.Since(began) != 0 || rec.Header().Get("Retry-After") != "1" {
			t.Errorf("the next was refused after %v, to come back after %q", time.Since(began), rec.Header().Get("Retry-After"))
		}
		resultOf(t, w.do(postTo(other, strings.NewReader(body))))

		close(w.journal.hang)
		synctest.Wait()
		resultOf(t, w.do(postTo(token, strings.NewReader(body))))
	})
}

func TestAFloodOfOneWebhookLeavesTheOthersTheirShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, withOther(t), func(w *world) { w.journal.hang = make(chan struct{}) })
		defer close(w.journal.hang)
		// More than the whole budget: without a share of its own, the other would have
		// nothing left.
		body := strings.Repeat("x", 50_000)
		flood := make([]*http.Request, 1500)
		for i := range flood {
			flood[i] = postTo(token, strings.NewReader(body))
		}
		done := make(chan map[int]int)
		go func() { done <- w.statuses(flood) }()
		synctest.Wait() // its quarter is full, and all that did not fit is answered
		const calm = 100
		taken := 0
		for range calm / 10 {
			few := make([]*http.Request, 10)
			for i := range few {
				few[i] = postTo(other, strings.NewReader(body))
			}
			taken += w.statuses(few)[http.StatusOK]
		}
		flooded := <-done
		if taken != calm {
			t.Errorf("beside a flood, %d of %d calls of another webhook were taken", taken, calm)
		}
		if flooded[http.StatusServiceUnavailable] != len(flood) {
			t.Errorf("the flood was answered %v", flooded)
		}
		t.Logf("beside a flood of %d calls that the log does not take, %d of %d calls of another webhook were taken", len(flood), taken, calm)
	})
}

// stuck is a body that ends only when it is let go.
type stuck struct {
	io.Reader
	letGo chan struct{}
}

func (s stuck) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF {
		<-s.letGo
	}
	return n, err
}

// anonymous is a form of unknown length that brings so many bytes and gets stuck.
func anonymous(bytes int, letGo chan struct{}, address string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, receive, stuck{strings.NewReader(strings.Repeat("x", bytes)), letGo})
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.ContentLength = -1
	r.RemoteAddr = address + ":1234"
	return r
}

func TestUnidentifiedBodiesShareAnEighth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		letGo := make(chan struct{})
		answers := make(chan int, 20)
		for i := range cap(answers) {
			r := anonymous(300_000, letGo, "192.0.2."+strconv.Itoa(i))
			go func() { answers <- w.do(r).Code }()
			synctest.Wait() // it has taken 1 MiB of the 8, or was refused
		}
		resultOf(t, w.post("text/plain", "x"))
		close(letGo)
		counts := map[int]int{}
		for range cap(answers) {
			counts[<-answers]++
		}
		if counts[http.StatusNotFound] != 8 || counts[http.StatusServiceUnavailable] != 12 {
			t.Errorf("they were answered %v", counts)
		}
		resultOf(t, w.do(newPost(receive, "application/json", `{"token":"`+token+`","x":"`+strings.Repeat("x", 400_000)+`"}`)))
		if log := w.log.String(); strings.Contains(log, "request failed") {
			t.Errorf("each refusal is logged: %s", log)
		}
	})
}

func TestAnAddressHasFourUnidentifiedBodies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		letGo := make(chan struct{})
		done := make(chan map[int]int)
		go func() {
			four := make([]*http.Request, 4)
			for i := range four {
				four[i] = anonymous(1, letGo, "192.0.2.7")
			}
			done <- w.statuses(four)
		}()
		synctest.Wait()
		rec := w.do(anonymous(1, letGo, "192.0.2.7"))
		wantProblem(t, rec, fault.TooMany)
		if rec.Header().Get("Retry-After") == "" || rec.Header().Get("Connection") != "close" {
			t.Errorf("headers %v", rec.Header())
		}
		known := withToken(newPost(receive, "text/plain", "x"))
		known.RemoteAddr = "192.0.2.7:1234"
		resultOf(t, w.do(known))
		elsewhere := newPost(receive, "application/json", `{"token":"`+token+`"}`)
		elsewhere.RemoteAddr = "192.0.2.8:1234"
		resultOf(t, w.do(elsewhere))
		close(letGo)
		if got := <-done; got[http.StatusNotFound] != 4 {
			t.Errorf("the four were answered %v", got)
		}
		wantProblem(t, w.do(anonymous(1, letGo, "192.0.2.7")), fault.NotFound)
	})
}

// A raw message doubles where each byte has to be escaped, and is refused before
// it is made where that is too much.
func TestControlCharactersDoNotBlowUpMemory(t *testing.T) {
	w := newWorld(t, webhookWith(t, func(g *webhook.Gate) {
		g.PayloadType, g.MaxPayloadLength = webhook.Raw, webhook.MaxPayloadLength
	}))
	post := func(character string, size int) int {
		return w.post("text/plain", strings.Repeat(character, size)).Code
	}
	if got := post("\x01", webhook.MaxPayloadLength); got != http.StatusUnsupportedMediaType {
		t.Errorf("4 MiB that are no text: %d", got)
	}
	if got := post("\n", webhook.MaxPayloadLength); got != http.StatusRequestEntityTooLarge {
		t.Errorf("4 MiB that would be over 8 MiB: %d", got)
	}
	if got := post("\n", webhook.MaxPayloadLength-1024); got != http.StatusOK {
		t.Errorf("just less: %d", got)
	}

	defer debug.SetGCPercent(debug.SetGCPercent(10))
	body := strings.Repeat("\n", webhook.MaxPayloadLength-1024)
	flood := make([]*http.Request, 30)
	for i := range flood {
		flood[i] = postTo(token, strings.NewReader(body))
	}
	w.journal.refuse = refuseOn("svc.event.webhook.orders", fault.New(fault.Unavailable, "Full."))
	before := inUse()
	peak, stop := watchHeap()
	answers := w.statuses(flood)
	stop()
	if highest := peak.Load() - before; highest > 2*budget {
		t.Errorf("%d MiB were in use", highest>>20)
	}
	w.journal.refuse = nil
	if got := post("\n", webhook.MaxPayloadLength-1024); got != http.StatusOK {
		t.Errorf("after all: %d", got)
	}
	t.Logf("%d calls of 4 MiB at once: answers %v, at most %d MiB in use beside a budget of %d MiB", len(flood), answers, (peak.Load()-before)>>20, budget>>20)
}

// watchHeap samples the bytes of all objects until it is stopped.
func watchHeap() (highest *atomic.Int64, stop func()) {
	highest = new(atomic.Int64)
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
		for tick := time.NewTicker(time.Millisecond); ; {
			metrics.Read(sample)
			highest.Store(max(highest.Load(), int64(sample[0].Value.Uint64())))
			select {
			case <-ended:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	return highest, func() { close(ended); <-done }
}
