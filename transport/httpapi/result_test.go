package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/fault"
)

const (
	id       = "0b0b0b0b-1111-4222-8333-444444444444"
	poll     = result + "?svc-result-correlationid=" + id
	location = baseURL + poll + "&pollingRedirectEnabled=true"
)

func wantRedirect(t *testing.T, rec *httptest.ResponseRecorder) {
	t.Helper()
	wantStatus(t, rec, http.StatusFound)
	if got := rec.Header().Get("Location"); got != location {
		t.Errorf("Location %q, want %q", got, location)
	}
	if got := rec.Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("Cache-Control %q", got)
	}
}

func TestAReadyResult(t *testing.T) {
	for parameter, mirrored := range map[string]bool{"": false, "&pollingRedirectEnabled=false": false, "&pollingRedirectEnabled=true": true} {
		t.Run("is answered at once and as often as asked, with "+parameter, func(t *testing.T) {
			w := newWorld(t)
			w.results.open(id, "a@1")
			w.results.complete(id, "a@1", `[1]`)
			for range 5 {
				res := resultOf(t, w.get(poll+parameter))
				if res.Status != "ok" || string(res.Value) != "[1]" || *res.PollingRedirectEnabled != mirrored || res.CorrelationID != id {
					t.Errorf("result %+v", res)
				}
			}
		})
	}
	t.Run("of a call without listeners is the trace information", func(t *testing.T) {
		w := newWorld(t)
		w.results.open(id)
		if res := resultOf(t, w.get(poll)); string(res.Value) != string(call.TraceInformation(res.TraceID)) {
			t.Errorf("result %+v", res)
		}
	})
	t.Run("that is an error is polled with 200", func(t *testing.T) {
		w := newWorld(t)
		w.results.open(id, "a@1")
		w.results.complete(id, "a@1", "")
		res := resultOf(t, w.get(poll))
		if res.Status != "error" || res.StatusCode != 500 || string(res.Value) != string(call.Problem(res.TraceID)) {
			t.Errorf("result %+v", res)
		}
	})
	t.Run("that cannot be opened is not shown", func(t *testing.T) {
		w := newWorld(t)
		w.results.put(call.State{
			CorrelationID: id, Received: time.Now(), Listeners: []string{"a@1"},
			Runs: map[string]call.Completed{"a@1": {Status: call.OK, Value: "foreign", Finished: time.Now()}},
		})
		wantProblem(t, w.get(poll), fault.Internal)
		if lines := w.log.lines(t); len(lines) != 1 || lines[0]["msg"] != "request failed" {
			t.Errorf("lines %v", lines)
		}
	})
}

func TestResultsThatAreNotThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.results.open(id, "a@1")
		w.results.complete(id, "a@1", "1")
		time.Sleep(time.Hour)
		expired := w.get(poll)
		wantProblem(t, expired, fault.Gone)
		if w.results.barriers != 0 {
			t.Error("a known id needs no look-up")
		}
		for name, other := range map[string]string{
			"malformed":  "x",
			"upper case": strings.ToUpper(id),
			"unknown":    "ffffffff-1111-4222-8333-444444444444",
		} {
			rec := w.get(strings.Replace(poll, id, other, 1))
			if rec.Code != expired.Code || rec.Body.String() != expired.Body.String() || !maps.EqualFunc(rec.Header(), expired.Header(), slices.Equal) {
				t.Errorf("%s: %d %s", name, rec.Code, rec.Body)
			}
		}
		if w.results.barriers != 1 {
			t.Errorf("%d look-ups, want one for the well-formed unknown id", w.results.barriers)
		}
	})
}

func TestAnUnknownResultIsLookedForOnTheLogFirst(t *testing.T) {
	t.Run("and found", func(t *testing.T) {
		w := newWorld(t)
		w.results.behind = []call.State{{CorrelationID: id, TraceID: "t", Received: time.Now()}}
		resultOf(t, w.get(poll))
	})
	t.Run("and 503 says that nobody knows", func(t *testing.T) {
		w := newWorld(t)
		w.results.err = errors.New("broker-7.internal is down")
		rec := w.get(poll)
		wantProblem(t, rec, fault.Unavailable)
		if rec.Header().Get("Retry-After") != "2" || strings.Contains(rec.Body.String(), "broker-7") {
			t.Errorf("%v %s", rec.Header(), rec.Body)
		}
	})
}

func TestBadPolls(t *testing.T) {
	w := newWorld(t)
	w.results.open(id)
	for name, target := range map[string]string{
		"no id":                    result,
		"an empty id":              result + "?svc-result-correlationid=",
		"two ids":                  poll + "&svc-result-correlationid=x",
		"a redirect of no boolean": poll + "&pollingRedirectEnabled=yes",
		"an empty redirect":        poll + "&pollingRedirectEnabled=",
		"a malformed query":        poll + "&a=%zz",
	} {
		t.Run(name, func(t *testing.T) { wantProblem(t, w.get(target), fault.Invalid) })
	}
}

