//go:build faults

package faults_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

const receivePath = "/api/v3/command/webhook.receive"

// client is a caller and an administrator of a service that may break at any
// moment: that is an error for it, and no failure of the test.
type client struct {
	http *http.Client
	url  string
}

func newClient(t *testing.T, base string) *client {
	transport := &http.Transport{MaxIdleConnsPerHost: 256}
	t.Cleanup(transport.CloseIdleConnections)
	return &client{
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Timeout:       30 * time.Second,
		},
		url: base,
	}
}

// do sends a request and gives the whole answer.
func (c *client) do(method, path string, body io.Reader, header ...string) (status int, answer []byte, err error) {
	if strings.HasPrefix(path, "/") {
		path = c.url + path
	}
	req, err := http.NewRequest(method, path, body)
	if err != nil {
		return 0, nil, err
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Add(header[i], header[i+1])
	}
	if strings.HasPrefix(req.URL.Path, "/api/v3/command/webhook.") && req.URL.Path != receivePath {
		req.SetBasicAuth("admin", adminPassword)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err = io.ReadAll(resp.Body)
	return resp.StatusCode, answer, err
}

// command runs a management command with parameters as key=value.
func (c *client) command(name string, params ...string) (status int, answer []byte, err error) {
	form := url.Values{}
	for _, p := range params {
		key, value, _ := strings.Cut(p, "=")
		form.Add(key, value)
	}
	return c.do(http.MethodPost, "/api/v3/command/"+name, strings.NewReader(form.Encode()),
		"Content-Type", "application/x-www-form-urlencoded")
}

// webhook is the part of a webhook's record that the suites change.
type webhook struct {
	EventKey         string `json:"eventKey"`
	UUID             string `json:"uuid"`
	MaxPayloadLength int    `json:"maxPayloadLength"`
	Version          int    `json:"version"`
}

// put runs webhook.put, which must succeed.
func (c *client) put(t *testing.T, params ...string) webhook {
	t.Helper()
	var w webhook
	status, answer, err := c.command("webhook.put", params...)
	if err != nil || status != http.StatusOK || json.Unmarshal(answer, &w) != nil {
		t.Fatalf("webhook.put: %d %s %v", status, answer, err)
	}
	return w
}

// result is the result JSON.
type result struct {
	Status        string `json:"status"`
	CorrelationID string `json:"correlationId"`
	TraceID       string `json:"traceId"`
}

// call posts a payload to a webhook.
func (c *client) call(token string, payload []byte) (r result, status int, err error) {
	status, answer, err := c.do(http.MethodPost, receivePath, bytes.NewReader(payload),
		"token", token, "Content-Type", "application/octet-stream")
	if err == nil && status == http.StatusOK {
		err = json.Unmarshal(answer, &r)
	}
	return r, status, err
}

// called is call for one that must be accepted.
func (c *client) called(t *testing.T, token string, payload []byte) result {
	t.Helper()
	r, status, err := c.call(token, payload)
	if err != nil || status != http.StatusOK {
		t.Fatalf("webhook.receive: %d, %v", status, err)
	}
	return r
}

// poll asks for a result, once.
func (c *client) poll(id string) (r result, status int, err error) {
	status, answer, err := c.do(http.MethodGet, "/api/v3/result?svc-result-correlationid="+id, nil)
	if err == nil && status == http.StatusOK {
		err = json.Unmarshal(answer, &r)
	}
	return r, status, err
}

// works fails the test unless the service does all that it is for.
func (c *client) works(t *testing.T, eventKey string) {
	t.Helper()
	hook := c.put(t, "eventKey="+eventKey)
	called := c.called(t, hook.UUID, []byte("anything"))
	polled, status, err := c.poll(called.CorrelationID)
	if err != nil || status != http.StatusOK || polled.Status != "ok" {
		t.Fatalf("poll: %d %+v %v", status, polled, err)
	}
}
