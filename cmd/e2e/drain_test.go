package e2e_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"hooklog/cmd/settings"
)

const drainLimit = 25 * time.Second

// slowCall is a webhook call whose body is not sent to its end yet.
type slowCall struct {
	rest   *io.PipeWriter
	answer chan answer // closed without one when the call was cut off
}

// begin sends a call without the end of its body, and returns when the service
// reads it.
func begin(s *service, token string) *slowCall {
	s.t.Helper()
	const body = `{"sent":"in two parts"}`
	reader, writer := io.Pipe()
	c := &slowCall{rest: writer, answer: make(chan answer, 1)}
	reading := make(chan struct{})
	ctx := httptrace.WithClientTrace(s.t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(reading) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+receivePath, reader)
	if err != nil {
		s.t.Fatal(err)
	}
	req.ContentLength = int64(len(body))
	req.Header = http.Header{"Token": {token}, "Content-Type": {asJSON}, "Expect": {"100-continue"}}
	client := newClient()
	client.Transport.(*http.Transport).ExpectContinueTimeout = patience
	go func() {
		defer close(c.answer)
		resp, err := client.Do(req)
		if err != nil {
			return
		}
		defer func() { _ = resp.Body.Close() }()
		read, _ := io.ReadAll(resp.Body)
		c.answer <- answer{s.t, resp.StatusCode, resp.Header, read}
	}()
	<-reading
	if _, err := io.WriteString(writer, body[:10]); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = writer.Close() })
	return c
}

// end sends what is missing and gives the answer.
func (c *slowCall) end() (answer, bool) {
	_, _ = io.WriteString(c.rest, `{"sent":"in two parts"}`[10:])
	_ = c.rest.Close()
	a, answered := <-c.answer
	return a, answered
}

// holdTwo sends polls until two are held for sure: of three, the service releases
// the oldest.
func holdTwo(s *service, id string) <-chan answer {
	s.t.Helper()
	answers := make(chan answer, 3)
	for range 3 {
		go func() {
			cutOff := answer{t: s.t}
			resp, err := s.http.Get(s.url + "/api/v3/result?pollingRedirectEnabled=true&svc-result-correlationid=" + id)
			if err != nil {
				answers <- cutOff
				return
			}
			_ = resp.Body.Close()
			answers <- answer{t: s.t, status: resp.StatusCode, header: resp.Header}
		}()
	}
	(<-answers).want(http.StatusFound)
	return answers
}

func TestATermSignalDrains(t *testing.T) {
	brokers := emptyBrokers(t)
	folder := t.TempDir()
	ring := filepath.Join(folder, "ring")
	if code, _, stderr := runBinary(t, nil, "keys", "init", ring); code != 0 {
		t.Fatal(stderr)
	}
	flags := []string{"--brokers", strings.Join(brokers, ","), "--partitions", "1", "--replication", "1", "--key-ring", ring, "--data-dir", filepath.Join(folder, "data")}
	env := []string{passwordVariable + "=" + adminPassword}
	p := serveBinary(t, env, flags...)
	p.cfg.Brokers, p.cfg.Partitions = brokers, 1

	hook := p.put("eventKey=webhook.demo")
	inFlight := begin(p.service, hook.UUID)
	polls := holdTwo(p.service, p.slow("slow@1").id)

	signalled := time.Now()
	p.signal(syscall.SIGTERM)
	for range 2 {
		a := (<-polls).want(http.StatusFound)
		if location := a.header.Get("Location"); !strings.HasPrefix(location, p.url+"/api/v3/result?") {
			t.Errorf("released to %q", location)
		}
	}
	reason := p.send(http.MethodGet, p.ops+"/readyz", nil).want(http.StatusServiceUnavailable).object()["detail"]
	if reason != "the service is shutting down" {
		t.Errorf("not ready because %q", reason)
	}
	p.send(http.MethodGet, p.ops+"/healthz", nil).want(http.StatusOK)

	var finished result
	if a, answered := inFlight.end(); !answered {
		t.Fatal("the call in flight was cut off")
	} else {
		a.want(http.StatusOK).json(&finished)
	}
	if code := p.exit(); code != 0 || time.Since(signalled) > drainLimit {
		t.Errorf("exit code %d after %s\n%s", code, time.Since(signalled), p.logs)
	}

	p = serveBinary(t, env, flags...)
	p.poll(finished.CorrelationID, "").want(http.StatusOK)
	p.terminate()
}

func TestACallThatDoesNotEndIsCutOff(t *testing.T) {
	s := start(t, func(c *settings.Config) { c.ResultWindow = 0 })
	hook := s.put("eventKey=webhook.demo")
	endless := begin(s, hook.UUID)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := s.app.Stop(ctx); err != nil {
		t.Errorf("a slow caller is no failure of the service: %v", err)
	}
	s.app = nil
	if a, answered := endless.end(); answered {
		t.Errorf("answered %d", a.status)
	}
	if !strings.Contains(s.logs.String(), "Requests in flight were cut off") {
		t.Errorf("nothing is said of it:\n%s", s.logs)
	}
}

func TestASignalDuringTheStartEndsItInOrder(t *testing.T) {
	folder := t.TempDir()
	ring := filepath.Join(folder, "ring")
	if code, _, stderr := runBinary(t, nil, "keys", "init", ring); code != 0 {
		t.Fatal(stderr)
	}
	cmd := hooklog(t, nil, serveIn(filepath.Join(folder, "data"), "--brokers", freeAddress(t), "--key-ring", ring)...)
	logs := &buffer{}
	cmd.Stderr = logs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "it waits for its brokers", func() bool { return strings.Contains(logs.String(), "Waiting for the log") })
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, logs)
	}
}
