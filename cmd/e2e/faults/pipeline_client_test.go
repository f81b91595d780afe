//go:build faults

package faults_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/record"
)

// asAdmin is what the administrator sends along.
var asAdmin = "Basic " + base64.StdEncoding.EncodeToString([]byte("admin:"+adminPassword))

// manage runs a command of any kind as the administrator.
func (c *client) manage(name string, params ...string) (status int, answer []byte, err error) {
	form := url.Values{}
	for _, p := range params {
		key, value, _ := strings.Cut(p, "=")
		form.Add(key, value)
	}
	return c.do(http.MethodPost, "/api/v3/command/"+name, strings.NewReader(form.Encode()),
		"Content-Type", "application/x-www-form-urlencoded", "Authorization", asAdmin)
}

// putPipeline stores a pipeline, which must be taken.
func (c *client) putPipeline(t *testing.T, name, source string) {
	t.Helper()
	if status, answer, err := c.manage("pipeline.put", "name="+name, "body="+source); err != nil || status != http.StatusOK {
		t.Fatalf("pipeline.put %s: %d %s %v", name, status, answer, err)
	}
}

// versionOf gives the version of a webhook, which every edit raises by one.
func (c *client) versionOf(t *testing.T, w webhook) int {
	t.Helper()
	status, answer, err := c.command("webhook.get", "uuid="+w.UUID)
	if err != nil || status != http.StatusOK || json.Unmarshal(answer, &w) != nil {
		t.Fatalf("webhook.get: %d %s %v", status, answer, err)
	}
	return w.Version
}

// toTheEnd makes a call and waits for its result.
func (c *client) toTheEnd(token string, payload []byte) (result, error) {
	status, answer, err := c.do(http.MethodPost, receivePath, bytes.NewReader(payload), "token", token, "Content-Type", "application/octet-stream")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("webhook.receive: %d %s", status, answer)
	}
	var called result
	if err == nil {
		err = json.Unmarshal(answer, &called)
	}
	if err != nil {
		return called, err
	}
	return c.final(called)
}

// final waits for the result of a call, as a caller does who follows redirects.
func (c *client) final(called result) (result, error) {
	for end := time.Now().Add(patience); called.Status == "processing"; {
		status, answer, err := c.do(http.MethodGet, "/api/v3/result?pollingRedirectEnabled=true&svc-result-correlationid="+called.CorrelationID, nil)
		switch {
		case err != nil:
			return called, err
		case status == http.StatusOK:
			if err := json.Unmarshal(answer, &called); err != nil {
				return called, err
			}
		case status != http.StatusFound || time.Now().After(end):
			return called, fmt.Errorf("call %s has no result: %d %s", called.CorrelationID, status, answer)
		}
	}
	return called, nil
}

// lives are the lives of calls as svc.call tells them: the first accepted record
// of a call counts, and the first completion of a listener.
type lives struct {
	states   map[string]call.State
	accepted map[string]call.Accepted
	// sentAgain and endedAgain are the records that repeat what was said before.
	sentAgain, endedAgain int
}

// lives folds the whole topic.
func (l kafkaLog) lives(t *testing.T) lives {
	t.Helper()
	all := lives{states: map[string]call.State{}, accepted: map[string]call.Accepted{}}
	for _, r := range l.read(t, record.TopicCall) {
		decoded, err := call.Decode(&record.Record{Key: r.Key, Value: r.Value, Headers: headersOf(r)})
		if err != nil {
			t.Fatalf("%s@%d: %v", r.Topic, r.Offset, err)
		}
		switch told := decoded.(type) {
		case call.Accepted:
			if _, known := all.accepted[told.CorrelationID]; known {
				all.sentAgain++
				continue
			}
			all.accepted[told.CorrelationID], all.states[told.CorrelationID] = told, call.Begin(told)
		case call.Completed:
			state, counts := all.states[told.CorrelationID].Complete(told)
			if !counts {
				all.endedAgain++
			}
			all.states[told.CorrelationID] = state
		}
	}
	return all
}

// open counts the calls that have no result yet.
func (l lives) open() (n int) {
	for _, s := range l.states {
		if status, _ := s.Finished(); status == call.Processing {
			n++
		}
	}
	return n
}

// of counts the calls of an event key, and those among them that failed.
func (l lives) of(eventKey string) (all, failed int) {
	for id, a := range l.accepted {
		if a.EventKey != eventKey {
			continue
		}
		all++
		if status, _ := l.states[id].Finished(); status == call.Failed {
			failed++
		}
	}
	return all, failed
}
