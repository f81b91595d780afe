package e2e_test

import (
	"context"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"

	"hooklog/domain/call"
	"hooklog/domain/record"
)

// receiving is a pipeline that a call starts and that answers with the payload of
// an event, which the payload of the call may name.
const receiving = "- event.receive: {eventKey: 'KEY', traceId: '${body.payload.traceId}'}\n  if: ${'traceId' in body.payload}\n  id: one\n" +
	"- event.receive: {eventKey: 'KEY'}\n  if: ${body.eventKey == 'webhook.receiving'}\n  id: newest\n" +
	"body: ${body.payload}\n"

func receiveEvents(s *service) {
	orders, stock := s.put("eventKey=webhook.received.orders", "payloadType=raw"), s.put("eventKey=webhook.received.stock", "payloadType=raw")
	now := s.listening("webhook.receiving", "receiving", strings.ReplaceAll(receiving, "KEY", "webhook.received.*"))
	ask := func(payload string) result {
		s.t.Helper()
		return s.called(now.UUID, asJSON, payload)
	}
	s.wantFailed(ask(`{}`), "No event that may be received fits")

	// What was acknowledged before a pipeline starts is there for it, wherever on
	// the log it lies.
	for n := range 5 {
		first := s.called(orders.UUID, asJSON, strconv.Itoa(n))
		s.clock.tick()
		second := s.called(stock.UUID, asJSON, strconv.Itoa(100+n))
		ask(`{}`).wantValue(s.t, strconv.Itoa(100+n))
		ask(`{"traceId":"`+first.TraceID+`"}`).wantValue(s.t, strconv.Itoa(n))
		ask(`{"traceId":"`+second.TraceID+`"}`).wantValue(s.t, strconv.Itoa(100+n))
	}
	s.wantFailed(ask(`{"traceId":"abcdef:abcdefghij"}`), "No event that may be received fits")
	foreign := s.called(s.put("eventKey=webhook.not-received").UUID, asJSON, `1`)
	s.wantFailed(ask(`{"traceId":"`+foreign.TraceID+`"}`), "No event that may be received fits")

	// Who runs a pipeline receives as well.
	for key, want := range map[string]string{"webhook.received.orders": "4", "webhook.received.#": "104"} {
		got := s.runNow("pipeline: [{event.receive: {eventKey: '" + key + "'}}]\nbody: ${body.payload}").want(http.StatusOK)
		if string(got.body) != want {
			s.t.Errorf("the newest of %s is %s, want %s", key, got.body, want)
		}
	}
}

// tick returns when a call gets a later time than those before, which have
// milliseconds.
func (c *clock) tick() {
	for before := c.now().UnixMilli(); c.now().UnixMilli() == before; {
		runtime.Gosched()
	}
}

func receiveReadableEvents(s *service) {
	open, closed := s.put("eventKey=webhook.readable.open", "payloadType=raw"), s.put("eventKey=webhook.readable.closed", "payloadType=raw")
	now := s.put("eventKey=webhook.reading", "payloadType=raw")
	ben := s.user("reading-ben", kimsPassword)
	s.command("policy.put", "name=reading-ben", "users=reading-ben", "commands=pipeline.*,event.listen", "keys=*").want(http.StatusOK)
	s.command("policy.put", "name=reading-ben-too", "users=reading-ben", "commands=event.receive", "keys=webhook.readable.open").want(http.StatusOK)
	s.called(open.UUID, asJSON, `"open"`)
	secret := s.called(closed.UUID, asJSON, `"closed"`)

	put := func(step string) {
		s.t.Helper()
		ben.run("pipeline.put", "name=reading", "body="+listenTo("webhook.reading", "- "+step+"\nbody: ${body.payload}")).want(http.StatusOK)
	}
	put("event.receive: {eventKey: webhook.readable.*}")
	s.called(now.UUID, asJSON, `1`).wantValue(s.t, `"open"`)
	for _, step := range []string{
		"event.receive: {eventKey: webhook.readable.closed}",
		"event.receive: {eventKey: webhook.readable.closed, traceId: '" + secret.TraceID + "'}",
		"event.receive: {eventKey: 'webhook.#', traceId: '" + secret.TraceID + "'}",
	} {
		put(step)
		s.wantFailed(s.called(now.UUID, asJSON, `1`), "No event that may be received fits")
		ben.runNow("pipeline: [{" + step + "}]").refused(http.StatusNotFound)
	}
}

