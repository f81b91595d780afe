package telemetry_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/telemetry"
)

func TestACallIsOneTrace(t *testing.T) {
	tracer, collected := recording(t, every)
	began := time.Now().Add(-time.Second)
	server := tracer.Receive(request(sampled), path, began, orders)
	sending := server.Send("svc.call")
	sent := record.Record{Position: record.Position{Topic: "svc.call", Partition: 2}}
	sending.Mark(&sent)
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

	spans := collected.ended(t, tracer, "POST "+path, "send svc.call", "process svc.call", "run stock", "step webhook.get")
	root := spans["POST "+path]
	for name, s := range spans {
		if !bytes.Equal(s.TraceId, root.TraceId) {
			t.Errorf("%s is in another trace", name)
		}
		said(t, s, map[string]string{"webhook.trace_id": orders.TraceID, "webhook.last6": orders.Last6, "webhook.event_key": orders.EventKey})
	}
	t.Run("each span stands below the one that caused it", func(t *testing.T) {
		send := spans["send svc.call"]
		for child, want := range map[string]string{
			"POST " + path: "", "send svc.call": id(root), "process svc.call": id(send),
			"run stock": id(send), "step webhook.get": id(spans["run stock"]),
		} {
			if got := parent(spans[child]); got != want {
				t.Errorf("the parent of %s is %q, want %q", child, got, want)
			}
			// Bit 8 says that bit 9 is known, which says that the parent is elsewhere.
			elsewhere := child == "process svc.call" || child == "run stock"
			if flags := spans[child].Flags; flags&(1<<8) == 0 || flags&(1<<9) != 0 != elsewhere {
				t.Errorf("the flags of %s are %b", child, flags)
			}
		}
	})
	t.Run("the server's has what the conventions want, and no query", func(t *testing.T) {
		said(t, root, map[string]string{
			"http.request.method": "POST", "http.route": path, "url.path": path, "url.scheme": "http", "http.response.status_code": "200",
		})
		if root.Kind != tracepb.Span_SPAN_KIND_SERVER || root.StartTimeUnixNano != uint64(began.UnixNano()) || root.EndTimeUnixNano <= root.StartTimeUnixNano || root.Status != nil {
			t.Errorf("%v", root)
		}
		if strings.Contains(root.String(), "token") {
			t.Errorf("the query is in %v", root)
		}
	})
	t.Run("those of records have what the conventions want", func(t *testing.T) {
		for name, kind := range map[string]tracepb.Span_SpanKind{
			"send svc.call":    tracepb.Span_SPAN_KIND_PRODUCER,
			"process svc.call": tracepb.Span_SPAN_KIND_CONSUMER,
			"run stock":        tracepb.Span_SPAN_KIND_CONSUMER,
		} {
			operation := "process"
			if kind == tracepb.Span_SPAN_KIND_PRODUCER {
				operation = "send"
			}
			said(t, spans[name], map[string]string{
				"messaging.system": "kafka", "messaging.destination.name": "svc.call",
				"messaging.destination.partition.id": "2", "messaging.kafka.offset": "41",
				"messaging.operation.name": operation, "messaging.operation.type": operation,
			})
			if spans[name].Kind != kind {
				t.Errorf("%s is of the kind %s", name, spans[name].Kind)
			}
		}
		fold := spans["process svc.call"]
		said(t, fold, map[string]string{"hooklog.projection": "calls"})
		if fold.StartTimeUnixNano != uint64(folding.UnixNano()) || fold.EndTimeUnixNano < fold.StartTimeUnixNano {
			t.Errorf("folded from %d to %d", fold.StartTimeUnixNano, fold.EndTimeUnixNano)
		}
	})
	t.Run("those of pipelines say which, and which step", func(t *testing.T) {
		said(t, spans["run stock"], map[string]string{"pipeline.name": "stock", "pipeline.version": "3", "pipeline.attempt": "2"})
		said(t, spans["step webhook.get"], map[string]string{"pipeline.step": "look", "pipeline.command": "webhook.get"})
	})
	t.Run("what the caller came from is a link, and nothing more", func(t *testing.T) {
		if len(root.Links) != 1 || hex.EncodeToString(root.Links[0].TraceId) != sampled[3:35] || hex.EncodeToString(root.Links[0].SpanId) != sampled[36:52] {
			t.Errorf("links %v", root.Links)
		}
		if strings.Contains(sampled, place(root)[3:35]) {
			t.Error("the call joined the caller's trace")
		}
	})
}

