package e2e_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"
)

func getEvents(s *service) {
	hook := s.put("eventKey=webhook.shown", "payloadType=raw")
	r := s.called(hook.UUID, asJSON, `{"html":"<a href='x'>&</a>","n":1.50,"s":"ü\u2028"}`)
	got := s.command("event.get", "correlationId="+r.CorrelationID).want(http.StatusOK)
	if ev := s.eventRecord(hook.EventKey, r.CorrelationID); !bytes.Equal(ev.Value, got.body) {
		s.t.Errorf("answered\n%s\non the log is\n%s", got.body, ev.Value)
	}
	s.command("event.get", "correlationId="+nilUUID).refused(http.StatusNotFound)
	s.command("event.get", "correlationId=x").refused(http.StatusNotFound)

	ann := s.user("shown-ann", kimsPassword)
	s.command("policy.put", "name=shown-ann", "users=shown-ann", "commands=event.get,trace.get", "keys=webhook.shown.not").want(http.StatusOK)
	unknown := ann.run("event.get", "correlationId="+nilUUID).refused(http.StatusNotFound)
	if hidden := ann.run("event.get", "correlationId="+r.CorrelationID).refused(http.StatusNotFound); hidden != unknown {
		s.t.Errorf("whoever may not read the key learns that the call exists: %q, not %q", hidden, unknown)
	}
	s.command("policy.put", "name=shown-ann", "users=shown-ann", "commands=event.get", "keys=webhook.shown").want(http.StatusOK)
	ann.run("event.get", "correlationId="+r.CorrelationID).want(http.StatusOK)
}

// tailed is the answer of event.tail.
type tailed struct {
	Items []struct {
		TraceID       string          `json:"traceId"`
		CorrelationID string          `json:"correlationId"`
		Received      time.Time       `json:"received"`
		Position      spot            `json:"position"`
		Event         json.RawMessage `json:"event"`
	} `json:"items"`
	Next string `json:"next"`
}

func (p tailed) ids() (ids []string) {
	for _, i := range p.Items {
		ids = append(ids, i.CorrelationID)
	}
	return ids
}

// tail runs event.tail as the administrator.
func (s *service) tail(eventKey, cursor string, params ...string) (p tailed) {
	s.t.Helper()
	params = append(params, "eventKey="+eventKey)
	if cursor != "" {
		params = append(params, "cursor="+cursor)
	}
	s.command("event.tail", params...).want(http.StatusOK).json(&p)
	if p.Next == "" {
		s.t.Fatal("the answer does not say where to go on")
	}
	return p
}

func tailEvents(s *service) {
	hook := s.put("eventKey=webhook.tailed", "payloadType=raw")
	before := s.tail(hook.EventKey, "")
	ids := s.calls(hook, 9)
	slices.Reverse(ids)
	end := s.tail(hook.EventKey, "")
	s.calls(s.put("eventKey=webhook.tailed.not"), 2)
	messages := map[string]string{}
	for _, ev := range s.records("svc.event." + hook.EventKey) {
		messages[recordHeader(ev, "ce_id")] = string(ev.Value)
	}
	for name, begin := range map[string]string{"from the start": "start", "from where the end was": before.Next} {
		var got []string
		for cursor := begin; ; {
			page := s.tail(hook.EventKey, cursor, "limit=2")
			if len(page.Items) == 0 {
				break
			}
			for _, i := range page.Items {
				if messages[i.CorrelationID] != string(i.Event) || i.Position.Topic != "svc.call" || !strings.Contains(string(i.Event), i.TraceID) || i.Received.IsZero() {
					s.t.Errorf("%s: %+v", name, i)
				}
			}
			got, cursor = append(got, page.ids()...), page.Next
		}
		// Calls on several partitions are each in the order of theirs.
		if slices.Sort(got); !slices.Equal(got, slices.Sorted(slices.Values(ids))) {
			s.t.Errorf("%s: %v, want %v", name, got, ids)
		}
	}
	if len(before.Items)+len(end.Items) != 0 {
		s.t.Errorf("without a cursor: %v and %v", before.Items, end.Items)
	}
	if page := s.tail(hook.EventKey, end.Next); len(page.Items) != 0 {
		s.t.Errorf("behind the end: %v", page.ids())
	}
	last := s.called(hook.UUID, asJSON, "1").CorrelationID
	if page := s.tail(hook.EventKey, end.Next, "wait=25"); !slices.Equal(page.ids(), []string{last}) {
		s.t.Errorf("behind the end then: %v, want %s", page.ids(), last)
	}
}

