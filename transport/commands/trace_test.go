package commands_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/commands"
)

var tracers = []string{"tracer"}

// traceWorld has, besides calls with their runs, their traces and events.
type traceWorld struct {
	*runWorld
	found []call.Found // the oldest first
	// unfolded are those that only the log has.
	unfolded   []call.Found
	events     map[record.Position]record.Record
	broken     error // of reading events, from the offset brokenFrom on
	brokenFrom int64
	receipt    func(context.Context, record.Position) (any, error)
	changed    chan struct{}
}

func newTraces(t *testing.T) *traceWorld {
	t.Helper()
	w := &traceWorld{runWorld: newRuns(t), events: map[record.Position]record.Record{}, changed: make(chan struct{})}
	w.state.policy = access.Policy{{
		Name: "tracer", Roles: tracers, Commands: []string{"trace.get", "event.get", "event.tail"}, Keys: []string{"webhook.orders"},
	}}
	return w
}

func (w *traceWorld) dispatcher() *commands.Dispatcher {
	d := w.runWorld.dispatcher()
	d.Traces, d.Events, d.Receipt = w, w, w.receipt
	return d
}

func (w *traceWorld) Find(id string) (call.Found, bool, error) {
	for _, f := range w.found {
		if f.CorrelationID == id {
			return f, true, nil
		}
	}
	return call.Found{}, false, nil
}

func (w *traceWorld) Search(s call.Search, after string, limit int) (found []call.Found, next string, err error) {
	for i := len(w.found) - 1 - len(after); i >= 0; i-- {
		if len(found) == limit {
			return found, strings.Repeat("x", len(w.found)-1-i), nil
		}
		if s.Takes(w.found[i].Accepted) {
			found = append(found, w.found[i])
		}
	}
	return found, "", nil
}

func (w *traceWorld) Tail(key, after string, limit int, take func(call.Found) bool) (string, error) {
	for len(after) < len(w.found) && limit > 0 && (w.found[len(after)].EventKey != key || take(w.found[len(after)])) {
		after += "x"
		limit--
	}
	return after, nil
}

func (w *traceWorld) End(string) (string, error) { return strings.Repeat("x", len(w.found)), nil }

func (w *traceWorld) Watch(string) (<-chan struct{}, func()) { return w.changed, func() {} }

func (w *traceWorld) Current(context.Context) error {
	if w.down != nil {
		return w.down
	}
	w.found, w.unfolded = append(w.found, w.unfolded...), nil
	return nil
}

func (w *traceWorld) ReadAt(_ context.Context, at record.Position) (record.Record, error) {
	if at.Offset < w.brokenFrom {
		return w.events[at], nil
	}
	return w.events[at], w.broken
}

// accept makes the n-th call, to a key, with runs that ended as said.
func (w *traceWorld) accept(n int, key string, runs ...string) call.Found {
	w.t.Helper()
	event := record.Record{
		Position: record.Position{Topic: record.EventTopic(key), Offset: int64(n)},
		Value:    []byte(`{"eventKey":"` + key + `","payload":"<&>"}`),
	}
	w.events[event.Position] = event
	h := w.call(n, runs...)
	h.EventKey, h.Last6, h.Method, h.Size, h.Address = key, "abc123", "POST", 7, "192.0.2.1"
	h.Event = call.EventAt(event.Position, record.ContentDigest(nil, event.Value))
	w.calls[h.CorrelationID] = h
	f := call.Found{Accepted: h.Accepted, Position: record.Position{Topic: record.TopicCall, Partition: 2, Offset: int64(n)}, Logged: h.Received.Add(time.Millisecond)}
	w.found = append(w.found, f)
	return f
}

func (w *traceWorld) traces(roles []string, params ...string) (lines []string, err error) {
	w.t.Helper()
	answer, err := w.dispatcher().Run(w.t.Context(), request(w.t, "trace.get", roles, params...))
	if err != nil {
		return nil, err
	}
	for _, c := range answer.(commands.Page[commands.Trace]).Items {
		lines = append(lines, c.TraceID[len(c.TraceID)-1:]+" "+string(c.Status))
	}
	return lines, nil
}

