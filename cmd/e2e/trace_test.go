package e2e_test

import (
	"bufio"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/domain/call"
	"hooklog/domain/record"
)

// asRecord is a record as the domain sees it.
func asRecord(r *kgo.Record) record.Record {
	headers := make([]record.Header, len(r.Headers))
	for i, h := range r.Headers {
		headers[i] = record.Header(h)
	}
	return record.Record{
		Position: record.Position{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset},
		Time:     r.Timestamp, Key: r.Key, Headers: headers, Value: r.Value,
	}
}

// executions are the log lines of webhook calls.
func (s *service) executions() []map[string]any {
	s.t.Helper()
	var lines []map[string]any
	for scanner := bufio.NewScanner(strings.NewReader(s.logs.String())); scanner.Scan(); {
		var line map[string]any
		if err := json.Unmarshal(scanner.Bytes(), &line); err != nil {
			s.t.Fatalf("log line %s: %v", scanner.Bytes(), err)
		}
		if strings.HasPrefix(line["msg"].(string), "Webhook [") {
			lines = append(lines, line)
		}
	}
	return lines
}

func (s *service) executed(message string) (times int) {
	s.t.Helper()
	for _, line := range s.executions() {
		if line["msg"] == message {
			times++
		}
	}
	return times
}

func TestOneCallOnTheLog(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start()
		const marker = "a payload to be found"
		hook := s.put("eventKey=webhook.traced.call")
		last6 := hook.UUID[30:]
		a := s.call(hook.UUID, asText, marker).want(200)
		var called result
		a.json(&called)
		ev := s.eventRecord(hook.EventKey, called.CorrelationID)
		m := s.message(hook.EventKey, called.CorrelationID)

		t.Run("the result JSON has the fields of the interface and traceId, and the trace information as value", func(t *testing.T) {
			want := `{"statusCode":200,"status":"ok","value":{"status":"OK","traceId":"` + called.TraceID + `"},"pollingRedirectEnabled":false,` +
				`"correlationId":"` + called.CorrelationID + `","traceId":"` + called.TraceID + `"}`
			if diff := cmp.Diff(want, string(a.body)); diff != "" {
				t.Errorf("body (-want +got):\n%s", diff)
			}
			for name, want := range map[string]string{
				"Content-Type": "application/json", "Cache-Control": "no-store",
				"svc-result-correlationid": called.CorrelationID, "svc-trace-id": called.TraceID,
			} {
				if got := a.header.Get(name); got != want {
					t.Errorf("header %s: %q, want %q", name, got, want)
				}
			}
		})
		t.Run("traceId is <last6>:<random_id>, one in answer, header, record and log line", func(t *testing.T) {
			s := s.in(t)
			if !regexp.MustCompile(`^` + last6 + `:[a-z2-7]{10}$`).MatchString(called.TraceID) {
				t.Errorf("trace id %q", called.TraceID)
			}
			for where, got := range map[string]string{
				"header of the answer": a.header.Get("svc-trace-id"), "message": m.TraceID, "header of the record": recordHeader(ev, "svc-trace-id"),
			} {
				if got != called.TraceID {
					t.Errorf("trace id %q in the %s, want %q", got, where, called.TraceID)
				}
			}
			if n := s.executed("Webhook [" + called.TraceID + "]: OK"); n != 1 {
				t.Errorf("%d log lines of the call in %s", n, s.logs)
			}
		})
		t.Run("the record has no key and the headers of CloudEvents in binary mode and hooklog's own", func(t *testing.T) {
			traceparent := recordHeader(ev, "traceparent")
			if !regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-00$`).MatchString(traceparent) {
				t.Errorf("traceparent %q", traceparent)
			}
			got := map[string]string{}
			for _, h := range ev.Headers {
				got[h.Key] = string(h.Value)
			}
			want := map[string]string{
				"ce_specversion": "1.0", "ce_id": called.CorrelationID, "ce_type": hook.EventKey,
				"ce_source": s.app.BaseURL() + "/webhook/" + last6, "ce_time": m.Received.Format("2006-01-02T15:04:05.000Z"),
				"content-type": "application/json", "traceparent": traceparent,
				"svc-trace-id": called.TraceID, "svc-last6": last6,
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("headers (-want +got):\n%s", diff)
			}
			if ev.Key != nil || len(ev.Headers) != len(got) {
				t.Errorf("key %q, headers %v", ev.Key, ev.Headers)
			}
			if !ev.Timestamp.Equal(m.Received) {
				t.Errorf("the record's time is %s, received %s", ev.Timestamp, m.Received)
			}
		})
		t.Run("the accepted record names the event by position and digest, and has no payload", func(t *testing.T) {
			lives := s.in(t).records("svc.call")
			if len(lives) != 1 {
				t.Fatalf("%d records on svc.call", len(lives))
			}
			life := asRecord(lives[0])
			decoded, err := call.Decode(&life)
			if err != nil {
				t.Fatal(err)
			}
			event := asRecord(ev)
			want := call.Accepted{
				CorrelationID: called.CorrelationID, TraceID: called.TraceID, EventKey: hook.EventKey, Last6: last6,
				Received: m.Received, Method: "POST", Size: len(marker), Address: "127.0.0.1",
				Event: call.EventAt(event.Position, record.ContentDigest(event.Headers, event.Value)),
			}
			if diff := cmp.Diff(want, decoded); diff != "" {
				t.Errorf("accepted (-want +got):\n%s", diff)
			}
			if life.Header("svc-type") != "call.accepted/1" || string(life.Key) != called.CorrelationID {
				t.Errorf("key %q, headers %v", life.Key, life.Headers)
			}
			if life.TraceContext() != event.TraceContext() || life.Header("svc-trace-id") != called.TraceID || life.Header("svc-event-key") != hook.EventKey {
				t.Errorf("the headers %v are not of the event's trace %v", life.Headers, event.TraceContext())
			}
			payload := strings.Trim(string(m.Payload[len(`{"origin":`):]), `"}`)
			if !strings.Contains(string(ev.Value), payload) || strings.Contains(string(life.Value), payload) {
				t.Errorf("payload %q must be in %s and not in %s", payload, ev.Value, life.Value)
			}
		})
	})
}

