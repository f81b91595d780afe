package actions_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/transport/commands"
	"hooklog/transport/pipelines/actions"
	"hooklog/transport/pipelines/outbound"
)

func adhoc(principal, source string) commands.PipelineRun {
	return commands.PipelineRun{
		Caller: commands.Caller{Principal: principal, Client: "hooklog", Address: "192.0.2.1"}, CommandID: parent,
		Source: []byte(source), Body: json.RawMessage(`{"n":2}`),
	}
}

func TestACallerRunsAPipelineAsItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rule("ada", []string{"set", "log", "iam.run.as", "event.send"}, everything, "bob"))
	w.answer = map[string]any{"eventKey": "webhook.x"}
	have, err := w.actions().Adhoc(t.Context(), adhoc("ada", `
pipeline:
  - webhook.get
  - iam.run.as: {user: bob}
  - webhook.get
body: {typed: "${1 + 1}", "text": "a${1}", keys: "${[body.eventKey]}"}
`))
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := json.Marshal(have); err != nil || string(shown) != `{"keys":["webhook.x"],"text":"a1","typed":2}` {
		t.Errorf("the answer is %s, %v", shown, err)
	}
	first, second := w.requests[0], w.requests[1]
	if first.Caller.Principal != "ada" || first.Caller.Effective != "ada" || first.Caller.Client != "hooklog" || first.Caller.Address != "192.0.2.1" {
		t.Errorf("the first command is of %+v", first.Caller)
	}
	if second.Caller.Principal != "ada" || second.Caller.Effective != "bob" || second.Caller.Roles[0] != "clerks" {
		t.Errorf("the second command is of %+v", second.Caller)
	}
	if first.CommandID == second.CommandID || first.CommandID == "" {
		t.Errorf("the ids are %s and %s", first.CommandID, second.CommandID)
	}
}

func TestACallersPipelineThatFailsSaysWhere(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source string
		kind   fault.Kind
		detail string
	}{
		"a source that is none":    {`{pipeline: [user.put]}`, fault.Invalid, `1:13: there is no step "user.put"`},
		"a step without the right": {`{pipeline: [{set: {value: 1}}]}`, fault.Forbidden, "Step 1 (set) at 1:13"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := newWorld(t).actions().Adhoc(t.Context(), adhoc("ada", c.source))
			if !fault.Is(err, c.kind) || !strings.Contains(fault.From(err).Detail, c.detail) {
				t.Errorf("the fault is %v", err)
			}
		})
	}
}

func TestACallersEventsHaveATraceOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rule("ada", []string{"event.send"}, everything))
	_, err := w.actions().Adhoc(t.Context(), adhoc("ada", `{pipeline: [{event.send: {eventKey: a.b}}, {event.send: {eventKey: a.c}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	_, _, second := w.sent()
	w.log = w.log[:2]
	_, _, first := w.sent()
	if first.TraceID != second.TraceID || !strings.HasPrefix(first.TraceID, parent[30:]+":") || first.CorrelationID == second.CorrelationID {
		t.Errorf("sent are %+v and %+v", first, second)
	}
}

func TestCallersPipelinesAreBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rule("ada", []string{"set"}, nil))
	began, goOn := make(chan struct{}), make(chan struct{})
	w.block = func() {
		close(began)
		<-goOn
	}
	a := w.actions()
	first := make(chan error)
	go func() {
		_, err := a.Adhoc(t.Context(), adhoc("ada", `{pipeline: [webhook.get]}`))
		first <- err
	}()
	<-began
	second := adhoc("ada", `{pipeline: [{set: {value: 1}}]}`)
	if _, err := a.Adhoc(t.Context(), second); !fault.Is(err, fault.Unavailable) || fault.From(err).RetryAfter == 0 {
		t.Errorf("beside the first: %v", err)
	}
	close(goOn)
	if err := <-first; err != nil {
		t.Error(err)
	}
	if _, err := a.Adhoc(t.Context(), second); err != nil {
		t.Errorf("after the first: %v", err)
	}
}

func TestARequestIsSentWhereTheOperatorAllowsIt(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(rw, `{"method":%q}`, r.Method)
	}))
	defer server.Close()
	client, err := outbound.New(outbound.Config{Hosts: []string{strings.TrimPrefix(server.URL, "http://")}, Timeout: 10 * time.Second, Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	w := newWorld(t, access.Rule{Users: []string{"ada"}, Commands: []string{"http.request"}})
	a := w.actions(func(_ *actions.Config, d *actions.Deps) { d.HTTP = client })
	have, err := a.Adhoc(t.Context(), adhoc("ada", `{pipeline: [{http.request: {url: "`+server.URL+`", method: PUT}}], body: "${body.body.method}"}`))
	if shown, _ := json.Marshal(have); err != nil || string(shown) != `"PUT"` {
		t.Errorf("the answer is %s, %v", shown, err)
	}
}

func TestTheRunOfACallerIsObserved(t *testing.T) {
	t.Parallel()
	w := newWorld(t, rule("ada", []string{"set"}, everything))
	var seen []string
	observed := func(_ *actions.Config, deps *actions.Deps) {
		deps.Observe = func(pipeline string) func([]call.Step, error) {
			seen = append(seen, "begins "+pipeline)
			return func(steps []call.Step, err error) {
				seen = append(seen, fmt.Sprint("ends after ", len(steps), " steps: ", fault.Is(err, fault.Forbidden)))
			}
		}
	}
	run := adhoc("ada", `pipeline: [{set: {value: 1}}, {log: {message: x}}]`)
	run.Name = "stored"
	if _, err := w.actions(observed).Adhoc(t.Context(), run); err == nil {
		t.Error("log is allowed")
	}
	if len(seen) != 2 || seen[0] != "begins stored" || seen[1] != "ends after 2 steps: true" {
		t.Errorf("observed %q", seen)
	}
}
