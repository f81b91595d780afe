package telemetry_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/transport/telemetry"
)

const (
	path      = "/api/v3/command/webhook.receive"
	sampled   = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
)

var accepted = call.Accepted{TraceID: "6789ab:abcdefghij", EventKey: "webhook.orders"}

var orders = telemetry.Call{TraceID: "6789ab:abcdefghij", Last6: "6789ab", EventKey: "webhook.orders"}

// recording is a tracer that records everything, and what it recorded.
func recording(t *testing.T, options ...sdk.TracerProviderOption) (*telemetry.Tracer, *tracetest.SpanRecorder) {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	tracer := telemetry.New(sdk.NewTracerProvider(append(options, sdk.WithSpanProcessor(recorder))...))
	t.Cleanup(tracer.Close)
	return tracer, recorder
}

// ended gives the spans that have ended by name, one each.
func ended(t *testing.T, recorder *tracetest.SpanRecorder, names ...string) map[string]tracetest.SpanStub {
	t.Helper()
	spans := map[string]tracetest.SpanStub{}
	for _, s := range tracetest.SpanStubsFromReadOnlySpans(recorder.Ended()) {
		spans[s.Name] = s
	}
	for _, name := range names {
		if _, ok := spans[name]; !ok {
			t.Fatalf("no span %q has ended", name)
		}
	}
	if len(spans) != len(names) || len(recorder.Ended()) != len(names) {
		t.Fatalf("%d spans have ended: %v", len(recorder.Ended()), spans)
	}
	return spans
}

// texts are a span's attributes as texts.
func texts(attributes []attribute.KeyValue) map[string]string {
	all := map[string]string{}
	for _, a := range attributes {
		all[string(a.Key)] = a.Value.Emit()
	}
	return all
}

// said fails unless the span has at least these attributes.
func said(t *testing.T, s tracetest.SpanStub, want map[string]string) {
	t.Helper()
	have := texts(s.Attributes)
	for name, value := range want {
		if have[name] != value {
			t.Errorf("%s: %s is %q, want %q", s.Name, name, have[name], value)
		}
	}
}

func place(s tracetest.SpanStub) record.TraceContext {
	c := s.SpanContext
	return record.TraceContext{TraceID: c.TraceID(), SpanID: c.SpanID(), Sampled: c.IsSampled()}
}

func parent(s tracetest.SpanStub) [8]byte { return s.Parent.SpanID() }

func request(traceparent string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path+"?token=00000000-0000-4000-8000-000000000000", nil)
	if traceparent != "" {
		r.Header.Set("traceparent", traceparent)
	}
	return r
}
