package pipelines_test

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hooklog/domain/fault"
	"hooklog/transport/pipelines"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// catalog has a few commands of a service.
type catalog map[string]pipelines.Command

func (c catalog) Step(name string) (pipelines.Command, bool) {
	command, ok := c[name]
	return command, ok
}

var service = catalog{
	"webhook.put": {Name: "webhook.put", Params: []pipelines.Param{
		{Name: "uuid", Type: pipelines.Text},
		{Name: "eventKey", Type: pipelines.Text},
		{Name: "payloadType", Alias: "payloadHandling", Type: pipelines.Text, Enum: []string{"raw", "base64", "ignore"}},
		{Name: "maxPayloadLength", Type: pipelines.Integer},
		{Name: "enabled", Type: pipelines.Boolean},
	}},
	"webhook.delete": {Name: "webhook.delete", Params: []pipelines.Param{{Name: "uuid", Type: pipelines.Text, Required: true}}},
	"event.send": {Name: "event.send", Params: []pipelines.Param{
		{Name: "eventKey", Type: pipelines.Text, Required: true},
		{Name: "payload"},
		{Name: "extra", Type: pipelines.Object},
		{Name: "share", Type: pipelines.Number},
	}},
	"http.request": pipelines.HTTPRequest,
	// The catalog cannot make the words of the language weaker.
	"iam.run.as": {Name: "iam.run.as", Params: []pipelines.Param{{Name: "user"}}},
}

// steps is a service that writes down what it is asked for.
type steps struct {
	mu    sync.Mutex
	calls []pipelines.StepCall
	asked []string // user and command
	// forbids holds commands that nobody may run.
	forbids map[string]bool
	// do answers the calls, in place of their parameters.
	do func(ctx context.Context, call pipelines.StepCall) (any, error)
}

func (s *steps) Allow(_ context.Context, user, command string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, user+" "+command)
	if s.forbids[command] {
		return fault.New(fault.Forbidden, "%s may not run %s.", user, command)
	}
	return nil
}

func (s *steps) Do(ctx context.Context, call pipelines.StepCall) (any, error) {
	s.mu.Lock()
	s.calls = append(s.calls, call)
	s.mu.Unlock()
	if s.do != nil {
		return s.do(ctx, call)
	}
	return call.Params, nil
}

func compile(t testing.TB, source string) *pipelines.Program {
	t.Helper()
	p, err := pipelines.Compile([]byte(source), service)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// aRun begins with the body, which is JSON.
func aRun(t testing.TB, body string) pipelines.Run {
	t.Helper()
	v, err := pipelines.Decode([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	return pipelines.Run{
		Headers: map[string]string{"Tenant": "north"},
		Vars:    map[string]any{"given": "by the run"},
		Body:    v,
		User:    "anonymousUser",
		Timeout: time.Minute,
		Log:     slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
}