func TestTraceIDsAreNew(t *testing.T) {
	s := startOnOne(t)
	hook := s.put("eventKey=webhook.traced.often")
	seen := map[string]bool{}
	const calls = 20
	for range calls {
		r := s.called(hook.UUID, asText, "x")
		seen[r.TraceID], seen[r.CorrelationID] = true, true
	}
	for _, r := range s.records("svc.event." + hook.EventKey) {
		seen[recordHeader(r, "traceparent")[3:35]] = true
	}
	if len(seen) != 3*calls {
		t.Errorf("%d different ids, want %d: trace id, correlation id and W3C trace new for each call", len(seen), 3*calls)
	}
}

func TestLogLines(t *testing.T) {
	s := startOnOne(t)
	hook := s.put("eventKey=webhook.logged", "payloadType=raw", "maxPayloadLength=100")
	called := s.called(hook.UUID, asText, "x", "Referer", "https://from.example/?token="+hook.UUID)

	for name, tt := range map[string]struct {
		call   request
		status int
		reason string
	}{
		"a payload over the limit":         {request{body: strings.Repeat("x", 101)}, 413, "too-large"},
		"binary for raw":                   {request{body: "\xff" + hook.UUID}, 415, "unsupported"},
		"an encoded body":                  {request{header: map[string][]string{"Content-Encoding": {hook.UUID}}}, 415, "unsupported"},
		"a bad parameter":                  {request{query: "pollingRedirectEnabled=" + hook.UUID}, 400, "invalid"},
		"multipart without a proper frame": {request{contentType: "multipart/form-data; boundary=" + hook.UUID, body: "x"}, 400, "invalid"},
	} {
		t.Run("Webhook [<last6>:<random_id>]: ERROR "+tt.reason+" for "+name, func(t *testing.T) {
			s := s.in(t)
			tt.call.query += "&token=" + hook.UUID
			document := wantProblem(t, s.receive(tt.call), tt.status, true)
			traceID := document["traceId"].(string)
			if n := s.executed("Webhook [" + traceID + "]: ERROR " + tt.reason); n != 1 {
				t.Errorf("%d lines for %s in %s", n, traceID, s.logs)
			}
			for _, line := range s.executions() {
				if trace, _ := line["trace_id"].(string); line["webhook_trace_id"] == traceID && len(trace) != 32 {
					t.Errorf("the line has the trace %q", trace)
				}
			}
		})
	}
	t.Run("structured fields stand beside the line", func(t *testing.T) {
		line := s.in(t).executions()[0]
		duration, timed := line["duration_ms"].(float64)
		if !timed || duration < 0 || duration > float64(patience/time.Millisecond) {
			t.Errorf("duration_ms %v", line["duration_ms"])
		}
		delete(line, "time")
		delete(line, "duration_ms")
		place := recordHeader(s.in(t).eventRecord(hook.EventKey, called.CorrelationID), "traceparent")
		want := map[string]any{
			"level": "INFO", "msg": "Webhook [" + called.TraceID + "]: OK", "webhook_trace_id": called.TraceID,
			"event_key": hook.EventKey, "last6": hook.UUID[30:], "size": 1.0,
			"trace_id": place[3:35], "span_id": place[36:52], // nothing is recorded, so the trace has one place
		}
		if diff := cmp.Diff(want, line); diff != "" {
			t.Errorf("line (-want +got):\n%s", diff)
		}
	})
	t.Run("no log line has a token or a correlation id", func(t *testing.T) {
		s := s.in(t)
		s.poll(called.CorrelationID, "").want(200)
		s.receive(request{query: "token=" + hook.UUID + "0"}).want(404)
		s.receive(request{method: "PUT", query: "token=" + hook.UUID}).want(405)
		s.dial("GET //" + hook.UUID + "?token=" + hook.UUID + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").want(404)
		s.command("webhook.get", "uuid="+hook.UUID).want(200)
		logged := s.logs.String() + s.out.String()
		if !strings.Contains(logged, called.TraceID) || !strings.Contains(logged, hook.UUID[30:]) {
			t.Fatalf("the call itself is not logged: %s", logged)
		}
		for what, hidden := range map[string]string{"token": hook.UUID, "correlation id": called.CorrelationID} {
			if strings.Contains(logged, hidden) {
				t.Errorf("the %s is in the log: %s", what, logged)
			}
		}
	})
}
