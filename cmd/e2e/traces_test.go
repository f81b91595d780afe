package e2e_test

import (
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hooklog/cmd/settings"
	"hooklog/domain/call"
	"hooklog/domain/record"
)

// traced is a call as trace.get shows it.
type traced struct {
	TraceID       string    `json:"traceId"`
	CorrelationID string    `json:"correlationId"`
	EventKey      string    `json:"eventKey"`
	Last6         string    `json:"last6"`
	Status        string    `json:"status"`
	Received      time.Time `json:"received"`
	Logged        time.Time `json:"logged"`
	Completed     time.Time `json:"completed"`
	Method        string    `json:"method"`
	Size          int       `json:"size"`
	Address       string    `json:"address"`
	Event         struct {
		spot
		SHA256 string `json:"sha256"`
	} `json:"event"`
	Call spot `json:"call"`
	Runs []struct {
		Pipeline string    `json:"pipeline"`
		Version  int       `json:"version"`
		Attempt  int       `json:"attempt"`
		Status   string    `json:"status"`
		Started  time.Time `json:"started"`
		Finished time.Time `json:"finished"`
		Error    string    `json:"error"`
		Steps    []struct {
			Path     string    `json:"path"`
			Command  string    `json:"command"`
			Started  time.Time `json:"started"`
			Finished time.Time `json:"finished"`
			Failed   bool      `json:"failed"`
		} `json:"steps"`
	} `json:"runs"`
}

type spot struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

// tracePage gives a page of calls and where the next begins.
func (c caller) tracePage(params ...string) (calls []traced, next string) {
	c.s.t.Helper()
	var page struct {
		Items []traced `json:"items"`
		Next  string   `json:"next"`
	}
	c.run("trace.get", params...).want(http.StatusOK).json(&page)
	return page.Items, page.Next
}

// traces are all calls of a search, page by page.
func (c caller) traces(params ...string) (all []traced) {
	c.s.t.Helper()
	for more := []string(nil); ; {
		calls, next := c.tracePage(append(more, params...)...)
		all = append(all, calls...)
		if next == "" {
			return all
		}
		more = []string{"cursor=" + next}
	}
}

func (s *service) admin() caller { return s.as("Authorization", basic("admin", adminPassword)) }

func (s *service) traces(params ...string) []traced {
	s.t.Helper()
	s.folded()
	return s.admin().traces(params...)
}

func correlationIDs(calls []traced) (ids []string) {
	for _, c := range calls {
		ids = append(ids, c.CorrelationID)
	}
	return ids
}

// The tests share one service on each log, and so keep to keys, users and rules of
// their own.
func TestTraces(t *testing.T) {
	tests := map[string]func(*service){
		"by last6":                  tracesByLast6,
		"by last6 with from and to": tracesInTime,
		"by trace id":               tracesByTraceID,
		"by correlation id":         tracesByCorrelationID,
		"a scoped user sees nothing of other keys":    tracesOfAScopedUser,
		"of two pipelines and a retry":                tracesOfRuns,
		"event.get":                                   getEvents,
		"event.tail":                                  tailEvents,
		"event.tail waits":                            tailWaits,
		"event.tail is held twice for a user and key": tailIsHeldTwice,
		"event.tail shows nothing of a key to others": tailIsARight,
	}
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start(unhurried)
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(s.in(t))
			})
		}
	})
}

// calls makes calls to a webhook and gives their ids, the newest first.
func (s *service) calls(hook webhook, n int) (ids []string) {
	s.t.Helper()
	for i := range n {
		ids = append(ids, s.called(hook.UUID, asText, strconv.Itoa(i)).CorrelationID)
		time.Sleep(2 * time.Millisecond) // calls of one millisecond have no order
	}
	slices.Reverse(ids)
	return ids
}

