package e2e_test

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"regexp"
	"strconv"
	"testing"
	"time"

	"hooklog/cmd/settings"
)

func heldPollSeesTheEnd(s *service) {
	step, open := s.gate("held")
	hook := s.listening("webhook.held", "held", step+"body: done")
	id := s.begin(hook.UUID, asJSON, `1`)
	var r result
	s.poll(id, "false").want(http.StatusOK).json(&r)
	if r.Status != "processing" || string(r.Value) != "null" {
		s.t.Errorf("before the end the call is %+v", r)
	}
	poll, err := http.NewRequestWithContext(s.t.Context(), http.MethodGet, s.url+"/api/v3/result?pollingRedirectEnabled=true&svc-result-correlationid="+id, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	ended := make(chan result, 1)
	go func() {
		defer close(ended)
		resp, err := s.http.Do(poll)
		if err != nil {
			s.t.Error(err)
			return
		}
		defer func() { _ = resp.Body.Close() }()
		var r result
		if err := json.NewDecoder(resp.Body).Decode(&r); err != nil {
			s.t.Error(err)
		}
		ended <- r
	}()
	eventually(s.t, "the poll is held", func() bool { return s.holding() > 0 })
	open()
	(<-ended).wantValue(s.t, `"done"`) // it is held for longer than the client waits
}

// What a caller sees of a long pipeline and of a short one, by the default window.
func TestResultsOfPipelines(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start(holdFor(300*time.Millisecond), func(c *settings.Config) { c.UserRate = 0 })
		t.Run("a short one answers ok with its value, also right after it was put", func(t *testing.T) {
			s := s.in(t)
			const tries = 5
			within := 0
			for i := range tries {
				name := "short-" + strconv.Itoa(i)
				r := s.called(s.listening("webhook."+name, name, "body: "+name).UUID, asJSON, `1`)
				if r.Status == "processing" {
					s.wait(&r)
				} else {
					within++
				}
				r.wantValue(t, `"`+name+`"`)
			}
			// One may be late on a busy machine; that all are would be no accident.
			if within == 0 {
				t.Errorf("none of %d was ready within %s", tries, s.cfg.ResultWindow)
			}
			t.Logf("%d of %d were ready within %s", within, tries, s.cfg.ResultWindow)
		})
		t.Run("a long one answers processing, then 302s, then 200 with the value", func(t *testing.T) {
			s := s.in(t)
			step, open := s.gate("long")
			hook := s.listening("webhook.long", "long", step+"body: {late: true}")
			a := s.call(hook.UUID, asJSON, `1`).want(http.StatusOK)
			var r result
			a.json(&r)
			if r.Status != "processing" || r.StatusCode != 200 || string(r.Value) != "null" || a.header.Get("Svc-Result-Correlationid") != r.CorrelationID {
				t.Fatalf("the call is %+v", r)
			}
			location := s.poll(r.CorrelationID, "").want(http.StatusFound).header.Get("Location")
			for range 2 {
				if next := s.send(http.MethodGet, location, nil).want(http.StatusFound).header.Get("Location"); next != location {
					t.Errorf("sent from %s to %s", location, next)
				}
			}
			open()
			s.wait(&r)
			r.wantValue(t, `{"late":true}`)
		})
		t.Run("curl -L on receive alone prints the final result", func(t *testing.T) {
			curl, err := exec.LookPath("curl")
			if err != nil {
				t.Skip("there is no curl")
			}
			s := s.in(t)
			step, open := s.gate("curl")
			hook := s.listening("webhook.curl", "curl", step+"body: printed")
			var body, headers buffer
			cmd := exec.CommandContext(t.Context(), curl, "-q", "-sS", "-L", "-v", "--noproxy", "*",
				"-H", "token: "+hook.UUID, "-d", "1", s.url+receivePath+"?pollingRedirectEnabled=true")
			cmd.Stdout, cmd.Stderr = &body, &headers
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			statuses := func() []string {
				return regexp.MustCompile(`(?m)^< HTTP/1\.1 (\d+)`).FindAllString(headers.String(), -1)
			}
			eventually(t, "curl is sent round", func() bool { return len(statuses()) >= 3 })
			open()
			if err := cmd.Wait(); err != nil {
				t.Fatalf("%v\n%s", err, &headers)
			}
			var r result
			decodeInto(t, body.String(), &r)
			r.wantValue(t, `"printed"`)
		})
	})
}

// A service that comes back goes on where it was: what was accepted is run.
func TestPipelinesSurviveARestart(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start(unhurried)
		step, open := s.gate("restart")
		slow := s.listening("webhook.slow", "slow", step+"body: late")
		quick := s.listening("webhook.quick", "quick", "body: quick")
		before := s.called(quick.UUID, asJSON, `1`)
		id := s.begin(slow.UUID, asJSON, `1`)
		s.restart()
		open()
		s.await(id).wantValue(t, `"late"`)
		s.called(quick.UUID, asJSON, `1`).wantValue(t, `"quick"`)
		again := s.await(before.CorrelationID)
		again.wantValue(t, `"quick"`)
		if runs := s.runs("pipeline=quick"); len(runs) != 2 || runs[1].CorrelationID != before.CorrelationID {
			t.Errorf("the runs are %+v", runs)
		}
	})
}

// wait follows the redirects of a call to its end.
func (s *service) wait(r *result) {
	s.t.Helper()
	eventually(s.t, "the call ends", func() bool {
		a := s.poll(r.CorrelationID, "true")
		if a.status == http.StatusOK {
			a.json(r)
		}
		return a.status == http.StatusOK
	})
}
