//go:build collector

package traces_test

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/plugin/kotel"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

const (
	payloadCanary = "canary-payload-7f1c"
	queryCanary   = "canary-query-93ab"
	receive       = "POST /api/v3/command/webhook.receive"

	callersTrace  = "5bd66ef5095369c7b0d1f8f4bd33716a"
	callersParent = "00-" + callersTrace + "-c532cb4098ac3dd2-01"
)

// The numbers of OTLP.
const (
	internal = 1
	server   = 2
	producer = 4
	consumer = 5
	failed   = 2
)

// several is a pipeline of several steps, of which one is a command of the service.
const several = `
- convert.fromBase64: {value: "${body.payload.origin}"}
- iam.run.as: {user: admin}
- webhook.get: {}
  id: look
- set: {value: seen}
`

func TestACallIsOneTrace(t *testing.T) {
	h := start(t)
	token := h.webhook("webhook.traced.orders", several)
	c := h.call(token, payloadCanary, "traceparent", callersParent)
	if c.Status != "ok" {
		t.Fatalf("the call ended as %+v", c)
	}
	want := map[string]int{
		receive: 1, "send svc.event.webhook.traced.orders": 1,
		"send svc.call":    2, // accepted and completed
		"process svc.call": 2, "run webhook-traced-orders": 1,
		"step event.listen": 1, "step convert.fromBase64": 1, "step iam.run.as": 1, "step webhook.get": 1, "step set": 1,
		"send svc.command": 1, "process svc.command": 1,
	}
	spans := h.await(of("webhook.last6", token[30:]), named(want))
	byID, byName := map[string]span{}, map[string]span{}
	for _, s := range spans {
		byID[s.SpanID], byName[s.Name] = s, s
	}
	root := byName[receive]
	t.Run("which is found by last6, and every span says which call it is of", func(t *testing.T) {
		total := 0
		for _, n := range want {
			total += n
		}
		if len(spans) != total {
			t.Errorf("%d spans, want %d", len(spans), total)
		}
		for _, s := range spans {
			has := s.Attributes.texts()
			if s.TraceID != root.TraceID || has["webhook.trace_id"] != c.TraceID || has["webhook.event_key"] != "webhook.traced.orders" {
				t.Errorf("%s is in the trace %s, with %v", s.Name, s.TraceID, has)
			}
			if s.Resource["service.name"] != "hooklog" || s.Resource["service.instance.id"] == "" || s.Resource["deployment.environment.name"] != "e2e" {
				t.Errorf("%s comes from %v", s.Name, s.Resource)
			}
			if s.EndTimeUnixNano < s.StartTimeUnixNano || s.Status.Code != 0 {
				t.Errorf("%s: from %s to %s, status %v", s.Name, s.StartTimeUnixNano, s.EndTimeUnixNano, s.Status)
			}
		}
	})
	t.Run("in which each span stands below what caused it", func(t *testing.T) {
		parents := map[string]string{
			receive: "", "send svc.event.webhook.traced.orders": receive, "process svc.call": "send svc.call",
			"run webhook-traced-orders": "send svc.call", "step set": "run webhook-traced-orders",
			"step webhook.get": "run webhook-traced-orders", "send svc.command": "step webhook.get", "process svc.command": "send svc.command",
		}
		for child, parent := range parents {
			if got := byID[byName[child].ParentSpanID].Name; got != parent {
				t.Errorf("%s stands below %q, want %q", child, got, parent)
			}
		}
		var above []string
		for _, s := range spans {
			if s.Name == "send svc.call" {
				above = append(above, byID[s.ParentSpanID].Name)
			}
		}
		slices.Sort(above)
		if !slices.Equal(above, []string{receive, "run webhook-traced-orders"}) {
			t.Errorf("records of the call were sent below %v", above)
		}
	})
	t.Run("whose spans follow the conventions", func(t *testing.T) {
		for name, kind := range map[string]int{
			receive: server, "send svc.call": producer, "process svc.call": consumer, "run webhook-traced-orders": consumer, "step set": internal,
		} {
			if byName[name].Kind != kind {
				t.Errorf("%s is of the kind %d, want %d", name, byName[name].Kind, kind)
			}
		}
		for name, want := range map[string]map[string]string{
			receive: {"http.request.method": "POST", "http.response.status_code": "200", "url.path": "/api/v3/command/webhook.receive"},
			"send svc.event.webhook.traced.orders": {
				"messaging.system": "kafka", "messaging.operation.type": "send",
				"messaging.destination.name": "svc.event.webhook.traced.orders", "messaging.kafka.offset": "0",
			},
			"process svc.call":          {"messaging.operation.type": "process", "messaging.destination.partition.id": "0"},
			"run webhook-traced-orders": {"pipeline.name": "webhook-traced-orders", "pipeline.version": "1", "pipeline.attempt": "1"},
			"step webhook.get":          {"pipeline.step": "look"},
		} {
			for key, value := range want {
				if got := byName[name].Attributes.texts()[key]; got != value {
					t.Errorf("%s: %s is %q, want %q", name, key, got, value)
				}
			}
		}
	})
	t.Run("that links to the trace of the caller", func(t *testing.T) {
		if len(root.Links) != 1 || root.Links[0].TraceID != callersTrace || root.TraceID == callersTrace {
			t.Errorf("links %v", root.Links)
		}
	})
	t.Run("that a consumer who knows nothing of hooklog goes on with", func(t *testing.T) {
		h := &hooklog{t: t, app: h.app, file: h.file}
		h.consume("svc.event.webhook.traced.orders")
		read := h.await(func(s span) bool { return s.Name == "a stranger reads" && s.TraceID == root.TraceID }, named(map[string]int{"a stranger reads": 1}))
		if byID[read[0].ParentSpanID].Name != "send svc.event.webhook.traced.orders" {
			t.Errorf("it stands below %s", read[0].ParentSpanID)
		}
	})
	t.Run("that tells no secret", func(t *testing.T) {
		text, err := os.ReadFile(h.file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), c.TraceID) {
			t.Fatal("not even the trace id is found")
		}
		for what, canary := range map[string]string{
			"token": token, "correlation id": c.CorrelationID, "payload": payloadCanary, "query": queryCanary,
			"password": adminPassword, "address": "127.0.0.1",
		} {
			if strings.Contains(string(text), canary) {
				t.Errorf("the %s is in the spans", what)
			}
		}
	})
}

