package httpapi_test

import (
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/call"
)

// later runs the pipelines of the only call after a while.
func (w *world) later(after time.Duration, run func(id string)) {
	go func() {
		time.Sleep(after)
		w.journal.mu.Lock()
		id := string(w.journal.records[1].Key)
		w.journal.mu.Unlock()
		run(id)
	}()
}

func TestTheAnswerWaitsForThePipelines(t *testing.T) {
	for name, c := range map[string]struct {
		listeners  []string
		after      time.Duration
		run        func(r *results, id string)
		took       time.Duration
		status     call.Status
		statusCode int
		value      string
	}{
		"one that is done in time gives the value as it is": {
			[]string{"a@1"},
			50 * time.Millisecond, func(r *results, id string) { r.complete(id, "a@1", `{"x": 1.0}`) },
			50 * time.Millisecond, call.OK, 200, `{"x": 1.0}`,
		},
		"one without a body gives null": {
			[]string{"a@1"},
			50 * time.Millisecond, func(r *results, id string) { r.complete(id, "a@1", "null") },
			50 * time.Millisecond, call.OK, 200, `null`,
		},
		"several give an object by pipeline name": {
			[]string{"a@1", "b@7"},
			50 * time.Millisecond,
			func(r *results, id string) {
				r.complete(id, "b@7", `"<b>"`)
				time.Sleep(50 * time.Millisecond)
				r.complete(id, "a@1", `1`)
			},
			100 * time.Millisecond, call.OK, 200, `{"a":1,"b":"<b>"}`,
		},
		"one that fails makes the call an error": {
			[]string{"a@1"},
			50 * time.Millisecond, func(r *results, id string) { r.complete(id, "a@1", "") },
			50 * time.Millisecond, call.Failed, 500, "",
		},
		"one of several that is late leaves it processing": {
			[]string{"a@1", "b@1"},
			50 * time.Millisecond, func(r *results, id string) { r.complete(id, "a@1", `1`) },
			200 * time.Millisecond, call.Processing, 200, "null",
		},
		"one that is late leaves it processing": {
			[]string{"a@1"},
			250 * time.Millisecond, func(r *results, id string) { r.complete(id, "a@1", `1`) },
			200 * time.Millisecond, call.Processing, 200, "null",
		},
		"a value that cannot be opened leaves it processing": {
			[]string{"a@1"},
			50 * time.Millisecond,
			func(r *results, id string) {
				state, _, _ := r.Call(id)
				state, _ = state.Complete(call.Completed{CorrelationID: id, Listener: "a@1", Attempt: 1, Status: call.OK, Value: "foreign", Finished: time.Now()})
				r.put(state)
			},
			50 * time.Millisecond, call.Processing, 200, "null",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, listenedBy(c.listeners...))
				w.later(c.after, func(id string) { c.run(w.results, id) })
				start := time.Now()
				res := resultOf(t, w.post("text/plain", "x"))
				if took := time.Since(start); took != c.took {
					t.Errorf("took %v, want %v", took, c.took)
				}
				if res.Status != string(c.status) || res.StatusCode != c.statusCode {
					t.Errorf("result %+v", res)
				}
				want := c.value
				if c.status == call.Failed {
					want = string(call.Problem(res.TraceID))
				}
				if string(res.Value) != want {
					t.Errorf("value %s, want %s", res.Value, want)
				}
				if n := w.results.watched(); n != 0 {
					t.Errorf("%d watches are left", n)
				}
				synctest.Wait()
				time.Sleep(time.Second)
			})
		})
	}
}

func TestACompletionDuringTheAppendIsNotMissed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, listenedBy("a@1"))
		w.journal.appended = func(id string) { w.results.complete(id, "a@1", `1`) }
		start := time.Now()
		if res := resultOf(t, w.post("text/plain", "x")); res.Status != "ok" {
			t.Errorf("result %+v", res)
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("took %v", took)
		}
	})
}

func TestARedirectingCallDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, listenedBy("a@1"))
		start := time.Now()
		rec := w.do(withToken(newPost(receive+"?pollingRedirectEnabled=true", "text/plain", "x")))
		wantStatus(t, rec, 302)
		if took := time.Since(start); took != 0 {
			t.Errorf("took %v", took)
		}
	})
}
