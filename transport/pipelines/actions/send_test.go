package actions_test

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/pipelines/actions"
)

func sends(keys ...string) access.Rule {
	return rule(access.Anonymous, []string{"event.send", "message.send"}, keys)
}

// sent is what the last event.send wrote: the event, and its accepted record.
func (w *world) sent() (event, accepted record.Record, a call.Accepted) {
	w.t.Helper()
	if len(w.log) < 2 {
		w.t.Fatal("nothing was sent")
	}
	event, accepted = w.log[len(w.log)-2], w.log[len(w.log)-1]
	decoded, err := call.Decode(&accepted)
	if err != nil {
		w.t.Fatal(err)
	}
	return event, accepted, decoded.(call.Accepted)
}

func TestASentEventIsAcceptedLikeACall(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sends("orders.*"))
	w.listeners = []string{"q@1", "r@7"}
	payload := map[string]any{"html": "<b>", "n": json.Number("1.0")}
	have, err := w.actions().Steps(triggered("ada")).
		Do(t.Context(), step(access.Anonymous, "event.send", map[string]any{"eventKey": "orders.new", "payload": payload}))
	if err != nil {
		t.Fatal(err)
	}
	event, accepted, a := w.sent()
	if event.Topic != "svc.event.orders.new" || accepted.Topic != record.TopicCall || accepted.Partition != 5 {
		t.Errorf("written to %s and %s", event.Position, accepted.Position)
	}
	want := `{"eventKey":"orders.new","traceId":"abcdef:aaaaaaaaaa","correlationId":"` + a.CorrelationID +
		`","received":"2027-01-15T08:00:00.123Z","method":"event.send","contentType":"application/json","headers":{},"query":{},"payload":{"html":"<b>","n":1.0}}`
	if string(event.Value) != want {
		t.Errorf("the event is %s, want %s", event.Value, want)
	}
	digest := record.ContentDigest(event.Headers, event.Value)
	if a.Event.SHA256 != hex.EncodeToString(digest[:]) || a.Event.Offset != event.Offset || a.Event.Topic != event.Topic {
		t.Errorf("the accepted record names %+v", a.Event)
	}
	if diff := cmp.Diff(w.listeners, a.Listeners); diff != "" || a.TraceID != "abcdef:aaaaaaaaaa" || a.Last6 != "abcdef" || a.EventKey != "orders.new" {
		t.Errorf("accepted is %+v", a)
	}
	for _, r := range []record.Record{event, accepted} {
		if r.Header(record.HeaderDepth) != "1" {
			t.Errorf("the depth on %s is %q", r.Topic, r.Header(record.HeaderDepth))
		}
	}
	if event.TraceContext().IsZero() || event.Header("ce_type") != "orders.new" || event.Header("ce_id") != a.CorrelationID {
		t.Errorf("the headers are %v", event.Headers)
	}
	shown, err := json.Marshal(have)
	if err != nil || !strings.Contains(string(shown), a.CorrelationID) {
		t.Errorf("the step gives %s, %v", shown, err)
	}
}

func TestTheTimeOfASentEventIsWhenItWasOnTheLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sends("orders.*"))
	ticking := time.UnixMilli(1_800_000_000_000)
	every := func(_ *actions.Config, d *actions.Deps) {
		d.Now = func() time.Time {
			ticking = ticking.Add(time.Second)
			return ticking
		}
	}
	if _, err := w.actions(every).Steps(triggered("ada")).
		Do(t.Context(), step(access.Anonymous, "event.send", map[string]any{"eventKey": "orders.new", "payload": 1})); err != nil {
		t.Fatal(err)
	}
	event, accepted, a := w.sent()
	if !event.Time.Equal(a.Received) || !accepted.Time.After(a.Received) {
		t.Errorf("received %s, the event is of %s and the accepted record of %s", a.Received, event.Time, accepted.Time)
	}
}

func TestARepeatedEventHasTheSameID(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sends("*"))
	send := func(w *world, try int) string {
		c := step(access.Anonymous, "event.send", map[string]any{"eventKey": "orders.new"})
		c.Try = try
		if _, err := w.actions().Steps(triggered("ada")).Do(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		_, _, a := w.sent()
		return a.CorrelationID
	}
	first, second, other := send(w, 1), send(w, 1), send(w, 2)
	if first != second || first == other {
		t.Errorf("the ids are %s, %s and %s", first, second, other)
	}
	// Whoever knows the call's id, but not the ring, cannot poll for the event's result.
	if send(newWorld(t, sends("*")), 1) == first {
		t.Error("the id can be told without the ring")
	}
}

