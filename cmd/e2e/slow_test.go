package e2e_test

import (
	"errors"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/domain/call"
	"hooklog/domain/record"
)

// slow is a call that pipelines listen to which wait for longer than a test.
// The test appends the records of its life itself: the first completion counts.
type slow struct {
	s         *service
	client    *kgo.Client
	id        string
	traceID   string
	partition int32
}

// slow appends the accepted record of a call with listeners, as name@version. It
// needs brokers, because an embedded log lets nobody else write.
func (s *service) slow(listeners ...string) *slow {
	s.t.Helper()
	for _, listener := range listeners {
		s.waits(listener)
	}
	c := &slow{s: s, client: s.kafka(kgo.UnknownTopicRetries(-1)), id: uuid.NewString(), traceID: "abcdef:abcdefghij"}
	c.partition = call.Partition(c.id, s.cfg.EffectivePartitions())
	ev := record.Record{Position: record.Position{Topic: c.topic()}, Time: c.now(), Value: []byte(`{"eventKey":"webhook.slow"}`)}
	c.append(call.Accepted{
		CorrelationID: c.id, TraceID: c.traceID, EventKey: "webhook.slow", Last6: "abcdef",
		Received: c.now(), Method: http.MethodPost,
		Event:     call.EventAt(c.append(ev, nil), record.ContentDigest(nil, ev.Value)),
		Listeners: listeners,
	}.Encode(c.partition))
	return c
}

// waits makes sure that there is this version of a pipeline, which waits.
func (s *service) waits(listener string) {
	s.t.Helper()
	name, version, _ := strings.Cut(listener, "@")
	want, err := strconv.Atoi(version)
	if err != nil {
		s.t.Fatal(err)
	}
	var have struct{ Version int }
	if a := s.command("pipeline.get", "name="+name); a.status != http.StatusNotFound {
		a.want(http.StatusOK).json(&have)
	}
	for have.Version < want {
		s.command("pipeline.put", "name="+name, "body=pipeline: [wait: {seconds: 55}]").want(http.StatusOK).json(&have)
	}
}

// topic makes the topic of the event, which no webhook has.
func (c *slow) topic() string {
	c.s.t.Helper()
	const topic = "svc.event.webhook.slow"
	_, err := kadm.NewClient(c.client).CreateTopic(c.s.t.Context(), 1, 1, nil, topic)
	if err != nil && !errors.Is(err, kerr.TopicAlreadyExists) {
		c.s.t.Fatal(err)
	}
	return topic
}

func (c *slow) now() time.Time { return c.s.clock.now().UTC().Truncate(time.Millisecond) }

// done appends that a listener's attempt ended well.
func (c *slow) done(listener string, attempt int, value string) {
	c.s.t.Helper()
	completed := call.Completed{CorrelationID: c.id, Listener: listener, Attempt: attempt, Status: call.OK, Finished: c.now()}
	sealed, err := c.s.ring().Seal(call.ValueField, completed.ValueID(), []byte(value))
	if err != nil {
		c.s.t.Fatal(err)
	}
	completed.Value = sealed.Reveal()
	c.append(completed.Encode(c.partition))
}

// failed appends that a listener's attempt failed.
func (c *slow) failed(listener string, attempt int) {
	c.s.t.Helper()
	c.append(call.Completed{CorrelationID: c.id, Listener: listener, Attempt: attempt, Status: call.Failed, Finished: c.now()}.Encode(c.partition))
}

func (c *slow) append(r record.Record, err error) record.Position {
	c.s.t.Helper()
	if err != nil {
		c.s.t.Fatal(err)
	}
	out := &kgo.Record{Topic: r.Topic, Partition: r.Partition, Timestamp: r.Time, Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, kgo.RecordHeader(h))
	}
	if err := c.client.ProduceSync(c.s.t.Context(), out).FirstErr(); err != nil {
		c.s.t.Fatal(err)
	}
	return record.Position{Topic: out.Topic, Partition: out.Partition, Offset: out.Offset}
}

// folded returns when the service has seen all that is on svc.call: before that,
// it says of no id that it is unknown.
func (s *service) folded() {
	s.t.Helper()
	s.poll(uuid.NewString(), "").want(http.StatusGone)
}

// json is the result JSON of the call.
func (c *slow) json(statusCode int, status, value string, redirect bool) string {
	return `{"statusCode":` + strconv.Itoa(statusCode) + `,"status":"` + status + `","value":` + value + `,"pollingRedirectEnabled":` +
		strconv.FormatBool(redirect) + `,"correlationId":"` + c.id + `","traceId":"` + c.traceID + `"}`
}

// problem is the value of a failed call.
func (c *slow) problem() string {
	return `{"type":"urn:hooklog:problem:internal","title":"The call failed","status":500,"traceId":"` + c.traceID + `"}`
}

// location is where a poll of the call is redirected to.
func (c *slow) location() string {
	return c.s.app.BaseURL() + "/api/v3/result?svc-result-correlationid=" + c.id + "&pollingRedirectEnabled=true"
}

