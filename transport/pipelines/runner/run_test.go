package runner_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
	"hooklog/domain/record"
	"hooklog/transport/pipelines"
	"hooklog/transport/pipelines/actions"
	"hooklog/transport/pipelines/runner"
)

const echo = `{pipeline: [{event.listen: {eventKey: webhook.a}}], body: "${body.payload}"}`

const doing = `{pipeline: [{test.do: {value: "${body.payload}"}, id: work}]}`

func TestACallIsRunForEachOfItsListeners(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put(w.stored, "one", 3, echo)
		w.put(w.stored, "two", 1, doing)
		w.do = func(_ context.Context, o actions.Origin, c pipelines.StepCall) (any, error) {
			want := actions.Trigger{
				EventKey: "webhook.a", TraceID: "abcdef:aaaaaaaaaa", Last6: "abcdef",
				Accepted: record.Position{Topic: record.TopicCall, Offset: o.Trigger.Accepted.Offset},
			}
			if *o.Trigger != want || o.Owner != "ada" || !o.Put.Equal(putAt) || o.Caller.Principal != "anonymousUser" || c.User != "anonymousUser" {
				t.Errorf("the run comes from %+v, %+v", o, *o.Trigger)
			}
			return "done", nil
		}
		w.join()
		a := w.accept("webhook.a", `{"n":1}`, "one@3", "two@1")
		w.untilComplete(a, 2)
		values := map[string]string{}
		for _, c := range w.completions(a.CorrelationID) {
			if c.Status != call.OK || c.Attempt != 1 || c.Principal != "anonymousUser" || c.Effective != "anonymousUser" || c.Owner != "ada" {
				t.Errorf("completed as %+v", c.Completed)
			}
			if c.detail.Error != "" || len(c.detail.Steps) != 1 {
				t.Errorf("the detail is %+v", c.detail)
			}
			values[c.Listener] = c.value
		}
		if values["one@3"] != `{"n":1}` || values["two@1"] != `"done"` {
			t.Errorf("the values are %v", values)
		}
		b := w.accept("webhook.a", `2`, "two@1")
		step := w.complete(b).detail.Steps[0]
		id := pipeline.Step{Call: b.CorrelationID, Pipeline: "two", Version: 1, Path: "work", Attempt: 1, Try: 1}.CommandID()
		if step.CommandID != id || step.Path != "work" {
			t.Errorf("the step is %+v, want the command %s", step, id)
		}
		w.accept("webhook.a", `3`) // nobody listens
		w.until("all is committed", func() bool { return w.committed == int64(len(w.calls)) })
	})
}

func TestARunThatCannotSucceedCompletesAsError(t *testing.T) {
	t.Parallel()
	const canary = "canary-7f3a"
	for name, c := range map[string]struct {
		listener string
		source   string
		do       func(ctx context.Context) (any, error)
		spoil    func(w *world)
		step     string
		reason   string
		detail   string
	}{
		"the version never was":    {listener: "p@9", reason: "not-found", detail: "No pipeline"},
		"the listener is no name":  {listener: "p", reason: "not-found", detail: "No pipeline"},
		"the source cannot be run": {source: "pipeline: [unheard.of]", reason: "invalid", detail: "there is no step"},
		"the event is another": {
			spoil: func(w *world) {
				for at, r := range w.events {
					r.Value = append([]byte(" "), r.Value...)
					w.events[at] = r
				}
			},
			reason: "internal", detail: "not the one that was accepted",
		},
		"the event has expired": {spoil: func(w *world) { clear(w.events) }, reason: "gone", detail: "not on the log any more"},
		"the event was lost": {
			spoil: func(w *world) {
				for at, r := range w.events {
					delete(w.events, at)
					at.Offset++
					w.events[at] = r
				}
			},
			reason: "not-found", detail: "not found on the log",
		},
		"a step fails": {
			do:   func(context.Context) (any, error) { return nil, fault.New(fault.Conflict, "taken: %s", canary) },
			step: "work", reason: "conflict", detail: "Step work (test.do) at 1:13: taken: " + canary,
		},
		"a step panics": {
			do:   func(context.Context) (any, error) { panic(canary) },
			step: "work", reason: "internal", detail: "broke",
		},
		"a step takes too long": {
			do: func(ctx context.Context) (any, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			},
			step: "work", reason: "invalid", detail: "longer than 1m0s",
		},
		"the value is too large": {
			do:     func(context.Context) (any, error) { return strings.Repeat("x", pipelines.MaxValue), nil },
			reason: "invalid", detail: "too large",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				source, listener := doing, "p@1"
				if c.source != "" {
					source = c.source
				}
				if c.listener != "" {
					listener = c.listener
				}
				w.put(w.stored, "p", 1, source)
				w.do = func(ctx context.Context, _ actions.Origin, _ pipelines.StepCall) (any, error) { return c.do(ctx) }
				a := w.accept("webhook.a", `"`+canary+`"`, listener)
				if c.spoil != nil {
					w.note(func() { c.spoil(w) })
				}
				m := w.join()
				have := w.complete(a)
				if have.Status != call.Failed || have.Value != "" || !strings.Contains(have.detail.Error, c.detail) {
					t.Errorf("completed as %+v with %q", have.Completed, have.detail.Error)
				}
				_ = m.leave()
				logged := w.out.String()
				for _, want := range []string{"Pipeline failed", "webhook_trace_id=abcdef:aaaaaaaaaa", "step=" + c.step, "reason=" + c.reason, "listener=" + listener} {
					if !strings.Contains(logged, want) {
						t.Errorf("the log has no %q: %s", want, logged)
					}
				}
				if strings.Contains(logged, canary) || strings.Contains(logged, a.CorrelationID) {
					t.Errorf("the log tells too much: %s", logged)
				}
			})
		})
	}
}