func TestACallIsShownWithItsStages(t *testing.T) {
	w := newTraces(t)
	f := w.accept(1, "webhook.orders", "orders@7 error", "stock@1 ok")
	shown := func() string {
		t.Helper()
		answer, err := w.dispatcher().Run(t.Context(), request(t, "trace.get", tracers, "correlationId="+callID(1)))
		if err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(answer)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const times = `"started":"2026-03-02T08:01:01Z","finished":"2026-03-02T08:01:02Z"`
	facts := `{"items":[{"traceId":"abc123:0000000001","correlationId":"` + callID(1) + `","eventKey":"webhook.orders","last6":"abc123","status":"error",` +
		`"received":"2026-03-02T08:01:00Z","logged":"2026-03-02T08:01:00.001Z","completed":"2026-03-02T08:01:02Z","method":"POST","size":7,"address":"192.0.2.1",` +
		`"event":{"topic":"svc.event.webhook.orders","partition":0,"offset":1,"sha256":"` + f.Event.SHA256 + `"},"call":{"topic":"svc.call","partition":2,"offset":1},"runs":[`
	step := `"steps":[{"path":"2","command":"webhook.get",` + times + `,"attempt":1,"failed":`
	want := facts + `{"pipeline":"orders","version":7,"attempt":1,"status":"error",` + times + `,"error":"step-failed",` + step + `true}]},` +
		`{"pipeline":"stock","version":1,"attempt":1,"status":"ok",` + times + `,` + step + `false}]}]}]}`
	if diff := cmp.Diff(want, shown()); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	t.Run("and without the key ring with all but the steps", func(t *testing.T) {
		w.ring = newRing(t)
		want := facts + `{"pipeline":"orders","version":7,"attempt":1,"status":"error",` + times + `,"error":"run-failed"},` +
			`{"pipeline":"stock","version":1,"attempt":1,"status":"ok",` + times + `}]}]}`
		if diff := cmp.Diff(want, shown()); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
	})
}

func TestTraceGet(t *testing.T) {
	w := newTraces(t)
	w.accept(1, "webhook.orders", "orders@7")
	w.accept(2, "webhook.stock")
	w.accept(3, "webhook.orders")
	tests := []struct {
		name   string
		roles  []string
		params []string
		want   []string
	}{
		{"finds the calls of a webhook", administrator, []string{"last6=abc123"}, []string{"3 ok", "2 ok", "1 error"}}, // its deadline has passed
		{"finds what the caller may read", tracers, []string{"last6=abc123"}, []string{"3 ok", "1 error"}},
		{"finds the calls of a key", administrator, []string{"last6=abc123", "eventKey=webhook.stock"}, []string{"2 ok"}},
		{"finds calls between two times", administrator, []string{"last6=abc123", "from=2026-03-02T09:02:00+01:00", "to=2026-03-02T08:03:00Z"}, []string{"2 ok"}},
		{"finds a call by its trace id", tracers, []string{"traceId=abc123:0000000003"}, []string{"3 ok"}},
		{"finds a call by its id", tracers, []string{"correlationId=" + callID(3)}, []string{"3 ok"}},
		{"finds no call that the caller may not read", tracers, []string{"correlationId=" + callID(2)}, nil},
		{"finds no call that is unknown", tracers, []string{"correlationId=" + callID(9)}, nil},
		{"finds no call that was not asked for", tracers, []string{"correlationId=" + callID(3), "eventKey=webhook.stock"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := w.traces(tt.roles, tt.params...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
		})
	}
	for _, bad := range []string{"", "last6=abc12", "last6=ABC123", "last6=abc123 traceId=x", "last6=abc123 receipt=true", "last6=abc123 from=now", "last6=abc123 limit=0", "last6=abc123 cursor=%"} {
		t.Run("refuses "+bad, func(t *testing.T) {
			if _, err := w.traces(administrator, strings.Fields(bad)...); !fault.Is(err, fault.Invalid) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("is refused to those without the right, on the record", func(t *testing.T) {
		before := len(w.appended)
		if _, err := w.traces(readers, "last6=abc123"); !fault.Is(err, fault.Forbidden) || len(w.appended) != before+1 {
			t.Errorf("got %v, %d records", err, len(w.appended)-before)
		}
	})
}

func TestACallThatIsOnTheLogOnlyIsFound(t *testing.T) {
	for _, params := range []string{"correlationId=" + callID(1), "traceId=abc123:0000000001"} {
		w := newTraces(t)
		w.accept(1, "webhook.orders")
		w.found, w.unfolded = nil, w.found
		w.down = errDown
		if got, err := w.traces(tracers, params); err != nil || len(got) != 0 {
			t.Errorf("%s with the log down: %v, %v", params, got, err)
		}
		w.down = nil
		if got, err := w.traces(tracers, params); err != nil || len(got) != 1 {
			t.Errorf("%s: %v, %v", params, got, err)
		}
	}
}

func TestAReceiptIsGivenWhereThereIsOne(t *testing.T) {
	w := newTraces(t)
	f := w.accept(1, "webhook.orders")
	ask := func() (any, error) {
		return w.dispatcher().Run(t.Context(), request(t, "trace.get", tracers, "receipt=true", "correlationId="+callID(1)))
	}
	w.receipt = func(_ context.Context, at record.Position) (any, error) { return "proof of " + at.String(), nil }
	answer, err := ask()
	if err != nil || answer.(commands.Page[commands.Trace]).Items[0].Receipt != "proof of "+f.Position.String() {
		t.Errorf("got %+v, %v", answer, err)
	}
	w.receipt = func(context.Context, record.Position) (any, error) {
		return nil, fault.New(fault.Conflict, "There is no checkpoint yet.")
	}
	if _, err := ask(); !fault.Is(err, fault.Conflict) {
		t.Errorf("before the checkpoint: %v", err)
	}
}