// consume reads the first record of a topic with plain franz-go, and the SDK of
// OpenTelemetry makes a span of it.
func (h *hooklog) consume(topic string) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), patience)
	defer cancel()
	exporter, err := otlptracehttp.New(ctx)
	if err != nil {
		h.t.Fatal(err)
	}
	provider := sdk.NewTracerProvider(sdk.WithBatcher(exporter))
	client, err := kgo.NewClient(
		kgo.SeedBrokers(h.app.WindowAddr().String()),
		kgo.SASL(plain.Auth{User: "reader", Pass: readerPassword}.AsMechanism()),
		kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	)
	if err != nil {
		h.t.Fatal(err)
	}
	defer client.Close()
	fetches := client.PollRecords(ctx, 1)
	if err := fetches.Err(); err != nil {
		h.t.Fatal(err)
	}
	record := fetches.Records()[0]
	from := propagation.TraceContext{}.Extract(ctx, kotel.NewRecordCarrier(record))
	_, read := provider.Tracer("stranger").Start(from, "a stranger reads")
	read.End()
	if err := provider.Shutdown(ctx); err != nil {
		h.t.Fatal(err)
	}
}

func TestACallThatFails(t *testing.T) {
	h := start(t)
	t.Run("in its pipeline is an error there, told by its kind", func(t *testing.T) {
		h := &hooklog{t: t, app: h.app, file: h.file}
		token := h.webhook("webhook.traced.broken", "- convert.fromJson: {value: \"${body.payload.origin}\"}\n  id: read\n")
		c := h.call(token, payloadCanary)
		if c.Status != "error" {
			t.Fatalf("the call ended as %+v", c)
		}
		spans := h.await(of("webhook.last6", token[30:]), named(map[string]int{receive: 1, "run webhook-traced-broken": 1, "step convert.fromJson": 1, "process svc.call": 2}))
		for _, s := range spans {
			broken := s.Name == "run webhook-traced-broken" || s.Name == "step convert.fromJson"
			if is := s.Status.Code == failed; is != broken || s.Status.Message != "" || (s.Attributes.texts()["error.type"] == "invalid") != broken {
				t.Errorf("%s: status %+v, %v", s.Name, s.Status, s.Attributes.texts())
			}
		}
		h.command("run.retry", map[string]any{"correlationId": c.CorrelationID}, nil)
		h.await(of("webhook.last6", token[30:]), func(retried []span) bool {
			return slices.ContainsFunc(retried, func(s span) bool {
				return s.Name == "run webhook-traced-broken" && s.Attributes.texts()["pipeline.attempt"] == "2" && s.TraceID == spans[0].TraceID
			})
		})
	})
	t.Run("by its caller's fault is no error of the service", func(t *testing.T) {
		h := &hooklog{t: t, app: h.app, file: h.file}
		token := h.webhook("webhook.traced.large", "")
		h.post("/api/v3/command/webhook.receive", strings.Repeat("x", 1001), http.StatusRequestEntityTooLarge, "token", token)
		spans := h.await(of("webhook.last6", token[30:]), named(map[string]int{receive: 1}))
		if s := spans[0]; len(spans) != 1 || s.Status.Code != 0 || s.Attributes.texts()["error.type"] != "too-large" || s.Attributes.texts()["http.response.status_code"] != "413" {
			t.Errorf("%+v", spans)
		}
	})
}

func TestACommandJoinsTheTraceOfItsCaller(t *testing.T) {
	h := start(t)
	const trace = "7bd66ef5095369c7b0d1f8f4bd33716b"
	h.command("webhook.put", map[string]any{"eventKey": "webhook.traced.command"}, nil, "traceparent", "00-"+trace+"-c532cb4098ac3dd2-01")
	spans := h.await(func(s span) bool { return s.TraceID == trace },
		named(map[string]int{"POST /api/v3/command/webhook.put": 1, "send svc.command": 1, "process svc.command": 1}))
	for _, s := range spans {
		if s.Name == "POST /api/v3/command/webhook.put" && s.ParentSpanID != "c532cb4098ac3dd2" {
			t.Errorf("it stands below %s", s.ParentSpanID)
		}
	}
}
