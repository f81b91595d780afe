package telemetry_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/telemetry"
)

func TestACallIsOneTrace(t *testing.T) {
	tracer, recorder := recording(t)
	began := time.Now().Add(-time.Second)
	server := tracer.Receive(request(sampled), path, began, orders)
	sending := server.Send("svc.call")
	sent := record.Record{Position: record.Position{Topic: "svc.call", Partition: 2}}
	accepted.Mark(&sent, sending.TraceContext)
	sent.Offset = 41
	sending.Sent(sent.Position, nil)
	server.Answered(http.StatusOK, nil)

	folding := time.Now()
	tracer.Folded("calls", []record.Record{sent, {Position: record.Position{Topic: "svc.call"}}}, folding)
	there := tracer.At(sent.TraceContext(), orders)
	run := there.Run(telemetry.Run{Pipeline: "stock", Version: 3, Attempt: 2, Cause: &sent.Position})
	step := run.Step("look", "webhook.get")
	step.End(nil)
	run.End(nil)

	spans := ended(t, recorder, "POST "+path, "send svc.call", "process svc.call", "run stock", "step webhook.get")
	root := spans["POST "+path]
	for name, s := range spans {
		if s.SpanContext.TraceID() != root.SpanContext.TraceID() {
			t.Errorf("%s is in another trace", name)
		}
		said(t, s, map[string]string{"webhook.trace_id": orders.TraceID, "webhook.last6": orders.Last6, "webhook.event_key": orders.EventKey})
	}
	t.Run("each span stands below the one that caused it", func(t *testing.T) {
		send := spans["send svc.call"]
		for child, want := range map[string][8]byte{
			"POST " + path: {}, "send svc.call": root.SpanContext.SpanID(), "process svc.call": send.SpanContext.SpanID(),
			"run stock": send.SpanContext.SpanID(), "step webhook.get": spans["run stock"].SpanContext.SpanID(),
		} {
			if got := parent(spans[child]); got != want {
				t.Errorf("the parent of %s is %x, want %x", child, got, want)
			}
		}
	})
	t.Run("the server's has what the conventions want, and no query", func(t *testing.T) {
		said(t, root, map[string]string{
			"http.request.method": "POST", "http.route": path, "url.path": path, "url.scheme": "http", "http.response.status_code": "200",
		})
		if root.SpanKind != trace.SpanKindServer || !root.StartTime.Equal(began) || root.Status.Code != codes.Unset {
			t.Errorf("kind %s, from %s, %v", root.SpanKind, root.StartTime, root.Status)
		}
	})
	t.Run("those of records have what the conventions want", func(t *testing.T) {
		at := map[string]string{
			"messaging.system": "kafka", "messaging.destination.name": "svc.call",
			"messaging.destination.partition.id": "2", "messaging.kafka.offset": "41",
		}
		for name, kind := range map[string]trace.SpanKind{
			"send svc.call": trace.SpanKindProducer, "process svc.call": trace.SpanKindConsumer, "run stock": trace.SpanKindConsumer,
		} {
			said(t, spans[name], at)
			operation := "process"
			if kind == trace.SpanKindProducer {
				operation = "send"
			}
			said(t, spans[name], map[string]string{"messaging.operation.name": operation, "messaging.operation.type": operation})
			if spans[name].SpanKind != kind {
				t.Errorf("%s is of the kind %s", name, spans[name].SpanKind)
			}
		}
		if fold := spans["process svc.call"]; !fold.StartTime.Equal(folding) || fold.EndTime.Before(folding) {
			t.Errorf("folded from %s to %s", fold.StartTime, fold.EndTime)
		}
	})
	t.Run("those of pipelines say which, and which step", func(t *testing.T) {
		said(t, spans["run stock"], map[string]string{"pipeline.name": "stock", "pipeline.version": "3", "pipeline.attempt": "2"})
		said(t, spans["step webhook.get"], map[string]string{"pipeline.step": "look", "pipeline.command": "webhook.get"})
	})
	t.Run("what the caller came from is a link, and nothing more", func(t *testing.T) {
		if len(root.Links) != 1 || root.Links[0].SpanContext.TraceID().String() != sampled[3:35] || strings.Contains(sampled, root.SpanContext.TraceID().String()) {
			t.Errorf("trace %s, links %v", root.SpanContext.TraceID(), root.Links)
		}
	})
}

func TestFailuresAreToldByTheirKindAlone(t *testing.T) {
	tracer, recorder := recording(t)
	quoting := fault.New(fault.Unavailable, "canary").Because(errors.New("canary"))
	server := tracer.Receive(request(""), path, time.Now(), orders)
	sending := server.Send("svc.call")
	sending.Sent(record.Position{}, quoting)
	step := server.Step("1", "wait")
	step.End(errors.New("canary"))
	server.Answered(0, quoting)
	spans := ended(t, recorder, "POST "+path, "send svc.call", "step wait")
	for name, kind := range map[string]string{"POST " + path: "unavailable", "send svc.call": "unavailable", "step wait": "internal"} {
		said(t, spans[name], map[string]string{"error.type": kind})
		if s := spans[name].Status; s.Code != codes.Error || s.Description != "" || len(spans[name].Events) > 0 {
			t.Errorf("%s: %v, events %v", name, s, spans[name].Events)
		}
	}
	said(t, spans["POST "+path], map[string]string{"http.response.status_code": "503"})

	t.Run("that a caller is wrong is no error of the server", func(t *testing.T) {
		tracer, recorder := recording(t)
		server := tracer.Receive(request(""), path, time.Now(), orders)
		server.Answered(0, fault.New(fault.TooLarge, "canary"))
		s := ended(t, recorder, "POST "+path)["POST "+path]
		said(t, s, map[string]string{"error.type": fault.TooLarge.String(), "http.response.status_code": "413"})
		if s.Status.Code != codes.Unset {
			t.Errorf("status %v", s.Status)
		}
	})
}