// waiting runs event.tail in the background.
func (s *service) waiting(eventKey, cursor string) <-chan tailed {
	s.t.Helper()
	answered := make(chan tailed, 1)
	own := s.in(s.t)
	go func() { answered <- own.tail(eventKey, cursor, "wait=25") }()
	return answered
}

// stillWaits fails the test if there is an answer within a moment.
func stillWaits(t *testing.T, answered <-chan tailed) {
	t.Helper()
	select {
	case page := <-answered:
		t.Fatalf("answered %v", page.ids())
	case <-time.After(200 * time.Millisecond):
	}
}

func tailWaits(s *service) {
	hook, other := s.put("eventKey=webhook.awaited"), s.put("eventKey=webhook.awaited.not")
	answered := s.waiting(hook.EventKey, s.tail(hook.EventKey, "").Next)
	stillWaits(s.t, answered)
	s.called(other.UUID, asText, "x")
	stillWaits(s.t, answered)
	began := time.Now()
	r := s.called(hook.UUID, asText, "x")
	if page := <-answered; !slices.Equal(page.ids(), []string{r.CorrelationID}) {
		s.t.Errorf("answered %v, want %s", page.ids(), r.CorrelationID)
	}
	if took := time.Since(began); took > 5*time.Second {
		s.t.Errorf("the answer came %s after the call", took)
	}
	began = time.Now()
	if page := s.tail(hook.EventKey, s.tail(hook.EventKey, "").Next, "wait=1"); len(page.Items) != 0 || time.Since(began) < time.Second {
		s.t.Errorf("answered %v after %s", page.ids(), time.Since(began))
	}
}

func tailIsHeldTwice(s *service) {
	hook := s.put("eventKey=webhook.held.twice")
	end := s.tail(hook.EventKey, "").Next
	first := s.waiting(hook.EventKey, end)
	stillWaits(s.t, first)
	second := s.waiting(hook.EventKey, end)
	stillWaits(s.t, second)
	third := s.waiting(hook.EventKey, end)
	if page := <-first; len(page.Items) != 0 || page.Next != end {
		s.t.Errorf("the oldest was answered %v, %q", page.ids(), page.Next)
	}
	stillWaits(s.t, second)
	s.called(hook.UUID, asText, "x")
	for _, answered := range []<-chan tailed{second, third} {
		if page := <-answered; len(page.Items) != 1 {
			s.t.Errorf("the others were answered %v", page.ids())
		}
	}
}

func tailIsARight(s *service) {
	hook := s.put("eventKey=webhook.tail.right")
	s.called(hook.UUID, asText, "x")
	ann := s.user("tail-ann", kimsPassword)
	s.command("policy.put", "name=tail-ann", "users=tail-ann", "commands=event.tail", "keys=webhook.tail.wrong").want(http.StatusOK)
	ann.forbidden("event.tail", "eventKey="+hook.EventKey, "cursor=start")
	ann.run("event.tail", "eventKey=webhook.tail.wrong", "cursor=start").want(http.StatusOK)
	for _, bad := range []string{"wait=26", "wait=-1", "limit=0", "cursor=AAAA", "cursor=%"} {
		name, _, _ := strings.Cut(bad, "=")
		if detail := s.command("event.tail", bad, "eventKey="+hook.EventKey).refused(http.StatusBadRequest); !strings.Contains(detail, name) {
			s.t.Errorf("%s: the refusal %q does not name it", bad, detail)
		}
	}
}

func TestEventTailGoesOnAfterARestart(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start()
		hook := s.put("eventKey=webhook.restarted")
		s.called(hook.UUID, asText, "0")
		end := s.tail(hook.EventKey, "").Next
		answered := s.waiting(hook.EventKey, end)
		stillWaits(t, answered)
		s.restart() // and it drains at once
		if page := <-answered; len(page.Items) != 0 || page.Next != end {
			t.Errorf("the drain was answered %v, %q", page.ids(), page.Next)
		}
		r := s.called(hook.UUID, asText, "1")
		if page := s.tail(hook.EventKey, end, "wait=25"); !slices.Equal(page.ids(), []string{r.CorrelationID}) {
			t.Errorf("then %v, want %s", page.ids(), r.CorrelationID)
		}
	})
}