func TestTroubleThatPassesIsWaitedFor(t *testing.T) {
	t.Parallel()
	away := fault.New(fault.Unavailable, "The log does not answer.")
	for name, prepare := range map[string]func(w *world){
		"a version that is not folded yet":       func(w *world) { w.put(w.late, "p", 1, echo) },
		"an event that cannot be read now":       func(w *world) { w.absences = []error{away, away, away} },
		"an event that a new leader has not yet": func(w *world) { w.absences = []error{rangeError(false), errors.New("no topic")} },
		"a log that does not take the end":       func(w *world) { w.refusals = []error{away, away, away} },
		"a log that never takes the whole value": func(w *world) { w.refusals = []error{fault.New(fault.TooLarge, "too large")} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				prepare(w)
				if len(w.late) == 0 {
					w.put(w.stored, "p", 1, echo)
				}
				w.join()
				a := w.accept("webhook.a", `1`, "p@1")
				status := call.OK
				if strings.Contains(name, "never") {
					status = call.Failed
				}
				if have := w.complete(a); have.Status != status {
					t.Errorf("completed as %+v: %s", have.Completed, have.detail.Error)
				}
				time.Sleep(time.Hour) // of the bubble
				if have := w.completions(a.CorrelationID); len(have) != 1 {
					t.Errorf("there are %d completions", len(have))
				}
			})
		})
	}
}

func TestRunsAreBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put(w.stored, "p", 1, doing)
		running, most := map[string]int{}, map[string]int{}
		goOn := make(chan struct{})
		w.do = func(ctx context.Context, o actions.Origin, _ pipelines.StepCall) (any, error) {
			count := func(n int) {
				w.note(func() {
					for _, key := range []string{"all", o.Trigger.EventKey} {
						running[key] += n
						most[key] = max(most[key], running[key])
					}
				})
			}
			count(1)
			defer count(-1)
			select {
			case <-goOn:
			case <-ctx.Done():
			}
			return nil, nil
		}
		m := w.join(func(cfg *runner.Config) { cfg.Parallel, cfg.Timeout = 8, time.Hour })
		var last call.Accepted
		const calls = 40
		for range calls {
			w.accept("webhook.busy", `1`, "p@1")
		}
		for i := range calls {
			last = w.accept(fmt.Sprintf("webhook.k%d", i), `1`, "p@1")
		}
		synctest.Wait()
		w.mu.Lock()
		if running["all"] != 8 || running["webhook.busy"] > 2 {
			t.Errorf("at once there are %v", running)
		}
		w.mu.Unlock()
		close(goOn)
		w.untilComplete(last, 1)
		w.until("all is complete", func() bool { return len(w.calls) == 4*calls })
		if most["all"] > 8 || most["webhook.busy"] > 2 {
			t.Errorf("at most there were %v", most)
		}
		if err := m.leave(); !errors.Is(err, context.Canceled) {
			t.Errorf("the runner ended with %v", err)
		}
	})
}

func TestTheCallsOfASlowKeyDoNotHoldUpTheOthers(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ calls, size int }{
		"when they are many":  {300, 1},
		"when they are large": {40, 4 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.put(w.stored, "slow", 1, doing)
				w.put(w.stored, "swift", 1, echo)
				goOn := make(chan struct{})
				w.do = func(ctx context.Context, _ actions.Origin, _ pipelines.StepCall) (any, error) {
					select {
					case <-goOn:
					case <-ctx.Done():
					}
					return nil, ctx.Err()
				}
				m := w.join(func(cfg *runner.Config) { cfg.Parallel, cfg.Timeout = 128, time.Hour })
				for range c.calls {
					w.acceptSized(c.size, "webhook.slow", `1`, "slow@1")
				}
				synctest.Wait()
				swift := w.accept("webhook.swift", `2`, "swift@1")
				if have := w.complete(swift); have.value != "2" {
					t.Errorf("completed as %+v", have)
				}
				w.mu.Lock()
				if w.appends != 1 || w.committed != 0 {
					t.Errorf("%d were appended and %d committed", w.appends, w.committed)
				}
				w.mu.Unlock()
				close(goOn)
				w.until("all is complete", func() bool { return len(w.calls) == 2*(c.calls+1) })
				_ = m.leave()
				if w.committed < int64(c.calls) {
					t.Errorf("committed is %d", w.committed)
				}
			})
		})
	}
}

func TestNothingIsReadBeyondWhatIsHeld(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put(w.stored, "p", 1, doing)
		w.do = func(ctx context.Context, _ actions.Origin, _ pipelines.StepCall) (any, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		const calls = 1000
		m := w.join(func(cfg *runner.Config) { cfg.Parallel = 4 })
		for i := range calls {
			w.accept(fmt.Sprintf("webhook.k%d", i), `1`, "p@1")
		}
		synctest.Wait()
		if n := len(w.issued); n != 4 {
			t.Errorf("%d runs began", n)
		}
		w.mu.Lock()
		if w.read < 256 || w.read > 256+2*portion {
			t.Errorf("%d calls were read", w.read)
		}
		w.mu.Unlock()
		_ = m.leave()
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.committed != 0 || w.appends != 0 {
			t.Errorf("committed is %d after %d appends", w.committed, w.appends)
		}
	})
}