func sendEvents(s *service) {
	s.worker("sender", "event.send", "sent.*")
	s.store("sent-listener", listenTo("sent.orders", "body: {payload: '${body.payload}', traceId: '${body.traceId}', id: '${body.correlationId}'}"))
	hook := s.listening("webhook.sending", "sending",
		"- iam.run.as: {user: sender}\n- event.send: {eventKey: '${body.payload.key}', payload: '${body.payload}'}\n")

	r := s.called(hook.UUID, asJSON, `{"key":"sent.orders","text":"${1+1}"}`)
	var sent struct{ EventKey, TraceID, CorrelationID string }
	r.into(s.t, &sent)
	id, err := uuid.Parse(sent.CorrelationID)
	if err != nil || id.Version() != 8 || sent.EventKey != "sent.orders" || sent.TraceID != r.TraceID || sent.CorrelationID == r.CorrelationID {
		s.t.Errorf("sent %+v in the call %+v", sent, r)
	}
	s.await(sent.CorrelationID).wantValue(s.t,
		`{"payload":{"key":"sent.orders","text":"${1+1}"},"traceId":"`+r.TraceID+`","id":"`+sent.CorrelationID+`"}`)
	events := s.records("svc.event.sent.orders")
	if len(events) != 1 || recordHeader(events[0], record.HeaderDepth) != "1" || recordHeader(events[0], "ce_id") != sent.CorrelationID {
		s.t.Errorf("%d events, the first with %v", len(events), events[0].Headers)
	}

	// It is found by the trace of the call that led to it.
	got := s.runNow("pipeline: [event.receive: {eventKey: sent.*, traceId: '" + r.TraceID + "'}]\nbody: ${body.correlationId}").want(http.StatusOK)
	if string(got.body) != `"`+sent.CorrelationID+`"` {
		s.t.Errorf("received %s", got.body)
	}

	for key, why := range map[string]string{
		"webhook.sending": "must not send what only webhooks do",
		"webhook.other":   "must not send what only webhooks do",
		"webhook":         "must not send what only webhooks do",
		"sent.Orders":     "eventKey must be",
		"other.orders":    "sender may not run event.send on this key",
	} {
		s.wantFailed(s.called(hook.UUID, asJSON, `{"key":"`+key+`"}`), why)
	}
	anonymous := s.listening("webhook.sending.anonymous", "sending-anonymous", "- event.send: {eventKey: sent.orders}\n")
	s.wantFailed(s.called(anonymous.UUID, asJSON, `1`), "anonymousUser may not run event.send")
}

// A repeat sends under the same id, and the first one counts.
func sendOnce(s *service) {
	s.store("once-listener", listenTo("once.*", "body: ${body.payload}"))
	again := s.as("Authorization", basic("admin", adminPassword), "Idempotency-Key", "send-once")
	send := func(who caller, key string) (id string) {
		s.t.Helper()
		who.runNow("pipeline: [event.send: {eventKey: once." + key + ", payload: 1}]\nbody: ${body.correlationId}").want(http.StatusOK).json(&id)
		return id
	}
	first, second := send(again, "same"), send(again, "same")
	if first != second {
		s.t.Errorf("a repeat sends %s after %s", second, first)
	}
	s.await(first).wantValue(s.t, `1`)
	other := send(s.as("Authorization", basic("admin", adminPassword)), "other")
	s.await(other).wantValue(s.t, `1`)
	accepted, completed := 0, 0
	for _, r := range s.records(record.TopicCall) {
		switch kind := recordHeader(r, record.HeaderType); {
		case string(r.Key) != first:
		case kind == call.AcceptedType:
			accepted++
		case kind == call.CompletedType:
			completed++
		}
	}
	if accepted != 2 || completed != 1 || first == other {
		s.t.Errorf("accepted %d times and run %d times, want 2 and 1", accepted, completed)
	}
}

