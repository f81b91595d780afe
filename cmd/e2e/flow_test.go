package e2e_test

import (
	"testing"
)

// The whole flow in a breath: create, call, see the record, poll, restart, poll.
func TestCreateCallAndPoll(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start()
		hook := s.put("eventKey=webhook.demo")
		called := s.called(hook.UUID, "application/json", `{"hello":"world"}`)
		if called.Status != "ok" || called.CorrelationID == "" {
			t.Fatalf("got %+v", called)
		}
		events := s.events("webhook.demo")
		if len(events) != 1 || events[0]["correlationId"] != called.CorrelationID {
			t.Fatalf("events: %v", events)
		}
		for range 2 {
			var polled result
			s.poll(called.CorrelationID, "").want(200).json(&polled)
			if polled.TraceID != called.TraceID || polled.Status != "ok" {
				t.Fatalf("polled %+v", polled)
			}
			s.restart()
		}
	})
}
