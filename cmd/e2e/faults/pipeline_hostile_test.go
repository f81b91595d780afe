//go:build faults

package faults_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"hooklog/domain/call"
)

const (
	hostileAtOnce  = 64
	hostileRunTime = 3 * time.Second
	// hostileMemory is what the memory may grow by: the largest payloads, several
	// times as values, and the garbage of that.
	hostileMemory = 1 << 30
)

func TestHostilePipelines(t *testing.T) {
	embeddedOnly(t)
	p := serve(t, nil, "--data-dir", filepath.Join(t.TempDir(), "data"), "--run-deadline", hostileRunTime.String(),
		"--body-budget", strconv.Itoa(1<<30)) // so that the runs get all of it
	good := p.listenedTo(t, "good", "  - convert.fromBase64: {value: '${body.payload.origin}'}\n")
	if r, err := p.toTheEnd(good.UUID, []byte("hello")); err != nil || r.Status != "ok" {
		t.Fatalf("a good call is %+v, %v", r, err)
	}
	t.Run("sources are refused when they are put", func(t *testing.T) { refuseSources(t, p, good) })
	t.Run("runs are stopped", func(t *testing.T) { stopRuns(t, p, good) })
	t.Run("runs that only wait have every place", func(t *testing.T) { takeEveryPlace(t, p, good) })
	p.works(t, "webhook.afterwards")
	p.terminate(t)
}

// listenedTo makes a webhook and a pipeline with these steps that listens to it.
func (c *client) listenedTo(t *testing.T, name, steps string, params ...string) webhook {
	t.Helper()
	hook := c.put(t, append(params, "eventKey=webhook.hostile."+name)...)
	c.putPipeline(t, "hostile-"+name, "pipeline:\n  - event.listen: {eventKey: webhook.hostile."+name+"}\n"+steps)
	return hook
}

func refuseSources(t *testing.T, p *process, good webhook) {
	seen := attack(t, p, good, hostileAtOnce, func(i int) {
		h := hostileSources[i%len(hostileSources)]
		status, answer, err := p.manage("pipeline.put", "name=refused", "body="+h.source)
		if err != nil || status != http.StatusBadRequest || !strings.Contains(string(answer), h.want) {
			t.Errorf("%s: %d %.300s %v", h.name, status, answer, err)
		}
	})
	t.Logf("%d hostile sources at once: each answered 400 with its reason; %s", hostileAtOnce, seen)
}

func stopRuns(t *testing.T, p *process, good webhook) {
	hooks := make([]webhook, len(hostileRuns))
	for i, h := range hostileRuns {
		hooks[i] = p.listenedTo(t, h.name, h.steps, "payloadType=raw", "maxPayloadLength=4194304")
	}
	p.putPipeline(t, "hostile-loop", loopPipeline)
	seen := attack(t, p, good, hostileAtOnce, func(i int) {
		h := hostileRuns[i%len(hostileRuns)]
		ended, err := p.toTheEnd(hooks[i%len(hostileRuns)].UUID, h.payload)
		want := map[bool]string{true: "ok", false: "error"}[h.want == ""]
		why := p.whyFailed(ended.CorrelationID)
		if err != nil || ended.Status != want || !strings.Contains(why, h.want) {
			t.Errorf("%s ended as %s, %v: %.600s", h.name, ended.Status, err, why)
		}
		if h.name == "quotes" {
			_, answer, _ := p.do(http.MethodGet, "/api/v3/result?svc-result-correlationid="+ended.CorrelationID, nil)
			var told struct{ Value string }
			if json.Unmarshal(answer, &told) != nil || told.Value != expressionText {
				t.Errorf("an expression in a payload was evaluated: %s", answer)
			}
		}
	})
	t.Logf("%d hostile runs at once: each stopped with its reason; %s", hostileAtOnce, seen)

	began := time.Now()
	var all lives
	eventually(t, "events that lead to one another come to an end", func() bool {
		all = p.log.lives(t)
		return all.open() == 0
	})
	calls := hostileAtOnce / len(hostileRuns)
	events, failed := all.of("hostile.loop")
	if events != calls*loopEvents || failed != calls*loopFailures {
		t.Errorf("%d calls that send what they listen to led to %d events, of which %d failed", calls, events, failed)
	}
	for id, a := range all.accepted {
		if status, _ := all.states[id].Finished(); a.EventKey == "hostile.loop" && status == call.Failed {
			if why := p.whyFailed(id); !strings.Contains(why, "more than 8 events led to one another") {
				t.Errorf("%.600s", why)
			}
			break
		}
	}
	t.Logf("%d calls that send what they listen to led to %d events, and no more; all have ended %s later", calls, events, since(began))
}

// takeEveryPlace lets runs of four event keys wait, which have all places together.
func takeEveryPlace(t *testing.T, p *process, good webhook) {
	const keys, rounds = 4, 2
	var hooks []webhook
	for i := range keys {
		hooks = append(hooks, p.listenedTo(t, fmt.Sprintf("waits-%d", i), strings.Repeat("  - wait: {seconds: 0.5}\n", 400)))
	}
	seen := attack(t, p, good, rounds*hostileAtOnce, func(i int) {
		if ended, err := p.toTheEnd(hooks[i%keys].UUID, nil); err != nil || ended.Status != "error" {
			t.Errorf("a run without end is %+v, %v", ended, err)
		}
	})
	t.Logf("%d runs that never end, of %d event keys: each ended as error; %s", rounds*hostileAtOnce, keys, seen)
	if limit := 2*hostileRunTime + answerWithin; seen.slowestEnd > limit {
		t.Errorf("a good call ended only after %s", seen.slowestEnd)
	}
}

// attacked is what a good caller and the memory saw meanwhile.
type attacked struct {
	took                      time.Duration
	good                      int
	slowestAnswer, slowestEnd time.Duration
	before, most              int64
}

func (b attacked) String() string {
	return fmt.Sprintf("%s in all; meanwhile a good webhook took %d calls, answered the slowest after %s and had its result after %s; memory grew from %d to %d MiB",
		b.took, b.good, b.slowestAnswer, b.slowestEnd, b.before>>20, b.most>>20)
}

// attack does something hostile n times at once, while a good webhook is called.
func attack(t *testing.T, p *process, good webhook, n int, hostile func(i int)) attacked {
	t.Helper()
	pid := p.cmd.Process.Pid
	b := attacked{before: memoryOf(t, pid)}
	began := time.Now()
	over := make(chan struct{})
	var attacking, calling sync.WaitGroup
	for i := range n {
		attacking.Go(func() { hostile(i) })
	}
	calling.Go(func() {
		for {
			started := time.Now()
			called, status, err := p.call(good.UUID, []byte("hello"))
			b.slowestAnswer = max(b.slowestAnswer, since(started))
			if err == nil && status == http.StatusOK {
				called, err = p.final(called)
			}
			if err != nil || called.Status != "ok" {
				t.Errorf("a good call is answered %d %+v, %v", status, called, err)
				return
			}
			b.slowestEnd = max(b.slowestEnd, since(started))
			b.good++
			select {
			case <-over:
				return
			default:
			}
		}
	})
	go func() {
		attacking.Wait()
		close(over)
	}()
	for going := true; going; {
		b.most = max(b.most, memoryOf(t, pid))
		select {
		case <-over:
			going = false
		case <-time.After(10 * time.Millisecond):
		}
	}
	b.took = since(began)
	calling.Wait()
	if b.slowestAnswer > answerWithin || b.most-b.before > hostileMemory {
		t.Errorf("that is too much: %s", b)
	}
	return b
}
