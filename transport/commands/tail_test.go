package commands_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/commands"
)

func TestTheEventOfACallIsShown(t *testing.T) {
	w := newTraces(t)
	w.accept(1, "webhook.orders")
	w.accept(2, "webhook.stock")
	get := func(n int) (any, error) {
		return w.dispatcher().Run(t.Context(), request(t, "event.get", tracers, "correlationId="+callID(n)))
	}
	if answer, err := get(1); err != nil || string(answer.(json.RawMessage)) != `{"eventKey":"webhook.orders","payload":"<&>"}` {
		t.Errorf("got %s, %v", answer, err)
	}
	_, hidden := get(2)
	_, unknown := get(3)
	if !fault.Is(hidden, fault.NotFound) || fault.From(hidden).Detail != fault.From(unknown).Detail {
		t.Errorf("what may not be read is told from what is not: %v, %v", hidden, unknown)
	}
	t.Run("unless it is not the one that was accepted", func(t *testing.T) {
		at := record.Position{Topic: "svc.event.webhook.orders", Offset: 1}
		altered := w.events[at]
		altered.Value = []byte(`{"eventKey":"webhook.orders","payload":"other"}`)
		w.events[at] = altered
		if _, err := get(1); !fault.Is(err, fault.Internal) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("unless it lies where no event of its key does", func(t *testing.T) {
		w.found[0].Event.Topic = record.TopicCommand
		if _, err := get(1); !fault.Is(err, fault.NotFound) {
			t.Errorf("got %v", err)
		}
	})
}

// tail runs event.tail and gives the numbers of the calls.
func (w *traceWorld) tail(ctx context.Context, params ...string) (numbers string, next string, err error) {
	w.t.Helper()
	answer, err := w.dispatcher().Run(ctx, request(w.t, "event.tail", tracers, append(params, "eventKey=webhook.orders")...))
	if err != nil {
		return "", "", err
	}
	page := answer.(commands.Page[commands.Tailed])
	for _, i := range page.Items {
		numbers += i.TraceID[len(i.TraceID)-1:]
		if len(i.Event) == 0 {
			numbers += "?"
		}
	}
	return numbers, page.Next, nil
}

func TestEventTail(t *testing.T) {
	w := newTraces(t)
	for n := range 5 {
		w.accept(n, []string{"webhook.orders", "webhook.stock"}[n%2])
	}
	t.Run("begins at the end without a cursor, and with what the log has on top", func(t *testing.T) {
		last := w.found[4]
		w.found, w.unfolded = w.found[:4], append(w.unfolded, last)
		numbers, next, err := w.tail(t.Context(), "wait=25")
		if err != nil || numbers != "" {
			t.Fatalf("got %q, %v", numbers, err)
		}
		if numbers, _, err = w.tail(t.Context(), "cursor="+next); err != nil || numbers != "" {
			t.Errorf("behind the end: %q, %v", numbers, err)
		}
	})
	t.Run("goes on where it ended", func(t *testing.T) {
		first, next, err := w.tail(t.Context(), "cursor=start", "limit=3")
		if err != nil {
			t.Fatal(err)
		}
		second, _, err := w.tail(t.Context(), "cursor="+next)
		if err != nil || first+" "+second != "02 4" {
			t.Errorf("got %s and %s, %v", first, second, err)
		}
	})
	t.Run("leaves out an event that cannot be read, and goes on", func(t *testing.T) {
		delete(w.events, record.Position{Topic: "svc.event.webhook.orders", Offset: 2})
		if numbers, _, err := w.tail(t.Context(), "cursor=start"); err != nil || numbers != "02?4" {
			t.Errorf("got %s, %v", numbers, err)
		}
	})
	t.Run("fails while the log does not answer", func(t *testing.T) {
		w.broken = errDown
		defer func() { w.broken = nil }()
		if _, _, err := w.tail(t.Context(), "cursor=start"); !fault.Is(err, fault.Unavailable) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("gives what it has when the log does not answer any more", func(t *testing.T) {
		w.broken, w.brokenFrom = errDown, 4
		defer func() { w.broken, w.brokenFrom = nil, 0 }()
		first, next, err := w.tail(t.Context(), "cursor=start")
		if err != nil || first != "02?" {
			t.Fatalf("got %s, %v", first, err)
		}
		w.broken = nil
		if second, _, err := w.tail(t.Context(), "cursor="+next); err != nil || second != "4" {
			t.Errorf("then %s, %v", second, err)
		}
	})
	t.Run("looks behind calls that do not count", func(t *testing.T) {
		first, next, err := w.tail(t.Context(), "cursor=start", "limit=1")
		if err != nil || first != "0" {
			t.Fatalf("got %s, %v", first, err)
		}
		if second, _, err := w.tail(t.Context(), "cursor="+next, "limit=1"); err != nil || second != "2?" {
			t.Errorf("then %q, %v", second, err)
		}
	})
	t.Run("ends an answer that is large enough", func(t *testing.T) {
		at := record.Position{Topic: "svc.event.webhook.orders", Offset: 0}
		large := w.events[at]
		large.Value = []byte(`"` + strings.Repeat("x", 9<<20) + `"`)
		w.events[at] = large
		digest := record.ContentDigest(nil, large.Value)
		w.found[0].Event.SHA256 = hexOf(digest)
		first, next, err := w.tail(t.Context(), "cursor=start")
		if err != nil {
			t.Fatal(err)
		}
		if second, _, err := w.tail(t.Context(), "cursor="+next); err != nil || first != "0" || second != "2?4" {
			t.Errorf("got %s and %s, %v", first, second, err)
		}
	})
	for _, bad := range []string{"wait=26", "wait=-1", "limit=0", "cursor=%", "cursor=start limit=1001"} {
		t.Run("refuses "+bad, func(t *testing.T) {
			if _, _, err := w.tail(t.Context(), strings.Fields(bad)...); !fault.Is(err, fault.Invalid) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestEventTailWaits(t *testing.T) {
	for name, c := range map[string]struct {
		meanwhile func(w *traceWorld, leave func())
		want      string
		fault     fault.Kind
		after     time.Duration
	}{
		"until a call comes": {meanwhile: func(w *traceWorld, _ func()) { w.come() }, want: "1", after: time.Second},
		"until the caller leaves, or is not to wait any more": {meanwhile: func(_ *traceWorld, leave func()) { leave() }, after: time.Second},
		"until the time is over":                              {meanwhile: func(*traceWorld, func()) {}, after: 20 * time.Second},
		"and shows nothing to whom it may not any more": {meanwhile: func(w *traceWorld, _ func()) {
			w.state.policy = access.Policy{}
			w.come()
		}, fault: fault.Forbidden, after: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newTraces(t)
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				began := time.Now()
				var numbers, next string
				var err error
				answered := make(chan struct{})
				go func() {
					numbers, next, err = w.tail(ctx, "cursor=start", "wait=20")
					close(answered)
				}()
				time.Sleep(time.Second)
				synctest.Wait() // it waits
				c.meanwhile(w, leave)
				<-answered
				if time.Since(began) != c.after {
					t.Errorf("waited for %s, want %s", time.Since(began), c.after)
				}
				if c.fault != 0 {
					if !fault.Is(err, c.fault) {
						t.Errorf("got %v", err)
					}
				} else if err != nil || numbers != c.want || (next == "") != (c.want == "") {
					t.Errorf("got %s, next %q, %v", numbers, next, err)
				}
			})
		})
	}
}

// come folds a call and tells those who wait.
func (w *traceWorld) come() {
	w.accept(1, "webhook.orders")
	changed := w.changed
	w.changed = make(chan struct{})
	close(changed)
}

func hexOf(d record.Digest) string { return hex.EncodeToString(d[:]) }
