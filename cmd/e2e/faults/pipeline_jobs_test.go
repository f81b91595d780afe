//go:build faults

package faults_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"hooklog/domain/call"
)

// What the pipelines of the calls do. An edit of a webhook raises its version, so
// the version of one that nobody else edits counts the edits, doubled ones too.
const (
	countingPipeline = `
pipeline:
  - event.listen: {eventKey: webhook.job.counts}
  - iam.run.as: {user: admin}
  - set: {value: "edition %d"}
  - webhook.put: {uuid: %s, maxPayloadLength: 1000}
    onError: {retry: {times: 3, wait: 0.05}}
`
	makingPipeline = `
pipeline:
  - event.listen: {eventKey: webhook.job.makes}
  - iam.run.as: {user: admin}
  - webhook.put: {eventKey: "webhook.made.c-${body.correlationId}"}
body: ${body.eventKey}
`
	sendingPipeline = `
pipeline:
  - event.listen: {eventKey: webhook.job.sends}
  - iam.run.as: {user: admin}
  - event.send: {eventKey: job.sent, payload: "${body.correlationId}"}
  - wait: {seconds: 0.02}
`
	sentPipeline = `
pipeline:
  - event.listen: {eventKey: job.sent}
  - iam.run.as: {user: admin}
  - webhook.put: {uuid: %s, maxPayloadLength: 1000}
`
	// One run at a time has the slot; the others are refused and try again.
	takingPipeline = `
pipeline:
  - event.listen: {eventKey: webhook.job.takes}
  - iam.run.as: {user: admin}
  - webhook.put: {eventKey: webhook.slot}
    output: slot
    onError: {retry: {times: 10, wait: 0.1}}
  - wait: {seconds: 0.03}
  - webhook.put: {uuid: %s, maxPayloadLength: 1000}
  - webhook.delete: {uuid: "${vars.slot.uuid}"}
`
	watchingPipeline = `
pipeline:
  - message.receive: {key: "svc.event.webhook.job.#"}
body: seen
`
)

// jobKinds are the webhooks of the jobs; those that make more work are called
// less often.
var jobKinds = slices.Concat(
	slices.Repeat([]string{"counts"}, 11), slices.Repeat([]string{"sends"}, 7), []string{"makes", "takes"},
)

// jobs are calls whose pipelines have effects that can be counted.
type jobs struct {
	hooks map[string]webhook // that are called, by kind
	// counters are the webhooks that the pipelines edit, by the event key.
	counters map[string]webhook

	mu    sync.Mutex
	taken map[string]bool // acknowledged calls
	sums  tally
}

// tally is how the calls were answered.
type tally struct{ acknowledged, ok, refused int }

func (j *jobs) tally() tally {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.sums
}

func openJobs(t *testing.T, c *client) *jobs {
	t.Helper()
	j := &jobs{hooks: map[string]webhook{}, counters: map[string]webhook{}, taken: map[string]bool{}}
	for _, kind := range []string{"counts", "makes", "sends", "takes"} {
		j.hooks[kind] = c.put(t, "eventKey=webhook.job."+kind)
	}
	for _, key := range []string{"webhook.job.counts", "webhook.job.takes", "job.sent"} {
		j.counters[key] = c.put(t, "eventKey=webhook.counter."+strings.TrimPrefix(key, "webhook."))
	}
	c.putPipeline(t, "makes", makingPipeline)
	c.putPipeline(t, "sends", sendingPipeline)
	c.putPipeline(t, "sent", fmt.Sprintf(sentPipeline, j.counters["job.sent"].UUID))
	c.putPipeline(t, "takes", fmt.Sprintf(takingPipeline, j.counters["webhook.job.takes"].UUID))
	c.putPipeline(t, "watches", watchingPipeline)
	j.edit(t, c, -1)
	return j
}

// edit puts the next version of a pipeline.
func (j *jobs) edit(t *testing.T, c *client, edition int) {
	t.Helper()
	c.putPipeline(t, "counts", fmt.Sprintf(countingPipeline, edition, j.counters["webhook.job.counts"].UUID))
}