func tracesByLast6(s *service) {
	hook, other := s.put("eventKey=webhook.traces.last6"), s.put("eventKey=webhook.traces.other")
	want := s.calls(hook, 7)
	s.calls(other, 3)
	for _, limit := range []string{"1", "3", "7", "100"} {
		if got := correlationIDs(s.traces("last6="+hook.UUID[30:], "limit="+limit)); !slices.Equal(got, want) {
			s.t.Errorf("%s on a page: found %v, want %v", limit, got, want)
		}
	}
	if got := s.traces("last6="+hook.UUID[30:], "eventKey=webhook.traces.other"); len(got) != 0 {
		s.t.Errorf("with another key: found %v", got)
	}
	s.t.Run("pages stay right while calls come in", func(t *testing.T) {
		s := s.in(t)
		first, next := s.admin().tracePage("last6="+hook.UUID[30:], "limit=3")
		s.calls(hook, 2)
		rest, _ := s.admin().tracePage("last6="+hook.UUID[30:], "cursor="+next)
		if got := correlationIDs(append(first, rest...)); !slices.Equal(got, want) {
			t.Errorf("found %v, want %v", got, want)
		}
	})
}

func tracesInTime(s *service) {
	hook := s.put("eventKey=webhook.traces.time")
	ids := s.calls(hook, 4)
	all := s.traces("last6=" + hook.UUID[30:])
	at := func(n int) string { return all[n].Received.Format(time.RFC3339Nano) }
	for params, want := range map[string][]string{
		"from=" + at(2):                                        ids[:3],
		"to=" + at(1):                                          ids[2:],
		"from=" + at(2) + " to=" + at(0):                       ids[1:3],
		"from=2100-01-01T00:00:00Z":                            nil,
		"to=2020-01-01T00:00:00Z":                              nil,
		"from=2020-01-01T00:00:00Z to=2100-01-01T00:00:00Z":    ids,
		"from=" + at(0) + " to=" + at(0):                       nil,
		"limit=1 from=" + at(2) + " eventKey=" + hook.EventKey: ids[:3],
	} {
		got := correlationIDs(s.traces(append(strings.Fields(params), "last6="+hook.UUID[30:])...))
		if !slices.Equal(got, want) {
			s.t.Errorf("%s: found %v, want %v", params, got, want)
		}
	}
	for _, bad := range []string{"from=yesterday", "to=1", "limit=0", "cursor=x"} {
		name, _, _ := strings.Cut(bad, "=")
		if detail := s.command("trace.get", bad, "last6="+hook.UUID[30:]).refused(http.StatusBadRequest); !strings.Contains(detail, name) {
			s.t.Errorf("%s: the refusal %q does not name it", bad, detail)
		}
	}
	for _, bad := range [][]string{{}, {"last6=abc"}, {"last6=e1f3a9", "traceId=e1f3a9:aaaaaaaaaa"}, {"last6=e1f3a9", "receipt=true"}} {
		s.command("trace.get", bad...).refused(http.StatusBadRequest)
	}
}

func tracesByTraceID(s *service) {
	hook := s.listening("webhook.traces.sends", "traces.sends", "- iam.run.as: {user: admin}\n- event.send: {eventKey: traces.sent, payload: 1}\n")
	s.calls(s.put("eventKey=webhook.traces.id"), 2)
	r := s.called(hook.UUID, asJSON, "1")
	alone := s.called(s.put("eventKey=webhook.traces.alone").UUID, asJSON, "1")
	if got := correlationIDs(s.traces("traceId=" + alone.TraceID)); !slices.Equal(got, []string{alone.CorrelationID}) {
		s.t.Errorf("found %v, want exactly %s", got, alone.CorrelationID)
	}
	both := s.traces("traceId="+r.TraceID, "limit=1")
	if len(both) != 2 || both[0].EventKey != "traces.sent" || both[1].CorrelationID != r.CorrelationID || both[0].Method != "event.send" {
		s.t.Errorf("a call and what it led to: %+v", both)
	}
	for _, unknown := range []string{alone.TraceID[:6], "e1f3a9:aaaaaaaaaa", "x"} {
		if got := s.traces("traceId=" + unknown); len(got) != 0 {
			s.t.Errorf("%s: found %v", unknown, got)
		}
	}
}

