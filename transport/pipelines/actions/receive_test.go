package actions_test

import (
	"testing"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/transport/pipelines/actions"
)

func TestTheNewestEventIsReceived(t *testing.T) {
	t.Parallel()
	receives := func(user string, keys ...string) access.Rule { return rule(user, []string{"event.receive"}, keys) }
	all := []access.Rule{receives(access.Anonymous, "*"), receives("ada", "webhook.a", "webhook.b")}
	for name, c := range map[string]struct {
		owner  string
		rules  []access.Rule
		params map[string]any
		want   string // the n of the event, or the kind of fault
	}{
		"of a key":                          {"ada", all, map[string]any{"eventKey": "webhook.a"}, "2"},
		"of a pattern":                      {"ada", all, map[string]any{"eventKey": "webhook.*"}, "3"},
		"of a trace":                        {"ada", all, map[string]any{"eventKey": "#", "traceId": "t1"}, "1"},
		"of a trace, that the call led to":  {"ada", all, map[string]any{"eventKey": "webhook.b", "traceId": "t2"}, "3"},
		"of a trace of another key":         {"ada", all, map[string]any{"eventKey": "webhook.b", "traceId": "t1"}, "not-found"},
		"of a trace that is not":            {"ada", all, map[string]any{"eventKey": "#", "traceId": "t9"}, "not-found"},
		"that the owner may not receive":    {"ada", all, map[string]any{"eventKey": "webhook.c"}, "not-found"},
		"by an owner who may receive all":   {"root", all, map[string]any{"eventKey": "webhook.c"}, "4"},
		"that the user may not receive":     {"root", []access.Rule{receives(access.Anonymous, "webhook.a")}, map[string]any{"eventKey": "webhook.#"}, "2"},
		"of a trace that is not to be read": {"ada", all, map[string]any{"eventKey": "#", "traceId": "t4"}, "not-found"},
		"by an owner who is gone":           {"eve", all, map[string]any{"eventKey": "webhook.a"}, "forbidden"},
		"of no key":                         {"ada", all, map[string]any{"eventKey": "a..b"}, "invalid"},
		"that expired":                      {"root", all, map[string]any{"eventKey": "webhook.gone"}, "gone"},
		"that was lost":                     {"root", all, map[string]any{"eventKey": "webhook.lost"}, "not-found"},
		"that was altered":                  {"root", all, map[string]any{"eventKey": "webhook.altered"}, "internal"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t, c.rules...)
			w.event("webhook.gone", "t5", `{"n":"5"}`)
			w.event("webhook.altered", "t6", `{"n":"6"}`)
			w.event("webhook.a", "t1", `{"n":"1"}`)
			w.event("webhook.a", "t2", `{"n":"2"}`)
			w.event("webhook.b", "t2", `{"n":"3"}`)
			w.event("webhook.c", "t4", `{"n":"4"}`)
			w.event("webhook.lost", "t7", `{"n":"7"}`)
			w.calls[0].Event.Offset = -1
			w.calls[len(w.calls)-1].Event.Offset = 99
			w.log[1].Value = []byte(`{"n":"0"}`)
			have, err := w.actions().Steps(triggered(c.owner)).Do(t.Context(), step(access.Anonymous, "event.receive", c.params))
			if err != nil {
				if kind := fault.From(err).Kind.String(); kind != c.want {
					t.Errorf("the fault is %v", err)
				}
				return
			}
			if n := have.(map[string]any)["n"]; n != c.want {
				t.Errorf("received %v", n)
			}
			if w.current != 1 {
				t.Errorf("all was waited for %d times", w.current)
			}
		})
	}
}

func TestACallerReceivesWhatItMay(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rule("ada", []string{"event.receive"}, []string{"webhook.a"}))
	w.event("webhook.a", "t1", `{"n":1}`)
	for caller, want := range map[string]bool{"ada": true, "bob": false} {
		steps := w.actions().Steps(actions.Origin{Call: parent, Caller: byCaller(caller).Caller})
		_, err := steps.Do(t.Context(), step(caller, "event.receive", map[string]any{"eventKey": "webhook.*"}))
		if want != (err == nil) {
			t.Errorf("%s: %v", caller, err)
		}
	}
	if w.current != 2 {
		t.Errorf("all was waited for %d times", w.current)
	}
}
