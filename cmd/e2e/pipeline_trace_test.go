package e2e_test

import (
	"net/http"
	"slices"
	"strings"
)

// Nothing is exported here: what follows a call can be followed all the same.
func stayInOneTrace(s *service) {
	hook := s.listening("webhook.one-trace", "one-trace", "- event.receive: {eventKey: webhook.nowhere}\n")
	r := s.called(hook.UUID, asJSON, `1`)
	s.command("run.retry", "correlationId="+r.CorrelationID).want(http.StatusOK)
	eventually(s.t, "the second attempt ends", func() bool {
		runs := s.runs("correlationId=" + r.CorrelationID)
		return runs[0].Attempt == 2 && runs[0].Status == "error"
	})
	traceparent := recordHeader(s.eventRecord(hook.EventKey, r.CorrelationID), "traceparent")
	var types []string
	for _, record := range s.records("svc.call") {
		if string(record.Key) != r.CorrelationID {
			continue
		}
		types = append(types, recordHeader(record, "svc-type"))
		if got := recordHeader(record, "traceparent"); len(got) != len(traceparent) || !strings.HasPrefix(got, traceparent[:35]) {
			s.t.Errorf("%s follows %q, the event %q", types[len(types)-1], got, traceparent)
		}
		if recordHeader(record, "svc-trace-id") != r.TraceID || recordHeader(record, "svc-event-key") != hook.EventKey {
			s.t.Errorf("the headers of %s are %v", types[len(types)-1], record.Headers)
		}
	}
	if want := []string{"call.accepted/1", "call.completed/1", "call.retried/1", "call.completed/1"}; !slices.Equal(types, want) {
		s.t.Errorf("the records are %v, want %v", types, want)
	}
}