func tracesByCorrelationID(s *service) {
	hook := s.put("eventKey=webhook.traces.call")
	r := s.called(hook.UUID, asText, "four")
	found := s.traces("correlationId=" + r.CorrelationID)
	if len(found) != 1 {
		s.t.Fatalf("found %v", found)
	}
	got := found[0]
	if got.TraceID != r.TraceID || got.EventKey != hook.EventKey || got.Last6 != hook.UUID[30:] || got.Status != "ok" ||
		got.Method != "POST" || got.Size != 4 || got.Address != "127.0.0.1" || len(got.Runs) != 0 {
		s.t.Errorf("the call is %+v", got)
	}
	if got.Logged.Before(got.Received) || got.Completed.Before(got.Logged) {
		s.t.Errorf("received %s, on the log %s, completed %s", got.Received, got.Logged, got.Completed)
	}
	ev := asRecord(s.eventRecord(hook.EventKey, r.CorrelationID))
	if record.Position(got.Event.spot) != ev.Position ||
		got.Event.SHA256 != call.EventAt(ev.Position, record.ContentDigest(ev.Headers, ev.Value)).SHA256 {
		s.t.Errorf("the event is said to be %+v, and lies at %s", got.Event, ev.Position)
	}
	for _, r := range s.records(record.TopicCall) {
		if at := asRecord(r); at.Position == record.Position(got.Call) {
			if string(at.Key) != got.CorrelationID || !at.Time.Equal(got.Logged) {
				s.t.Errorf("at %+v lies %s of %s", got.Call, at.Key, at.Time)
			}
		}
	}
	if got := s.traces("correlationId="+r.CorrelationID, "to="+got.Received.Format(time.RFC3339Nano)); len(got) != 0 {
		s.t.Errorf("before it was received: %+v", got)
	}
	for _, unknown := range []string{nilUUID, "x", strings.ToUpper(r.CorrelationID)} {
		if got := s.traces("correlationId=" + unknown); len(got) != 0 {
			s.t.Errorf("%s: found %v", unknown, got)
		}
	}
}

func tracesOfAScopedUser(s *service) {
	mine, theirs := s.put("eventKey=webhook.scoped.mine"), s.put("eventKey=webhook.scoped.theirs")
	own, foreign := s.called(mine.UUID, asText, "x"), s.called(theirs.UUID, asText, "x")
	ann := s.user("traces-ann", kimsPassword)
	ann.forbidden("trace.get", "last6="+mine.UUID[30:])
	ann.forbidden("event.get", "correlationId="+own.CorrelationID)
	ann.forbidden("event.tail", "eventKey=webhook.scoped.mine")
	s.command("policy.put", "name=traces-ann", "users=traces-ann", "commands=trace.get", "keys=webhook.scoped.mine").want(http.StatusOK)
	s.folded()
	for _, params := range [][]string{{"last6=" + mine.UUID[30:]}, {"traceId=" + own.TraceID}, {"correlationId=" + own.CorrelationID}} {
		if got := correlationIDs(ann.traces(params...)); !slices.Equal(got, []string{own.CorrelationID}) {
			s.t.Errorf("%v: found %v", params, got)
		}
	}
	for _, params := range [][]string{{"last6=" + theirs.UUID[30:]}, {"traceId=" + foreign.TraceID}, {"correlationId=" + foreign.CorrelationID}} {
		if got := ann.traces(params...); len(got) != 0 {
			s.t.Errorf("%v: whoever may not read the key sees %+v", params, got)
		}
	}
	ann.forbidden("event.get", "correlationId="+own.CorrelationID) // a right of its own
}