func TestThePaceOfPolls(t *testing.T) {
	for mode, inPace := range map[string]func(*testing.T, *httptest.ResponseRecorder, string){
		"": func(t *testing.T, rec *httptest.ResponseRecorder, _ string) {
			t.Helper()
			wantRedirect(t, rec)
		},
		"&pollingRedirectEnabled=false": func(t *testing.T, rec *httptest.ResponseRecorder, wait string) {
			t.Helper()
			res := resultOf(t, rec)
			if res.Status != "processing" || string(res.Value) != "null" || rec.Header().Get("Retry-After") != wait {
				t.Errorf("result %+v, Retry-After %q, want %q", res, rec.Header().Get("Retry-After"), wait)
			}
		},
	} {
		t.Run("doubles for early and halves for patient polls"+mode, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.results.open(id, "a@1")
				for i, step := range []struct {
					after time.Duration
					early bool
					wait  string
				}{
					{0, false, "5"},
					{5 * time.Second, false, "5"},
					{4999 * time.Millisecond, true, "10"},
					{time.Second, true, "20"},
					{0, true, "40"},
					{0, true, "60"},
					{59 * time.Second, true, "60"},
					{60 * time.Second, false, "30"},
					{30 * time.Second, false, "15"},
					{15 * time.Second, false, "8"}, // 7.5 s, rounded up
					{8 * time.Second, false, "5"},
					{5 * time.Second, false, "5"},
				} {
					time.Sleep(step.after)
					rec := w.get(poll + mode)
					if !step.early {
						inPace(t, rec, step.wait)
						continue
					}
					wantProblem(t, rec, fault.TooMany)
					if got := rec.Header().Get("Retry-After"); got != step.wait {
						t.Errorf("step %d: Retry-After %q, want %q", i, got, step.wait)
					}
				}
				w.results.complete(id, "a@1", "1")
				resultOf(t, w.get(poll+mode))
			})
		})
	}
}

func TestAHeldPoll(t *testing.T) {
	held := poll + "&pollingRedirectEnabled=true"
	t.Run("is answered as soon as the result is ready", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.results.open(id, "a@1", "b@1")
			go func() {
				time.Sleep(3 * time.Second)
				w.results.complete(id, "a@1", "1")
				time.Sleep(3 * time.Second)
				w.results.complete(id, "b@1", "2")
			}()
			start := time.Now()
			if res := resultOf(t, w.get(held)); string(res.Value) != `{"a":1,"b":2}` || !*res.PollingRedirectEnabled {
				t.Errorf("result %+v", res)
			}
			if took := time.Since(start); took != 6*time.Second {
				t.Errorf("took %v", took)
			}
			if n := w.results.watched(); n != 0 {
				t.Errorf("%d watches are left", n)
			}
		})
	})
	t.Run("is sent round again after its time, and never too early", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.results.open(id, "a@1")
			wantRedirect(t, w.get(poll)) // begins the pace of polls that are not held
			for range 3 {
				start := time.Now()
				wantRedirect(t, w.get(held))
				if took := time.Since(start); took != 25*time.Second {
					t.Errorf("took %v", took)
				}
			}
			if n := w.results.watched(); n != 0 {
				t.Errorf("%d watches are left", n)
			}
		})
	})
	t.Run("sees the call fail at its deadline", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.results.open(id, "a@1")
			time.Sleep(24*time.Hour - time.Second)
			wantRedirect(t, w.get(held))
			if res := resultOf(t, w.get(held)); res.Status != "error" {
				t.Errorf("result %+v", res)
			}
		})
	})
	t.Run("ends when its client leaves", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t)
			w.results.open(id, "a@1")
			ctx, leave := context.WithTimeout(t.Context(), time.Second)
			defer leave()
			start := time.Now()
			w.do(httptest.NewRequest(http.MethodGet, held, nil).WithContext(ctx))
			if took := time.Since(start); took != time.Second {
				t.Errorf("took %v", took)
			}
		})
	})
}

// released is when and how a held poll was answered.
type released struct {
	poll  int
	after time.Duration
	rec   *httptest.ResponseRecorder
}

// holdPolls starts polls one second apart and gives their answers in order.
func (w *world) holdPolls(targets ...string) <-chan released {
	start := time.Now()
	answers := make(chan released, len(targets))
	for i, target := range targets {
		go func() {
			time.Sleep(time.Duration(i) * time.Second)
			rec := w.get(target)
			answers <- released{i, time.Since(start), rec}
		}()
	}
	return answers
}

func TestTwoPollsOfAResultAreHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const other = "0c0c0c0c-1111-4222-8333-444444444444"
		w := newWorld(t)
		w.results.open(id, "a@1")
		w.results.open(other, "a@1")
		held := poll + "&pollingRedirectEnabled=true"
		answers := w.holdPolls(strings.Replace(held, id, other, 1), held, held, held, held)
		var got []string
		for range 5 {
			a := <-answers
			if a.rec.Code != http.StatusFound {
				t.Errorf("poll %d: status %d", a.poll, a.rec.Code)
			}
			got = append(got, fmt.Sprintf("%d@%v", a.poll, a.after))
		}
		// The fourth poll releases the second, the fifth the third; the first is
		// of another result.
		want := []string{"1@3s", "2@4s", "0@25s", "3@28s", "4@29s"}
		if !slices.Equal(got, want) {
			t.Errorf("released %v, want %v", got, want)
		}
	})
}

func TestDrainReleasesHeldPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.results.open(id, "a@1")
		held := poll + "&pollingRedirectEnabled=true"
		answers := w.holdPolls(held, held)
		time.Sleep(2 * time.Second)
		w.api.Drain()
		for range 2 {
			a := <-answers
			wantRedirect(t, a.rec)
			if a.after != 2*time.Second {
				t.Errorf("poll %d was held for %v", a.poll, a.after)
			}
		}
		start := time.Now()
		wantRedirect(t, w.get(held))
		if took := time.Since(start); took != 0 {
			t.Errorf("a poll after draining was held for %v", took)
		}
		w.api.Drain()
	})
}
