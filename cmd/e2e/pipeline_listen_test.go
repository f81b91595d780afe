package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

func listenToEvents(s *service) {
	s.store("listen-exact", listenTo("webhook.listen.orders", `body: exact`))
	s.store("listen-one", listenTo("webhook.listen.*", `body: one`))
	s.store("listen-between", listenTo("webhook.listen.*.paid", `body: between`))
	s.store("listen-any", listenTo("webhook.listen.#", `body: any`))
	for key, value := range map[string]string{
		"webhook.listen":             `"any"`,
		"webhook.listen.orders":      `{"listen-any":"any","listen-exact":"exact","listen-one":"one"}`,
		"webhook.listen.stock":       `{"listen-any":"any","listen-one":"one"}`,
		"webhook.listen.orders.paid": `{"listen-any":"any","listen-between":"between"}`,
		"webhook.listen.a.b.c":       `"any"`,
	} {
		s.called(s.put("eventKey="+key).UUID, asJSON, `{}`).wantValue(s.t, value)
	}
	s.wantNobodyListens("webhook.listening.orders")
}

func receiveMessages(s *service) {
	receive := func(name, key string) {
		s.t.Helper()
		s.store(name, "pipeline:\n- message.receive: {key: '"+key+"'}\nbody: "+name)
	}
	receive("received-exact", "svc.event.webhook.message.orders")
	receive("received-one", "svc.event.webhook.message.*")
	receive("received-any", "svc.event.webhook.message.#")
	// None of these has the prefix, whatever their wildcards would fit.
	for name, key := range map[string]string{
		"without-exact": "webhook.message.orders", "without-one": "webhook.message.*", "without-any": "#",
		"without-first": "*.event.webhook.message.orders", "without-second": "svc.*.webhook.message.orders",
		"without-both": "*.*.webhook.message.orders", "without-groups": "svc.#", "without-less": "event.webhook.message.orders",
	} {
		receive(name, key)
	}
	for key, value := range map[string]string{
		"webhook.message.orders":     `{"received-any":"received-any","received-exact":"received-exact","received-one":"received-one"}`,
		"webhook.message.stock":      `{"received-any":"received-any","received-one":"received-one"}`,
		"webhook.message.orders.new": `"received-any"`,
	} {
		s.called(s.put("eventKey="+key).UUID, asJSON, `{}`).wantValue(s.t, value)
	}
	s.wantNobodyListens("webhook.messages.orders")
}

func listenInBothWays(s *service) {
	hook := s.put("eventKey=webhook.both", "payloadType=raw")
	s.store("both.event", listenTo("webhook.both", ""))
	s.store("both.message", "pipeline: [{message.receive: {key: svc.event.webhook.both}}]")
	const number = "12345678901234567890.10"
	r := s.called(hook.UUID, asJSON, `{"n":`+number+`}`, "X-Shop", "north")
	events := s.records("svc.event.webhook.both")
	if len(events) != 1 {
		s.t.Fatalf("there are %d events", len(events))
	}
	message := string(events[0].Value)
	r.wantValue(s.t, `{"both.event":`+message+`,"both.message":`+message+`}`)
	if n := strings.Count(string(r.Value), number); n != 2 {
		s.t.Errorf("the number stands %d times in %s", n, r.Value)
	}
	if got := s.runs("correlationId=" + r.CorrelationID); len(got) != 2 || !slices.ContainsFunc(got, func(r run) bool { return r.Pipeline == "both.message" }) {
		s.t.Errorf("the runs are %+v", got)
	}
}

// wantNobodyListens fails the test unless a call to a new webhook ends at once,
// with the trace information.
func (s *service) wantNobodyListens(eventKey string) {
	s.t.Helper()
	r := s.called(s.put("eventKey="+eventKey).UUID, asJSON, `{}`)
	r.wantValue(s.t, `{"status":"OK","traceId":"`+r.TraceID+`"}`)
}

func ownersListen(s *service) {
	ann := s.user("listen-ann", kimsPassword)
	rule := func(commands, keys string) {
		s.t.Helper()
		s.command("policy.put", "name=listen-ann", "users=listen-ann", "commands="+commands, "keys="+keys).want(http.StatusOK)
	}
	put := func(source string) answer {
		s.t.Helper()
		return ann.run("pipeline.put", "name=listen-anns", "body="+source)
	}
	listen, receive := listenTo("webhook.anns.orders", ""), "pipeline: [{message.receive: {key: svc.event.webhook.anns.orders}}]"
	rule("pipeline.put", "*")
	put(listen).refused(http.StatusForbidden)
	put(receive).refused(http.StatusForbidden)
	rule("pipeline.put,event.listen", "listen-anns,webhook.anns.*")
	put(receive).refused(http.StatusForbidden)
	put(listenTo("webhook.#", "")).refused(http.StatusForbidden)
	put(listenTo("webhook.anns", "")).refused(http.StatusForbidden)
	put(listenTo("webhook.anns.*", "")).want(http.StatusOK)
	put(listen).want(http.StatusOK)
	hook := s.put("eventKey=webhook.anns.orders", "payloadType=raw")
	if r := s.called(hook.UUID, asJSON, `1`); r.Status != "ok" {
		s.t.Errorf("with the right the call is %+v", r)
	}

	s.t.Run("also when the pipeline runs", func(t *testing.T) {
		s := s.in(t)
		rule("pipeline.put", "*")
		s.wantFailed(s.called(hook.UUID, asJSON, `1`), "listen-ann may not run event.listen on this key")
	})
}
