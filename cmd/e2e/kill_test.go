package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// acknowledged is what the service has answered with success.
type acknowledged struct {
	mu    sync.Mutex
	hooks map[string]string // token by event key
	calls map[string]string // trace id by correlation id
}

func (a *acknowledged) counts() (hooks, calls int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.hooks), len(a.calls)
}

// attempt sends a request that may meet a dead service, and reports success.
func attempt(s *service, path string, form url.Values, header http.Header, into any) bool {
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+path, strings.NewReader(form.Encode()))
	if err != nil {
		return false
	}
	req.Header = header.Clone()
	req.Header.Set("Content-Type", asForm)
	resp, err := s.http.Do(req)
	if err != nil {
		return false
	}
	defer func() { _ = resp.Body.Close() }()
	return resp.StatusCode == http.StatusOK && json.NewDecoder(resp.Body).Decode(into) == nil
}

// keepBusy creates webhooks and calls one until the service is gone.
func (a *acknowledged) keepBusy(s *service, round int, token string) *sync.WaitGroup {
	var busy sync.WaitGroup
	busy.Go(func() {
		admin := http.Header{"Authorization": {basic("admin", adminPassword)}}
		for n := 0; ; n++ {
			key := fmt.Sprintf("webhook.round-%d.n-%d", round, n)
			var hook webhook
			if !attempt(s, "/api/v3/command/webhook.put", url.Values{"eventKey": {key}}, admin, &hook) {
				return
			}
			a.mu.Lock()
			a.hooks[hook.EventKey] = hook.UUID
			a.mu.Unlock()
		}
	})
	for range 3 {
		busy.Go(func() {
			for {
				var called result
				if !attempt(s, receivePath, url.Values{"some": {"payload"}}, http.Header{"Token": {token}}, &called) {
					return
				}
				a.mu.Lock()
				a.calls[called.CorrelationID] = called.TraceID
				a.mu.Unlock()
			}
		})
	}
	return &busy
}

// verify fails the test unless all that was acknowledged is there.
func (a *acknowledged) verify(s *service) {
	s.t.Helper()
	var list []webhook
	s.command("webhook.get").want(http.StatusOK).json(&list)
	have := map[string]string{}
	for _, hook := range list {
		have[hook.EventKey] = hook.UUID
	}
	for key, token := range a.hooks {
		if have[key] != token {
			s.t.Errorf("%s is lost", key)
		}
	}
	for id, trace := range a.calls {
		var polled result
		s.poll(id, "").want(http.StatusOK).json(&polled)
		if polled.TraceID != trace || polled.Status != "ok" {
			s.t.Errorf("call %s is %+v", trace, polled)
		}
	}
}

func TestWhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	const rounds, hooksEach, callsEach = 3, 3, 30
	folder := filepath.Join(t.TempDir(), "data")
	env := []string{passwordVariable + "=" + adminPassword}
	all := &acknowledged{hooks: map[string]string{}, calls: map[string]string{}}
	for round := range rounds {
		p := serveBinary(t, env, "--data-dir", folder)
		all.verify(p.service)
		target := p.put(fmt.Sprintf("eventKey=webhook.target-%d", round))
		all.hooks[target.EventKey] = target.UUID
		busy := all.keepBusy(p.service, round, target.UUID)
		eventually(t, "enough is acknowledged", func() bool {
			hooks, calls := all.counts()
			return hooks >= (round+1)*hooksEach && calls >= (round+1)*callsEach
		})
		p.signal(syscall.SIGKILL)
		if code := p.exit(); code != -1 {
			t.Fatalf("it was not killed: exit code %d", code)
		}
		busy.Wait()
	}
	p := serveBinary(t, env, "--data-dir", folder)
	all.verify(p.service)
	hooks, calls := all.counts()
	t.Logf("%d webhooks and %d calls survived %d kills", hooks, calls, rounds)
	p.terminate()
}