// A pipeline that sends what it listens to is stopped at its depth.
func sendInCircles(s *service) {
	s.worker("circler", "event.send", "circle")
	hook := s.listening("webhook.circling", "circling", "- iam.run.as: {user: circler}\n- event.send: {eventKey: circle}\n")
	s.store("circle", listenTo("circle", "- iam.run.as: {user: circler}\n- event.send: {eventKey: circle}\n"))
	first := s.called(hook.UUID, asJSON, `1`)
	if first.Status != "ok" {
		s.t.Fatalf("the call is %+v", first)
	}
	failed := func() []run { return s.runs("pipeline=circle", "status=error") }
	eventually(s.t, "the circle is broken", func() bool { return len(failed()) > 0 })
	if all := s.runs("pipeline=circle"); len(all) != 8 {
		s.t.Errorf("there are %d runs, want 8", len(all))
	}
	last := failed()[0]
	if !strings.Contains(last.Error, "more than 8 events led to one another") || last.TraceID != first.TraceID {
		s.t.Errorf("the last run is %+v", last)
	}
}

func sendMessages(s *service) {
	s.worker("messenger", "message.send", "*")
	hook := s.listening("webhook.messaging", "messaging",
		"- iam.run.as: {user: messenger}\n- message.send: {key: '${body.payload.topic}', payload: '${body.payload.text}'}\n")
	for _, topic := range []string{"e2e.unlisted", "svc.event.webhook.messaging", "svc.command", "svc.call"} {
		s.wantFailed(s.called(hook.UUID, asJSON, `{"topic":"`+topic+`","text":"hello"}`), "the operator does not allow message.send to write to this topic")
	}
	anonymous := s.listening("webhook.messaging.anonymous", "messaging-anonymous", "- message.send: {key: "+listedTopic+"}\n")
	s.wantFailed(s.called(anonymous.UUID, asJSON, `1`), "anonymousUser may not run message.send")
	if !s.cfg.Embedded() {
		s.madeTopic(listedTopic)
	}
	r := s.called(hook.UUID, asJSON, `{"topic":"`+listedTopic+`","text":"hello"}`)
	r.wantValue(s.t, `{"key":"`+listedTopic+`","traceId":"`+r.TraceID+`"}`)
	if s.cfg.Embedded() {
		return // its window shows no such topic
	}
	written := s.records(listedTopic)
	if len(written) != 1 || string(written[0].Value) != "hello" || recordHeader(written[0], record.HeaderTraceID) != r.TraceID {
		s.t.Errorf("%d messages: %v", len(written), written)
	}
}

// madeTopic makes a topic that is not the service's, for the time of the test.
func (s *service) madeTopic(name string) {
	s.t.Helper()
	admin := kadm.NewClient(s.kafka())
	_, _ = admin.DeleteTopics(s.t.Context(), name) // from a run that was broken off
	eventually(s.t, "the topic is made", func() bool {
		_, err := admin.CreateTopic(s.t.Context(), 1, 1, nil, name)
		return err == nil
	})
	s.t.Cleanup(func() { _, _ = admin.DeleteTopics(context.Background(), name) })
}

// into decodes the value of a call that ended well.
func (r result) into(t *testing.T, v any) {
	t.Helper()
	if r.Status != "ok" {
		t.Fatalf("the call is %+v", r)
	}
	decodeInto(t, string(r.Value), v)
}