// load calls until the service is gone; wait returns when all have noticed.
func (j *jobs) load(c *client, seed uint64, callers int) (wait func()) {
	var busy sync.WaitGroup
	for i := range callers {
		busy.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			for {
				called, status, err := c.call(j.hooks[jobKinds[random.IntN(len(jobKinds))]].UUID, []byte("job"))
				if err != nil {
					return
				}
				j.note(called, status)
			}
		})
	}
	return busy.Wait
}

func (j *jobs) note(called result, status int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if status != http.StatusOK {
		j.sums.refused++
		return
	}
	j.sums.acknowledged++
	j.taken[called.CorrelationID] = true
	if called.Status == "ok" {
		j.sums.ok++
	}
}

// judge holds the effects against the calls: each was carried out, and once.
func (j *jobs) judge(t *testing.T, c *client, all lives) {
	t.Helper()
	for id := range j.taken {
		if _, accepted := all.accepted[id]; !accepted {
			t.Errorf("acknowledged call %s is not on the log", id)
		}
	}
	for id, s := range all.states {
		a := all.accepted[id]
		if want := listenersOf(a.EventKey); len(a.Listeners) != want || len(s.Runs) != want {
			t.Errorf("call %s of %s has %v, and completions of %d", id, a.EventKey, a.Listeners, len(s.Runs))
		}
		if status, _ := s.Finished(); status == call.Failed && a.EventKey != "webhook.job.takes" {
			t.Errorf("call %s of %s failed: %s", id, a.EventKey, c.whyFailed(id))
		}
	}
	sends, _ := all.of("webhook.job.sends")
	if sent, _ := all.of("job.sent"); sent != sends {
		t.Errorf("%d calls have sent %d events that count", sends, sent)
	}
	for key, counter := range j.counters {
		calls, failed := all.of(key)
		if edits := c.versionOf(t, counter) - 1; edits != calls-failed {
			t.Errorf("%d of %d calls of %s failed, and the others have made %d edits", failed, calls, key, edits)
		}
		t.Logf("%s: %d runs were to have an effect; %d failed", key, calls-failed, failed)
	}
	j.judgeMade(t, c, all)
	j.judgeResults(t, c, all)
}

func listenersOf(eventKey string) int {
	if eventKey == "job.sent" {
		return 1
	}
	return 2 // its own, and the one that watches all
}

// judgeMade compares the webhooks that calls made with the calls.
func (j *jobs) judgeMade(t *testing.T, c *client, all lives) {
	t.Helper()
	status, answer, err := c.command("webhook.get")
	var list []webhook
	if err != nil || status != http.StatusOK || json.Unmarshal(answer, &list) != nil {
		t.Fatalf("webhook.get: %d %s %v", status, answer, err)
	}
	made := 0
	for _, w := range list {
		id, is := strings.CutPrefix(w.EventKey, "webhook.made.c-")
		if is && all.accepted[id].EventKey != "webhook.job.makes" {
			t.Errorf("%s is of no call", w.EventKey)
		}
		if is {
			made++
		}
		if w.EventKey == "webhook.slot" {
			t.Errorf("a run has left its slot behind")
		}
	}
	if makes, _ := all.of("webhook.job.makes"); made != makes {
		t.Errorf("%d calls have made %d webhooks", makes, made)
	}
	t.Logf("%d webhooks made", made)
}

// judgeResults polls what was acknowledged.
func (j *jobs) judgeResults(t *testing.T, c *client, all lives) {
	t.Helper()
	for id := range j.taken {
		want, _ := all.states[id].Finished()
		if polled, status, err := c.poll(id); err != nil || status != http.StatusOK || polled.Status != string(want) {
			t.Errorf("poll of %s, which is %s: %d %+v %v", id, want, status, polled, err)
		}
	}
}

// whyFailed is what run.get tells of the runs of a call.
func (c *client) whyFailed(id string) string {
	_, answer, err := c.manage("run.get", "correlationId="+id)
	if err != nil {
		return err.Error()
	}
	return string(answer)
}
