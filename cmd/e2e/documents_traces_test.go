package e2e_test

import "strings"

const (
	traceGetPath  = commandPath + "trace.get"
	eventGetPath  = commandPath + "event.get"
	eventTailPath = commandPath + "event.tail"
)

// exchangeTraces finds calls and reads their events.
func (s *service) exchangeTraces() {
	s.t.Helper()
	hook := s.put("eventKey=webhook.found", "payloadType=raw")
	first := s.called(hook.UUID, asJSON, `{"a":[1,null,"<&>"]}`)
	s.called(hook.UUID, asText, "")
	ran := s.called(s.put("eventKey=webhook.docs.fails.too").UUID, asJSON, "1")
	s.loseEvent("webhook.lost.too")
	lost := s.traces("last6=" + last6Of(s, "webhook.lost.too"))[0].CorrelationID
	const nobody = "00000000-0000-4000-8000-000000000000"
	const times = "&from=2020-01-31T12:00:00Z&to=2100-01-31T12:00:00.5%2B01:00"
	for _, e := range []exchange{
		{"GET", traceGetPath + "?last6=" + hook.UUID[30:] + "&eventKey=webhook.found&limit=2" + times, "", "", manage(), 200},
		{"GET", traceGetPath + "?traceId=" + first.TraceID, "", "", manage(), 200},
		{"GET", traceGetPath + "?receipt=false&correlationId=" + ran.CorrelationID, "", "", manage(), 200},
		{"GET", traceGetPath + "?receipt=true&correlationId=" + ran.CorrelationID, "", "", manage(), 409},
		{"POST", traceGetPath, asForm, "correlationId=" + nobody, manage(), 200},
		{"POST", traceGetPath, asJSON, `{"traceId":"` + first.TraceID + `"}`, manage(), 200},
		{"POST", traceGetPath, asJSON, `{"traceId":"` + first.TraceID + `","receipt":true}`, manage(), 409},

		{"GET", eventGetPath + "?correlationId=" + first.CorrelationID, "", "", manage(), 200},
		{"GET", eventGetPath + "?correlationId=" + nobody, "", "", manage(), 404},
		{"GET", eventGetPath + "?correlationId=" + lost, "", "", manage(), 410},
		{"POST", eventGetPath, asForm, "correlationId=" + first.CorrelationID, manage(), 200},
		{"POST", eventGetPath, asJSON, `{"correlationId":"` + nobody + `"}`, manage(), 404},
		{"POST", eventGetPath, asJSON, `{"correlationId":"` + lost + `"}`, manage(), 410},

		{"GET", eventTailPath + "?eventKey=webhook.found", "", "", manage(), 200},
		{"GET", eventTailPath + "?eventKey=webhook.found&cursor=start&limit=1&wait=25", "", "", manage(), 200},
		{"GET", eventTailPath + "?eventKey=webhook.lost.too&cursor=start", "", "", manage(), 200},
		{"GET", eventTailPath + "?eventKey=docs.sent&cursor=start", "", "", manage(), 200},
		{"POST", eventTailPath, asForm, "eventKey=webhook.nowhere&wait=0&cursor=start", manage(), 200},
	} {
		s.exchange(e)
	}
	next := s.exchange(exchange{"POST", traceGetPath, asJSON, `{"last6":"` + hook.UUID[30:] + `","limit":1}`, manage(), 200}).object()["next"].(string)
	s.exchange(exchange{"GET", traceGetPath + "?last6=" + hook.UUID[30:] + "&cursor=" + next, "", "", manage(), 200})
	next = s.exchange(exchange{"POST", eventTailPath, asJSON, `{"eventKey":"webhook.found","cursor":"start","limit":1}`, manage(), 200}).object()["next"].(string)
	s.exchange(exchange{"GET", eventTailPath + "?eventKey=webhook.found&cursor=" + next, "", "", manage(), 200})
}

// last6Of finds a webhook by its key.
func last6Of(s *service, eventKey string) string {
	s.t.Helper()
	var page struct {
		Items []struct{ EventKey, Last6 string }
	}
	s.command("webhook.list").want(200).json(&page)
	for _, w := range page.Items {
		if w.EventKey == eventKey {
			return w.Last6
		}
	}
	s.t.Fatalf("there is no webhook %s", eventKey)
	return ""
}

// exchangeTraceParameters is exchangeParameters for these commands.
func (s *service) exchangeTraceParameters(d *documented) {
	s.t.Helper()
	for _, e := range []exchange{
		{"POST", traceGetPath, asJSON, `{}`, manage(), 400},
		{"POST", traceGetPath, asJSON, `{"last6":"e1f3a9","traceId":"e1f3a9:k3v7qz2mna"}`, manage(), 400},
		{"POST", traceGetPath, asJSON, `{"last6":"E1F3A9"}`, manage(), 400},
		{"GET", traceGetPath + "?last6=e1f3a", "", "", manage(), 400},
		{"GET", traceGetPath + "?last6=e1f3a9&from=yesterday", "", "", manage(), 400},
		{"GET", traceGetPath + "?last6=e1f3a9&to=2026-01-31", "", "", manage(), 400},
		{"GET", traceGetPath + "?last6=e1f3a9&limit=0", "", "", manage(), 400},
		{"GET", traceGetPath + "?last6=e1f3a9&cursor=*", "", "", manage(), 400},
		{"POST", eventGetPath, asJSON, `{}`, manage(), 400},
		{"POST", eventTailPath, asJSON, `{"wait":1}`, manage(), 400},
		{"GET", eventTailPath + "?eventKey=webhook.a&wait=26", "", "", manage(), 400},
		{"GET", eventTailPath + "?eventKey=webhook.a&wait=-1", "", "", manage(), 400},
		{"GET", eventTailPath + "?eventKey=webhook.a&limit=1001", "", "", manage(), 400},
		{"GET", eventTailPath + "?eventKey=webhook.a&cursor=*", "", "", manage(), 400},
	} {
		s.refusedByBoth(d, e)
	}
	for _, cursor := range []string{"AAAA", strings.Repeat("A", 60)} { // in form, but never given out
		s.exchange(exchange{"GET", traceGetPath + "?last6=e1f3a9&cursor=" + cursor, "", "", manage(), 400})
		s.exchange(exchange{"GET", eventTailPath + "?eventKey=webhook.a&cursor=" + cursor, "", "", manage(), 400})
	}
}