// want polls once all is folded and compares the result.
func (c *slow) want(result string) {
	c.s.t.Helper()
	c.s.folded()
	a := c.s.poll(c.id, "false").want(http.StatusOK)
	if diff := cmp.Diff(result, string(a.body)); diff != "" {
		c.s.t.Errorf("result (-want +got):\n%s", diff)
	}
}

func TestSlowResults(t *testing.T) {
	s := startOnBrokers(t)
	const value = `{"n": 12345678901234567890.0, "html":"<b>"}`
	tests := []struct {
		name      string
		listeners []string
		life      func(c *slow)
		result    func(c *slow) string
	}{
		{
			"processing: value is null",
			[]string{"a@1"},
			func(*slow) {},
			func(c *slow) string { return c.json(200, "processing", "null", false) },
		},
		{
			"one listener: its final body is the value",
			[]string{"a@1"},
			func(c *slow) { c.done("a@1", 1, value) },
			func(c *slow) string { return c.json(200, "ok", value, false) },
		},
		{
			"several: an object keyed by pipeline name",
			[]string{"a@1", "b.c@12"},
			func(c *slow) { c.done("b.c@12", 1, value); c.done("a@1", 1, "null") },
			func(c *slow) string { return c.json(200, "ok", `{"a":null,"b.c":`+value+`}`, false) },
		},
		{
			"several: not all have ended",
			[]string{"a@1", "b@1"},
			func(c *slow) { c.done("b@1", 1, value) },
			func(c *slow) string { return c.json(200, "processing", "null", false) },
		},
		{
			"one that fails makes the call error, 500, value a problem document; polled with HTTP 200",
			[]string{"a@1"},
			func(c *slow) { c.failed("a@1", 1) },
			func(c *slow) string { return c.json(500, "error", c.problem(), false) },
		},
		{
			"one of several that fails makes the call error",
			[]string{"a@1", "b@1"},
			func(c *slow) { c.failed("a@1", 1); c.done("b@1", 1, value) },
			func(c *slow) string { return c.json(500, "error", c.problem(), false) },
		},
		{
			"the first completion of an attempt counts",
			[]string{"a@1"},
			func(c *slow) { c.done("a@1", 1, `"first"`); c.done("a@1", 1, `"second"`); c.failed("a@1", 1) },
			func(c *slow) string { return c.json(200, "ok", `"first"`, false) },
		},
		{
			"a higher attempt replaces an error",
			[]string{"a@1"},
			func(c *slow) { c.failed("a@1", 1); c.done("a@1", 2, value) },
			func(c *slow) string { return c.json(200, "ok", value, false) },
		},
		{
			"a lower attempt that comes later does not",
			[]string{"a@1"},
			func(c *slow) { c.done("a@1", 2, value); c.failed("a@1", 1) },
			func(c *slow) string { return c.json(200, "ok", value, false) },
		},
		{
			"a listener that is not listed completes nothing",
			[]string{"a@1"},
			func(c *slow) { c.done("b@1", 1, value); c.done("a@2", 1, value) },
			func(c *slow) string { return c.json(200, "processing", "null", false) },
		},
	}
	calls := make([]*slow, len(tests))
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := s.in(t).slow(tt.listeners...)
			tt.life(c)
			c.want(tt.result(c))
			calls[i] = c
		})
	}
	t.Run("all of them are the same after DIR/state was deleted", func(t *testing.T) {
		s.stop()
		if err := os.RemoveAll(s.cfg.StateDir()); err != nil {
			t.Fatal(err)
		}
		s.start()
		for i, tt := range tests {
			c := *calls[i]
			c.s = s.in(t)
			c.want(tt.result(&c))
		}
	})
}

func TestSlowResultsInTime(t *testing.T) {
	s := startOnBrokers(t)
	never, late := s.slow("a@1"), s.slow("a@1")
	s.clock.forward(10 * time.Minute)
	late.done("a@1", 1, "1")
	late.want(late.json(200, "ok", "1", false))

	t.Run("expired: 1 h after completion, not after the call", func(t *testing.T) {
		s := s.in(t)
		s.clock.forward(55 * time.Minute)
		s.poll(late.id, "").want(200)
		s.clock.forward(5 * time.Minute)
		s.poll(late.id, "").want(410)
	})
	t.Run("no completion within 24 h: error", func(t *testing.T) {
		s := s.in(t)
		s.clock.forward(22*time.Hour + 45*time.Minute)
		s.poll(never.id, "").want(302)
		s.clock.forward(5 * time.Minute)
		for mode, redirect := range map[string]bool{"": false, "true": true, "false": false} {
			if diff := cmp.Diff(never.json(500, "error", never.problem(), redirect), string(s.poll(never.id, mode).want(200).body)); diff != "" {
				t.Errorf("result (-want +got):\n%s", diff)
			}
		}
		s.clock.forward(time.Hour)
		s.poll(never.id, "").want(410)
	})
}