func TestWhatMayNotBeSentIsNot(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command string
		key     string
		depth   int
		kind    fault.Kind
	}{
		"a webhook's key":              {"event.send", "webhook.orders", 0, fault.Forbidden},
		"the group of webhooks":        {"event.send", "webhook", 0, fault.Forbidden},
		"upper case":                   {"event.send", "Orders", 0, fault.Invalid},
		"an underscore":                {"event.send", "orders_a", 0, fault.Invalid},
		"a wildcard":                   {"event.send", "orders.*", 0, fault.Invalid},
		"an empty group":               {"event.send", "orders..a", 0, fault.Invalid},
		"nothing":                      {"event.send", "", 0, fault.Invalid},
		"too long a key":               {"event.send", strings.Repeat("a", 240), 0, fault.Invalid},
		"a key without the right":      {"event.send", "secrets.a", 0, fault.Forbidden},
		"the ninth event of a chain":   {"event.send", "orders.a", 8, fault.Invalid},
		"a topic that is not listed":   {"message.send", "orders.a", 0, fault.Forbidden},
		"a topic of the service":       {"message.send", "svc.call", 0, fault.Forbidden},
		"a topic of the service, made": {"message.send", "svc.event.webhook.a", 0, fault.Forbidden},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sends("webhook.*", "orders.*", "orders", "Orders", "svc.*"))
			o := triggered("root")
			o.Trigger.Depth = c.depth
			param := "eventKey"
			if c.command == "message.send" {
				param = "key"
			}
			_, err := w.actions().Steps(o).Do(t.Context(), step(access.Anonymous, c.command, map[string]any{param: c.key}))
			if !fault.Is(err, c.kind) || len(w.log) != 0 {
				t.Errorf("the answer is %v, and the log has %d records", err, len(w.log))
			}
		})
	}
}

func TestTheEighthEventOfAChainIsSent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sends("*"))
	o := triggered("ada")
	o.Trigger.Depth = 7
	if _, err := w.actions().Steps(o).Do(t.Context(), step(access.Anonymous, "event.send", map[string]any{"eventKey": "orders.a"})); err != nil {
		t.Fatal(err)
	}
	if event, _, _ := w.sent(); event.Header(record.HeaderDepth) != "8" || !strings.HasSuffix(string(event.Value), `"payload":"the body"}`) {
		t.Errorf("sent is %s with depth %s", event.Value, event.Header(record.HeaderDepth))
	}
}

func TestAPipelineThatAnotherRunsGoesOnWithItsChain(t *testing.T) {
	t.Parallel()
	w := newWorld(t, sends("*"))
	a := w.actions()
	w.nested = func(ctx context.Context) (any, error) {
		return a.Adhoc(ctx, adhoc(access.Anonymous, `{pipeline: [{event.send: {eventKey: orders.a}}]}`))
	}
	for depth, ok := range map[int]bool{7: true, 8: false} {
		o := triggered("ada")
		o.Trigger.Depth = depth
		_, err := a.Steps(o).Do(t.Context(), step(access.Anonymous, "pipeline.run", map[string]any{"name": "other"}))
		if ok != (err == nil) || !ok && !fault.Is(err, fault.Invalid) {
			t.Errorf("at a depth of %d: %v", depth, err)
		}
	}
	if event, _, sent := w.sent(); len(w.log) != 2 || event.Header(record.HeaderDepth) != "8" || sent.TraceID != "abcdef:aaaaaaaaaa" {
		t.Errorf("%d records, the depth is %s, the trace %s", len(w.log), event.Header(record.HeaderDepth), sent.TraceID)
	}
}

func TestAMessageIsWrittenAsItIs(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		payload     any
		value, kind string
	}{
		"a text":  {"plain <b>", "plain <b>", "text/plain; charset=utf-8"},
		"bytes":   {[]byte{0, 1}, "\x00\x01", "application/octet-stream"},
		"a value": {map[string]any{"a": "<b>"}, `{"a":"<b>"}`, "application/json"},
		"nothing": {nil, "null", "application/json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, sends("orders"))
			params := map[string]any{"key": "orders", "payload": c.payload}
			if _, err := w.actions().Steps(triggered("ada")).Do(t.Context(), step(access.Anonymous, "message.send", params)); err != nil {
				t.Fatal(err)
			}
			r := w.log[0]
			if r.Topic != "orders" || string(r.Value) != c.value || r.Header("content-type") != c.kind || r.Header(record.HeaderTraceID) != "abcdef:aaaaaaaaaa" {
				t.Errorf("written is %+v", r)
			}
		})
	}
}

func TestWhatTheLogDoesNotTakeFailsTheStep(t *testing.T) {
	t.Parallel()
	for command, params := range map[string]map[string]any{
		"event.send": {"eventKey": "orders.a"}, "message.send": {"key": "orders"},
	} {
		w := newWorld(t, sends("*"))
		w.refuses = fault.New(fault.Unavailable, "The log does not answer.")
		if _, err := w.actions().Steps(triggered("ada")).Do(t.Context(), step(access.Anonymous, command, params)); !fault.Is(err, fault.Unavailable) {
			t.Errorf("%s: %v", command, err)
		}
	}
}