func tracesOfRuns(s *service) {
	const canary = "canary-7d20"
	hook := s.listening("webhook.traces.runs", "traces.good", "- set: {value: 1}\n  id: one\n")
	s.store("traces.bad", listenTo("webhook.traces.runs", "- convert.fromJson: {value: '${body.payload}'}\n  id: two\n"))
	r := s.called(hook.UUID, asText, canary)
	s.command("run.retry", "correlationId="+r.CorrelationID).want(http.StatusOK)
	s.await(r.CorrelationID)
	answered := s.command("trace.get", "correlationId="+r.CorrelationID).want(http.StatusOK)
	if strings.Contains(string(answered.body), canary) || strings.Contains(string(answered.body), "no JSON") {
		s.t.Errorf("the answer quotes what was sent, or an error text: %s", answered.body)
	}
	found := s.traces("traceId=" + r.TraceID)
	if len(found) != 1 || found[0].Status != "error" || found[0].Completed.Before(found[0].Logged) {
		s.t.Fatalf("found %+v", found)
	}
	var runs []string
	for _, run := range found[0].Runs {
		line := run.Pipeline + "@" + strconv.Itoa(run.Version) + " " + strconv.Itoa(run.Attempt) + " " + run.Status + " " + run.Error
		for _, step := range run.Steps {
			line += " " + step.Path + ":" + step.Command + ":" + strconv.FormatBool(step.Failed)
			if step.Started.Before(run.Started.Truncate(time.Millisecond)) || step.Finished.Before(step.Started) {
				s.t.Errorf("step %s from %s to %s of a run from %s", step.Path, step.Started, step.Finished, run.Started)
			}
		}
		runs = append(runs, line)
	}
	slices.Sort(runs)
	want := []string{
		"traces.bad@1 1 error step-failed 1:event.listen:false two:convert.fromJson:true",
		"traces.bad@1 2 error step-failed 1:event.listen:false two:convert.fromJson:true",
		"traces.good@1 1 ok  1:event.listen:false one:set:false",
	}
	if !slices.Equal(runs, want) {
		s.t.Errorf("the runs are\n%s\nwant\n%s", strings.Join(runs, "\n"), strings.Join(want, "\n"))
	}
	step, open := s.gate("traced")
	hook = s.listening("webhook.traces.processing", "traces.slow", step)
	id := s.begin(hook.UUID, asJSON, "1")
	if found := s.traces("correlationId=" + id); len(found) != 1 || found[0].Status != "processing" || !found[0].Completed.IsZero() || len(found[0].Runs) != 1 {
		s.t.Errorf("while it runs, the call is %+v", found)
	}
	open()
	s.await(id)
}

func TestTracesAreKeptForWholeDays(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start(func(c *settings.Config) { c.TraceRetention = 48 * time.Hour })
		hook := s.put("eventKey=webhook.kept")
		const day = 24 * time.Hour
		s.clock.forward(-3 * day) // brokers take no record of the future
		first := s.called(hook.UUID, asText, "0").CorrelationID
		s.clock.forward(2 * day)
		second := s.called(hook.UUID, asText, "1").CorrelationID
		if got := correlationIDs(s.traces("last6=" + hook.UUID[30:])); !slices.Equal(got, []string{second, first}) {
			t.Errorf("found %v, want both", got)
		}
		s.clock.forward(day)
		third := s.called(hook.UUID, asText, "2").CorrelationID
		for _, when := range []string{"", "after a restart"} {
			if got := correlationIDs(s.traces("last6=" + hook.UUID[30:])); !slices.Equal(got, []string{third, second}) {
				t.Errorf("%s: found %v, want %v", when, got, []string{third, second})
			}
			if got := s.traces("correlationId=" + first); len(got) != 0 {
				t.Errorf("%s: the first call is still found: %+v", when, got)
			}
			s.command("event.get", "correlationId="+first).refused(http.StatusNotFound)
			s.restart()
		}
	})
}
