//go:build faults

package faults_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"golang.org/x/sync/errgroup"

	"hooklog/domain/call"
	"hooklog/domain/record"
)

// Who puts a webhook and a pipeline may call at once, and the first call must end
// soon.
const (
	firstCallWithin   = time.Second
	firstCallAtLatest = 15 * time.Second // whatever else the machine does
)

func TestThreeMembersRunTheCallsOfManyWebhooks(t *testing.T) {
	alongside(t)
	m := &many{t: t, brokers: emptyBrokers(t)}
	args := onBrokers(t)
	serve(t, m.brokers, args...).terminate(t) // which makes three partitions of calls
	for i := range 3 {
		args := append(slices.Clone(args), "--partitions", "1") // of the events, of which there are many
		args[1] = filepath.Join(t.TempDir(), fmt.Sprintf("data-%d", i))
		m.members = append(m.members, serve(t, m.brokers, args...))
	}
	m.share()
	began, n := time.Now(), counts(200, 10_000)
	m.tokens = make([]string, n)
	m.each(n, func(i int) error { return m.create(m.members[i%3].client, i) })
	t.Logf("%d webhooks, each with a pipeline of its own, were put in %s through three instances", n, since(began))
	if slowest := m.firstCalls("while the topics of the others are made", 20); slowest > firstCallAtLatest {
		t.Errorf("a first call took %s", slowest)
	}
	began = time.Now()
	m.each(n, func(i int) error { return m.call(m.members[i%3].client, i) })
	t.Logf("all %d were called in %s, in turn through three instances; 503 was answered %d times", n, since(began), m.refused.Load())
	if slowest := m.firstCalls("beside all others", counts(20, 200)); slowest > firstCallAtLatest || soaking && slowest > firstCallWithin {
		t.Errorf("a first call took %s", slowest)
	}
	m.judge()
	m.share()
	for _, p := range m.members {
		p.terminate(t)
	}
	m.tidy()
}

// many are webhooks with listeners, and the instances that run them.
type many struct {
	t       *testing.T
	brokers []string
	members []*process
	tokens  []string
	refused atomic.Int64 // calls that were answered 503
}

func (m *many) each(n int, do func(i int) error) {
	m.t.Helper()
	var working errgroup.Group
	working.SetLimit(16)
	for i := range n {
		working.Go(func() error { return do(i) })
	}
	if err := working.Wait(); err != nil {
		m.t.Fatal(err)
	}
}

// create puts a webhook and the pipeline that listens to it.
func (m *many) create(c *client, i int) error {
	var w webhook
	status, answer, err := c.command("webhook.put", fmt.Sprintf("eventKey=webhook.many.n-%d", i))
	if err != nil || status != http.StatusOK || json.Unmarshal(answer, &w) != nil {
		return errors.Join(err, fmt.Errorf("webhook.put: %d %s", status, answer))
	}
	m.tokens[i] = w.UUID
	source := fmt.Sprintf("pipeline: [{event.listen: {eventKey: webhook.many.n-%d}}]\nbody: %d\n", i, i)
	if status, answer, err = c.manage("pipeline.put", fmt.Sprintf("name=many-%d", i), "body="+source); err != nil || status != http.StatusOK {
		return errors.Join(err, fmt.Errorf("pipeline.put: %d %s", status, answer))
	}
	return nil
}

// call makes a call until it is taken: brokers that make thousands of topics keep
// a service waiting now and then, and it says so.
func (m *many) call(c *client, i int) error {
	called, status, err := c.call(m.tokens[i], []byte("many"))
	for end := time.Now().Add(patience); err == nil && status == http.StatusServiceUnavailable && time.Now().Before(end); {
		m.refused.Add(1)
		time.Sleep(time.Second) // as callers do who are told so
		called, status, err = c.call(m.tokens[i], []byte("many"))
	}
	if err != nil || status != http.StatusOK {
		return errors.Join(err, fmt.Errorf("webhook.receive: %d", status))
	}
	if called, err = c.final(called); err == nil && called.Status != "ok" {
		err = fmt.Errorf("a call is %+v: %s", called, c.whyFailed(called.CorrelationID))
	}
	return err
}

// firstCalls puts n more webhooks, calls each at once, and gives the longest time
// to a result.
func (m *many) firstCalls(when string, n int) time.Duration {
	t := m.t
	t.Helper()
	took := make([]time.Duration, n)
	for i := range took {
		at := len(m.tokens)
		m.tokens = append(m.tokens, "")
		c := m.members[at%3].client
		if err := m.create(c, at); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := m.call(c, at); err != nil {
			t.Fatalf("%v after %s", err, since(began))
		}
		took[i] = since(began)
	}
	slices.Sort(took)
	t.Logf("%s, the first call after a put has its result after %s, the slowest of %d after %s", when, took[n/2], n, took[n-1])
	return took[n-1]
}

// judge holds every call against the pipeline that it must have run.
func (m *many) judge() {
	t := m.t
	t.Helper()
	all := m.members[0].log.lives(t)
	called := map[string]int{}
	for id, a := range all.accepted {
		var n int
		if _, err := fmt.Sscanf(a.EventKey, "webhook.many.n-%d", &n); err != nil {
			t.Fatal(err)
		}
		called[a.EventKey]++
		want := fmt.Sprintf("many-%d@1", n)
		if run := all.states[id].Runs[want]; len(a.Listeners) != 1 || run.Status != call.OK {
			t.Errorf("%s has the listeners %v and ran %+v", a.EventKey, a.Listeners, all.states[id].Runs)
		}
	}
	if len(called) != len(m.tokens) {
		t.Errorf("%d of %d webhooks were called", len(called), len(m.tokens))
	}
	t.Logf("%d calls of %d webhooks: each has run its pipeline, with %d completions too many", len(all.accepted), len(called), all.endedAgain)
}

// share waits until every member has its share of the partitions.
func (m *many) share() {
	t := m.t
	t.Helper()
	admin := kadm.NewClient(kafkaLog{brokers: m.brokers}.client(t))
	eventually(t, "three members have a partition each", func() bool {
		groups, err := admin.DescribeGroups(t.Context(), pipelineGroup)
		if err != nil {
			return false
		}
		busy := 0
		for _, member := range groups[pipelineGroup].Members {
			if given, ok := member.Assigned.AsConsumer(); ok && len(given.Topics) == 1 &&
				given.Topics[0].Topic == record.TopicCall && len(given.Topics[0].Partitions) == 1 {
				busy++
			}
		}
		return busy == len(m.members)
	})
}

// tidy deletes the topics of the events a part at a time: for all at once brokers
// take longer than whoever needs empty ones next has patience.
func (m *many) tidy() {
	t := m.t
	t.Helper()
	admin := kadm.NewClient(kafkaLog{brokers: m.brokers}.client(t))
	for part := range slices.Chunk(m.topics(), 500) {
		if _, err := admin.DeleteTopics(t.Context(), part...); err != nil {
			t.Logf("delete topics: %v", err)
		}
	}
}

func (m *many) topics() []string {
	names := make([]string, len(m.tokens))
	for i := range names {
		names[i] = record.EventTopic(fmt.Sprintf("webhook.many.n-%d", i))
	}
	return names
}