func TestACommandJoinsTheTraceOfItsCaller(t *testing.T) {
	const put = "/api/v3/command/webhook.put"
	t.Run("which is recorded", func(t *testing.T) {
		tracer, recorder := recording(t)
		span := tracer.Command(request(sampled), put, time.Now())
		span.Answered(http.StatusOK, nil)
		s := ended(t, recorder, "POST "+put)["POST "+put]
		if place(s).Trace() != sampled[3:35] || s.Parent.SpanID().String() != sampled[36:52] || !s.Parent.IsRemote() {
			t.Errorf("in %s below %s", s.SpanContext.TraceID(), s.Parent.SpanID())
		}
	})
	t.Run("which is not recorded", func(t *testing.T) {
		tracer, recorder := recording(t)
		span := tracer.Command(request(unsampled), put, time.Now())
		span.Answered(http.StatusOK, nil)
		if span.String() != unsampled || len(recorder.Ended()) > 0 {
			t.Errorf("at %s, with %d spans", span.String(), len(recorder.Ended()))
		}
	})
	t.Run("or begins one", func(t *testing.T) {
		tracer, recorder := recording(t)
		span := tracer.Command(request(""), put, time.Now())
		span.Answered(http.StatusOK, nil)
		if s := ended(t, recorder, "POST "+put)["POST "+put]; s.Parent.IsValid() || place(s) != span.TraceContext {
			t.Errorf("at %s, recorded as %v below %v", span.String(), s.SpanContext, s.Parent)
		}
	})
}

// quiet are the ways in which nothing is recorded.
func quiet(t *testing.T) map[string]*telemetry.Tracer {
	sampling, _ := recording(t, sdk.WithSampler(sdk.NeverSample()))
	return map[string]*telemetry.Tracer{"off": nil, "not sampled": sampling}
}

func TestATraceThatIsNotRecordedCanBeFollowed(t *testing.T) {
	for name, tracer := range quiet(t) {
		t.Run(name, func(t *testing.T) {
			server := tracer.Receive(request(sampled), path, time.Now(), orders)
			if server.IsZero() || server.Sampled || server.Trace() == sampled[3:35] {
				t.Errorf("the trace begins at %q", server.String())
			}
			again := tracer.Receive(request(""), path, time.Now(), orders)
			if again.TraceID == server.TraceID {
				t.Error("two calls are in one trace")
			}
			sending := server.Send("svc.call")
			there := tracer.At(sending.TraceContext, orders)
			run := there.Run(telemetry.Run{Attempt: 1})
			step := run.Step("1", "wait")
			for _, s := range []telemetry.Span{sending, run, step} {
				if s.TraceContext != server.TraceContext {
					t.Errorf("%s, want %s", s.String(), server.String())
				}
			}
			sending.Sent(record.Position{}, nil)
			step.End(nil)
			run.End(nil)
			server.Answered(http.StatusOK, nil)
		})
	}
}

func TestWhatNoTraceIsKnownOfBeginsOne(t *testing.T) {
	var none telemetry.Span
	run := none.Run(telemetry.Run{})
	sending := run.Send("svc.call")
	if run.IsZero() || sending.TraceContext != run.TraceContext || run.Sampled {
		t.Errorf("run at %q, send at %q", run.String(), sending.String())
	}
}

// Off is what most calls are served with.
func TestOffAllocatesNothing(t *testing.T) {
	var tracer *telemetry.Tracer
	r := request(sampled)
	now := time.Now()
	if n := testing.AllocsPerRun(100, func() { off(tracer, r, now) }); n > 0 {
		t.Errorf("%v allocations a call", n)
	}
}

// off is all that telemetry does in a call that nothing is recorded of, but for the
// record headers, which are there in any case.
func off(tracer *telemetry.Tracer, r *http.Request, now time.Time) {
	server := tracer.Receive(r, path, now, orders)
	sending := server.Send("svc.event.webhook.orders")
	sending.Sent(record.Position{}, nil)
	sending = server.Send("svc.call")
	sending.Sent(record.Position{}, nil)
	server.Answered(http.StatusOK, nil)
}

func BenchmarkOff(b *testing.B) {
	r, now := request(""), time.Now()
	b.ReportAllocs()
	for b.Loop() {
		off(nil, r, now)
	}
}

func BenchmarkOn(b *testing.B) {
	tracer := telemetry.New(sdk.NewTracerProvider())
	r, now := request(""), time.Now()
	b.ReportAllocs()
	for b.Loop() {
		off(tracer, r, now)
	}
}
