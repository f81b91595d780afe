package httpapi_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/httpapi"
)

// observations are what the handlers told.
type observations struct {
	mu       sync.Mutex
	calls    []httpapi.Observed
	commands map[string][]error
}

func (o *observations) call(c httpapi.Observed) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.calls = append(o.calls, c)
}

func (o *observations) command(name string, _ time.Duration, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.commands == nil {
		o.commands = map[string][]error{}
	}
	o.commands[name] = append(o.commands[name], err)
}

func TestACallIsObservedWithTheStagesThatItCompleted(t *testing.T) {
	const key = "webhook.orders"
	refuse := func(topic string) func(*world) {
		return func(w *world) {
			w.journal.refuse = func(_ context.Context, r *record.Record) error {
				if strings.HasPrefix(r.Topic, topic) {
					return errors.New("no broker")
				}
				return nil
			}
		}
	}
	tests := map[string]struct {
		adjust func(*world)
		do     func(*world)
		key    string
		kind   fault.Kind // Internal means that the call was accepted
		stages int
	}{
		"accepted":            {do: func(w *world) { w.post("text/plain", "x") }, key: key, stages: 3},
		"accepted, redirects": {do: func(w *world) { w.get(receive + "?pollingRedirectEnabled=true&token=" + token) }, key: key, stages: 3},
		"an unknown token":    {do: func(w *world) { w.get(receive + "?token=no") }, kind: fault.NotFound},
		"a refused body":      {do: func(w *world) { w.post("text/plain", strings.Repeat("x", 600_000)) }, key: key, kind: fault.TooLarge},
		"no event":            {adjust: refuse(record.EventTopicPrefix), do: func(w *world) { w.post("text/plain", "x") }, key: key, kind: fault.Unavailable, stages: 1},
		"no accepted record":  {adjust: refuse(record.TopicCall), do: func(w *world) { w.post("text/plain", "x") }, key: key, kind: fault.Unavailable, stages: 2},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if tt.adjust != nil {
				tt.adjust(w)
			}
			tt.do(w)
			if len(w.seen.calls) != 1 {
				t.Fatalf("observed %d times", len(w.seen.calls))
			}
			seen := w.seen.calls[0]
			if seen.EventKey != tt.key || (tt.kind == fault.Internal) != (seen.Err == nil) || seen.Err != nil && !fault.Is(seen.Err, tt.kind) {
				t.Errorf("observed as %+v", seen)
			}
			took := []time.Duration{seen.Body, seen.Event, seen.Accepted}
			for i, d := range took {
				if (d > 0) != (i < tt.stages) {
					t.Errorf("stages %v, want %d of them", took, tt.stages)
				}
			}
			if seen.Whole < seen.Body+seen.Event+seen.Accepted || seen.Whole == 0 {
				t.Errorf("the whole took %v, its stages %v", seen.Whole, took)
			}
		})
	}
}

func TestCommandsAreObserved(t *testing.T) {
	w := newWorld(t)
	w.do(newPost(put, formType, "eventKey=webhook.a"))
	w.do(newPost(put, formType, "unheard=of"))
	w.do(newPost("/api/v3/command/unknown", formType, ""))
	if seen := w.seen.commands["webhook.put"]; len(seen) != 2 || seen[0] != nil || !fault.Is(seen[1], fault.Invalid) || len(w.seen.commands) != 1 {
		t.Errorf("observed %v", w.seen.commands)
	}
	w.auth = fault.New(fault.Unauthenticated, "Who?")
	w.do(newPost("/api/v3/pipeline", "application/yaml", "pipeline: []"))
	if seen := w.seen.commands["pipeline.run"]; len(seen) != 1 || !fault.Is(seen[0], fault.Unauthenticated) {
		t.Errorf("observed %v", w.seen.commands)
	}
}

func TestTheLoadIsWhatIsHeld(t *testing.T) {
	w := newWorld(t, listenedBy("p@1"))
	if load := w.api.Load(); load != (httpapi.Load{BudgetLimit: budget}) {
		t.Errorf("a service at rest has %+v", load)
	}
	w.journal.hang = make(chan struct{})
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		w.post("text/plain", "x")
	}()
	for w.api.Load().BudgetUsed == 0 {
		select {
		case <-t.Context().Done():
			t.Fatal("nothing is taken of the budget")
		case <-answered:
			t.Fatal("the call is answered")
		default:
			runtime.Gosched()
		}
	}
	close(w.journal.hang)
	<-answered
	wantStatus(t, w.get(receive+"?token="+token), http.StatusOK)
	if load := w.api.Load(); load.BudgetUsed != 0 {
		t.Errorf("a service at rest has %+v", load)
	}
}

// Else a stranger who asks and leaves could make it look as if the service failed.
func TestThatACallerLeavesIsNoFailureOfTheService(t *testing.T) {
	ctx, leave := context.WithCancel(t.Context())
	w := newWorld(t, func(w *world) {
		w.fold = func(gates) error { leave(); return context.Canceled }
	})
	w.do(httptest.NewRequestWithContext(ctx, http.MethodGet, receive+"?token=00000000-0000-4000-8000-000000000000", nil))
	if len(w.seen.calls) != 1 || !fault.Is(w.seen.calls[0].Err, fault.Invalid) {
		t.Errorf("observed %+v", w.seen.calls)
	}
}
