package runner_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/pipelines"
	"hooklog/transport/pipelines/actions"
)

func TestTheLowestUnfinishedCallIsCommitted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put(w.stored, "p", 1, doing)
		goOn := make(chan struct{})
		w.do = func(_ context.Context, _ actions.Origin, c pipelines.StepCall) (any, error) {
			if c.Params["value"] == "long" {
				<-goOn
			}
			return nil, nil
		}
		m := w.join()
		w.accept("webhook.a", `1`) // offset 0, nobody listens
		w.accept("webhook.a", `"short"`, "p@1")
		w.until("the short one is complete and committed", func() bool { return len(w.calls) == 3 && w.committed == 3 })
		long := w.accept("webhook.a", `"long"`, "p@1") // offset 3
		for range 5 {
			w.complete(w.accept("webhook.b", `"short"`, "p@1"))
		}
		time.Sleep(time.Minute / 2) // of the bubble
		if w.committed != 3 {
			t.Errorf("committed is %d while the call at 3 runs", w.committed)
		}
		close(goOn)
		w.complete(long)
		_ = m.leave()
		if w.committed < int64(len(w.calls))-1 {
			t.Errorf("committed is %d of %d when the member has left", w.committed, len(w.calls))
		}
	})
}

func TestWhatADeadMemberLeftIsRunByTheNext(t *testing.T) {
	t.Parallel()
	for name, forget := range map[string]bool{"from its last commit": false, "when the offsets were deleted": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.put(w.stored, "p", 1, doing)
				dying := true
				w.do = func(ctx context.Context, _ actions.Origin, c pipelines.StepCall) (any, error) {
					w.mu.Lock()
					hangs := dying && c.Params["value"] == "hangs"
					w.mu.Unlock()
					if hangs {
						<-ctx.Done()
						return nil, ctx.Err()
					}
					return nil, nil
				}
				first := w.join()
				var calls []call.Accepted
				for i := range 60 {
					value := `"passes"`
					if i%3 == 0 {
						value = `"hangs"`
					}
					calls = append(calls, w.accept("webhook."+string(rune('a'+i%20)), value, "p@1"))
				}
				synctest.Wait()
				first.die()
				complete := 0
				for _, a := range calls {
					complete += len(w.completions(a.CorrelationID))
				}
				if complete == 0 || complete == len(calls) {
					t.Fatalf("%d of %d calls are complete", complete, len(calls))
				}
				w.note(func() {
					dying = false
					if forget {
						w.committed = 0
					}
				})
				w.join()
				for _, a := range calls {
					w.untilComplete(a, 1)
				}
				time.Sleep(time.Minute) // of the bubble
				for _, a := range calls {
					if n := len(w.completions(a.CorrelationID)); n != 1 {
						t.Errorf("a call has %d completions", n)
					}
				}
				repeated := 0
				for _, n := range w.issued {
					if n > 1 {
						repeated++
					}
				}
				if len(w.issued) != len(calls) || repeated == 0 {
					t.Errorf("%d calls issued %d different commands, %d of them again", len(calls), len(w.issued), repeated)
				}
			})
		})
	}
}

func TestARetryRunsTheNextAttempt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put(w.stored, "p", 1, doing)
		w.do = func(_ context.Context, o actions.Origin, _ pipelines.StepCall) (any, error) {
			if o.Attempt == 1 {
				return nil, fault.New(fault.Conflict, "not yet")
			}
			return o.Attempt, nil
		}
		m := w.join()
		a := w.accept("webhook.a", `1`, "p@1")
		if have := w.complete(a); have.Status != call.Failed {
			t.Fatalf("the first attempt is %+v", have.Completed)
		}
		retry := call.Retried{CorrelationID: a.CorrelationID, Listener: "p@1", Attempt: 2, By: "ada", CommandID: "c1", Time: time.Now()}
		late, foreign := retry, retry
		late.CommandID, late.Attempt = "c2", 3
		foreign.Listener = "q@1"
		w.append(late.Encode(0))    // opens nothing, nor do the others
		w.append(foreign.Encode(0)) //
		w.append(retry.Encode(0))
		w.untilComplete(a, 2)
		have := w.completions(a.CorrelationID)[1]
		if have.Status != call.OK || have.Attempt != 2 || have.value != "2" {
			t.Errorf("the second attempt is %+v with %s", have.Completed, have.value)
		}
		again := retry
		again.CommandID = "c3"
		w.append(again.Encode(0)) // the attempt is over
		_ = m.leave()
		w.note(func() { w.committed = 0 })
		w.join()
		time.Sleep(time.Minute) // of the bubble
		if n := len(w.completions(a.CorrelationID)); n != 2 {
			t.Errorf("there are %d completions", n)
		}
	})
}

func TestAnOpenRetryIsTakenOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put(w.stored, "p", 1, doing)
		w.do = func(_ context.Context, o actions.Origin, _ pipelines.StepCall) (any, error) { return o.Attempt, nil }
		a := w.accept("webhook.a", `1`, "p@1")
		w.append(call.Completed{
			CorrelationID: a.CorrelationID, Listener: "p@1", Attempt: 1, Status: call.Failed, Finished: time.Now(),
		}.Encode(0))
		w.append(call.Retried{
			CorrelationID: a.CorrelationID, Listener: "p@1", Attempt: 2, By: "ada", CommandID: "c1", Time: time.Now(),
		}.Encode(0))
		for _, committed := range []int64{2, 0} { // the accepted record is read, or not
			w.note(func() { w.committed = committed })
			m := w.join()
			w.untilComplete(a, 2)
			time.Sleep(time.Minute) // of the bubble
			_ = m.leave()
		}
		if have := w.completions(a.CorrelationID); len(have) != 2 || have[1].value != "2" {
			t.Errorf("the completions are %+v", have)
		}
	})
}

func TestOfTwoAcceptedRecordsOfASentEventTheFirstIsRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.put(w.stored, "p", 1, echo)
		send := func(a call.Accepted) {
			r, err := a.Encode(0)
			r.Headers = append(r.Headers, record.Header{Key: record.HeaderDepth, Value: []byte("1")})
			w.append(r, err)
		}
		first := w.accept("orders.a", `1`)
		second := w.accept("orders.a", `2`)
		first.CorrelationID = "5f0f4ac1-6f0b-8e6c-9d5e-1b1f0e5d0c11"
		second.CorrelationID = first.CorrelationID
		first.Listeners, second.Listeners = []string{"p@1"}, []string{"p@1"}
		w.join()
		send(first)
		send(second)
		w.untilComplete(first, 1)
		time.Sleep(time.Minute) // of the bubble
		if have := w.completions(first.CorrelationID); len(have) != 1 || have[0].value != "1" {
			t.Errorf("the completions are %+v", have)
		}
	})
}