func TestFailuresAreToldByTheirKindAlone(t *testing.T) {
	tracer, collected := recording(t, every)
	quoting := fault.New(fault.Unavailable, "canary").Because(errors.New("canary"))
	server := tracer.Receive(request(""), path, time.Now(), orders)
	sending := server.Send("svc.call")
	sending.Sent(record.Position{}, quoting)
	step := server.Step("1", "wait")
	step.End(errors.New("canary"))
	server.Answered(0, quoting)
	spans := collected.ended(t, tracer, "POST "+path, "send svc.call", "step wait")
	for name, kind := range map[string]string{"POST " + path: "unavailable", "send svc.call": "unavailable", "step wait": "internal"} {
		said(t, spans[name], map[string]string{"error.type": kind})
		if s := spans[name]; s.Status.GetCode() != tracepb.Status_STATUS_CODE_ERROR || strings.Contains(s.String(), "canary") {
			t.Errorf("%v", s)
		}
	}
	said(t, spans["POST "+path], map[string]string{"http.response.status_code": "503"})

	t.Run("that a caller is wrong is no error of the server", func(t *testing.T) {
		tracer, collected := recording(t, every)
		server := tracer.Receive(request(""), path, time.Now(), orders)
		server.Answered(0, fault.New(fault.TooLarge, "canary"))
		s := collected.ended(t, tracer, "POST "+path)["POST "+path]
		said(t, s, map[string]string{"error.type": fault.TooLarge.String(), "http.response.status_code": "413"})
		if s.Status != nil {
			t.Errorf("status %v", s.Status)
		}
	})
}

func TestACommandJoinsTheTraceOfItsCaller(t *testing.T) {
	const put = "/api/v3/command/webhook.put"
	t.Run("which is recorded", func(t *testing.T) {
		tracer, collected := recording(t, every)
		span := tracer.Command(request(sampled), put, time.Now())
		span.Answered(http.StatusOK, nil)
		s := collected.ended(t, tracer, "POST "+put)["POST "+put]
		if place(s)[3:35] != sampled[3:35] || parent(s) != sampled[36:52] || s.Flags&(1<<9) == 0 {
			t.Errorf("at %s below %s", place(s), parent(s))
		}
	})
	t.Run("which is not recorded", func(t *testing.T) {
		tracer, collected := recording(t, every)
		span := tracer.Command(request(unsampled), put, time.Now())
		span.Answered(http.StatusOK, nil)
		collected.ended(t, tracer)
		if span.String() != unsampled {
			t.Errorf("at %s", span.String())
		}
	})
	t.Run("or begins one", func(t *testing.T) {
		tracer, collected := recording(t, every)
		span := tracer.Command(request(""), put, time.Now())
		span.Answered(http.StatusOK, nil)
		if s := collected.ended(t, tracer, "POST "+put)["POST "+put]; parent(s) != "" || place(s) != span.String() {
			t.Errorf("at %s, recorded as %v", span.String(), s)
		}
	})
}

// quiet are the ways in which nothing is recorded.
func quiet(t *testing.T) map[string]*telemetry.Tracer {
	never := every
	never.Share = 0
	sampling, _ := recording(t, never)
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
	server := tracer.Receive(request(sampled), path, time.Now(), orders)
	if n := testing.AllocsPerRun(100, func() { sendAndAnswer(server) }); n > 0 {
		t.Errorf("%v allocations a call", n)
	}
}

// off is all that telemetry does in a call that nothing is recorded of, but for the
// record headers, which are there in any case.
func off(tracer *telemetry.Tracer, r *http.Request, now time.Time) {
	sendAndAnswer(tracer.Receive(r, path, now, orders))
}

func sendAndAnswer(server telemetry.Span) {
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
	tracer, collected := recording(b, telemetry.Config{Share: 1, QueueSize: 1 << 15, BatchSize: 1 << 11, Delay: time.Hour, Timeout: time.Minute})
	collected.before = func() error { return errors.New("not read") } // to read is what costs
	r, now := request(""), time.Now()
	b.ReportAllocs()
	for b.Loop() {
		off(tracer, r, now)
	}
}

func TestASamplerThatDoesNotFollowTheParentDecidesItself(t *testing.T) {
	const put = "/api/v3/command/webhook.put"
	exported := func(t *testing.T, share float64, from string) []*tracepb.Span {
		alone := every
		alone.Share, alone.Alone = share, true
		tracer, collected := recording(t, alone)
		span := tracer.Command(request(from), put, time.Now())
		sending := span.Send("svc.command")
		var sent record.Record
		sending.Mark(&sent)
		sending.Sent(sent.Position, nil)
		span.Answered(http.StatusOK, nil)
		tracer.Folded("commands", []record.Record{sent}, time.Now())
		tracer.Close()
		if sent.TraceContext().Trace() != from[3:35] {
			t.Errorf("the record is in the trace %s", sent.TraceContext())
		}
		return collected.spans
	}
	t.Run("never, though the caller records", func(t *testing.T) {
		if spans := exported(t, 0, sampled); len(spans) > 0 {
			t.Errorf("%v", spans)
		}
	})
	t.Run("always, though the caller does not", func(t *testing.T) {
		if spans := exported(t, 1, unsampled); len(spans) != 3 || parent(spans[1]) != unsampled[36:52] {
			t.Errorf("%v", spans)
		}
	})
}

func TestNoSpanEndsBeforeItBegan(t *testing.T) {
	tracer, collected := recording(t, every)
	// As with a clock that was set back meanwhile.
	span := tracer.Receive(request(""), path, time.Now().Add(time.Hour), orders)
	span.Answered(http.StatusOK, nil)
	if s := collected.ended(t, tracer, "POST "+path)["POST "+path]; s.EndTimeUnixNano < s.StartTimeUnixNano {
		t.Errorf("from %d to %d", s.StartTimeUnixNano, s.EndTimeUnixNano)
	}
}
