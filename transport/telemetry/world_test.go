package telemetry_test

import (
	"context"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"hooklog/domain/record"
	"hooklog/transport/telemetry"
)

const (
	path      = "/api/v3/command/webhook.receive"
	sampled   = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	unsampled = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
)

var orders = telemetry.Call{TraceID: "6789ab:abcdefghij", Last6: "6789ab", EventKey: "webhook.orders"}

// collector takes in what is exported, as a real one reads it off the wire.
type collector struct {
	mu     sync.Mutex
	spans  []*tracepb.Span
	sizes  []int // of the batches
	before func() error
	hangs  bool
}

func (*collector) Start(context.Context) error { return nil }
func (*collector) Stop(context.Context) error  { return nil }

func (c *collector) UploadTraces(ctx context.Context, sent []*tracepb.ResourceSpans) error {
	if c.hangs {
		<-ctx.Done()
		return ctx.Err()
	}
	if c.before != nil {
		if err := c.before(); err != nil {
			return err
		}
	}
	wire, err := proto.Marshal(sent[0])
	if err != nil {
		return err
	}
	var read tracepb.ResourceSpans
	if err := (proto.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(wire, &read); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spans = append(c.spans, read.ScopeSpans[0].Spans...)
	c.sizes = append(c.sizes, len(read.ScopeSpans[0].Spans))
	return nil
}

// batches gives the sizes of the batches so far.
func (c *collector) batches() []int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.sizes)
}

// every records all traces.
var every = telemetry.Config{Share: 1, QueueSize: 100, BatchSize: 10, Delay: time.Hour, Timeout: time.Minute}

func recording(t testing.TB, cfg telemetry.Config) (*telemetry.Tracer, *collector) {
	t.Helper()
	c := &collector{}
	tracer := telemetry.New(cfg, c, nil, slog.New(slog.DiscardHandler))
	t.Cleanup(tracer.Close)
	return tracer, c
}

// ended closes the tracer and gives the spans by name, one each.
func (c *collector) ended(t *testing.T, tracer *telemetry.Tracer, names ...string) map[string]*tracepb.Span {
	t.Helper()
	tracer.Close()
	spans := map[string]*tracepb.Span{}
	for _, s := range c.spans {
		spans[s.Name] = s
	}
	for _, name := range names {
		if spans[name] == nil {
			t.Fatalf("there is no span %q among %v", name, c.spans)
		}
	}
	if len(c.spans) != len(names) {
		t.Fatalf("%d spans have ended: %v", len(c.spans), c.spans)
	}
	return spans
}

// said fails unless the span has at least these attributes, each once.
func said(t *testing.T, s *tracepb.Span, want map[string]string) {
	t.Helper()
	have := map[string]string{}
	for _, a := range s.Attributes {
		if _, twice := have[a.Key]; twice {
			t.Errorf("%s: %s is there twice", s.Name, a.Key)
		}
		have[a.Key] = a.Value.GetStringValue()
		if have[a.Key] == "" {
			have[a.Key] = strconv.FormatInt(a.Value.GetIntValue(), 10)
		}
	}
	for name, value := range want {
		if have[name] != value {
			t.Errorf("%s: %s is %q, want %q", s.Name, name, have[name], value)
		}
	}
}

// place is a span's as a traceparent.
func place(s *tracepb.Span) string {
	c := record.TraceContext{TraceID: [16]byte(s.TraceId), SpanID: [8]byte(s.SpanId), Sampled: s.Flags&1 == 1}
	return c.String()
}

func parent(s *tracepb.Span) string { return hex.EncodeToString(s.ParentSpanId) }

func id(s *tracepb.Span) string { return hex.EncodeToString(s.SpanId) }

func request(traceparent string) *http.Request {
	r := httptest.NewRequest(http.MethodPost, path+"?token=00000000-0000-4000-8000-000000000000", nil)
	if traceparent != "" {
		r.Header.Set("traceparent", traceparent)
	}
	return r
}
