package e2e_test

import (
	"bufio"
	"encoding/json"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/domain/record"
)

// nilUUID is what stands where a token stood.
const nilUUID = "00000000-0000-0000-0000-000000000000"

const (
	asJSON = "application/json"
	asForm = "application/x-www-form-urlencoded"
	asText = "text/plain; charset=utf-8"
)

// request is a webhook call as a table writes it down.
type request struct {
	method string // POST when empty
	query  string
	// header is sent in the case in which it is written.
	header      map[string][]string
	contentType string
	body        string
	// chunked sends the body without its length.
	chunked bool
}

// receive sends a webhook call.
func (s *service) receive(r request) answer {
	s.t.Helper()
	path := s.app.BaseURL() + receivePath
	if r.query != "" {
		path += "?" + r.query
	}
	var body io.Reader = strings.NewReader(r.body)
	if r.chunked {
		body = io.MultiReader(body)
	}
	method := r.method
	if method == "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(s.t.Context(), method, path, body)
	if err != nil {
		s.t.Fatal(err)
	}
	maps.Copy(req.Header, r.header)
	if r.contentType != "" {
		req.Header.Set("Content-Type", r.contentType)
	}
	if !r.chunked && len(r.body) > 1<<10 {
		// A service that refuses by the length does not read on, and a client
		// that writes meanwhile may lose the answer.
		req.Header.Set("Expect", "100-continue")
	}
	return s.do(req)
}

// dial sends a request as it stands, for what an HTTP client would tidy up.
func (s *service) dial(text string) answer {
	s.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.app.BaseURL(), "http://"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		s.t.Fatal(err)
	}
	if _, err := io.WriteString(conn, text); err != nil {
		s.t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		s.t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	return answer{s.t, resp.StatusCode, resp.Header, body}
}

// accepted is the correlation id of a call that must have been taken.
func (a answer) accepted() string {
	a.t.Helper()
	var r result
	a.want(http.StatusOK).json(&r)
	return r.CorrelationID
}

// message is the event message.
type message struct {
	EventKey      string              `json:"eventKey"`
	TraceID       string              `json:"traceId"`
	CorrelationID string              `json:"correlationId"`
	Received      time.Time           `json:"received"`
	Method        string              `json:"method"`
	ContentType   string              `json:"contentType"`
	Headers       map[string]string   `json:"headers"`
	Query         map[string][]string `json:"query"`
	// Payload has its bytes as they are on the log; absent, it is empty.
	Payload json.RawMessage `json:"payload"`
}

// eventRecord finds the record of a call on its topic.
func (s *service) eventRecord(eventKey, correlationID string) *kgo.Record {
	s.t.Helper()
	for _, r := range s.records(record.EventTopic(eventKey)) {
		if recordHeader(r, "ce_id") == correlationID {
			return r
		}
	}
	s.t.Fatalf("no record of the call on %s", record.EventTopic(eventKey))
	return nil
}

// message reads the event message of a call.
func (s *service) message(eventKey, correlationID string) message {
	s.t.Helper()
	r := s.eventRecord(eventKey, correlationID)
	var m message
	if err := json.Unmarshal(r.Value, &m); err != nil {
		s.t.Fatalf("message %.200s: %v", r.Value, err)
	}
	return m
}

func recordHeader(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}

// wantProblem fails the test unless the answer is a problem document of that
// status. It has a trace id exactly where the webhook is known.
func wantProblem(t *testing.T, a answer, status int, traced bool) map[string]any {
	t.Helper()
	a.want(status)
	if got := a.header.Get("Content-Type"); got != "application/problem+json" {
		t.Errorf("content type %q", got)
	}
	document := a.object()
	members := []string{"detail", "instance", "status", "title", "type"}
	if traced {
		members = append(members, "traceId")
	}
	slices.Sort(members)
	if diff := cmp.Diff(members, slices.Sorted(maps.Keys(document))); diff != "" {
		t.Errorf("members of the problem (-want +got):\n%s", diff)
	}
	if document["status"] != float64(status) {
		t.Errorf("status %v in the document of a %d", document["status"], status)
	}
	return document
}

// wantIdentical fails the test unless nothing but the date tells the answers
// apart.
func wantIdentical(t *testing.T, want, got answer) {
	t.Helper()
	for _, a := range []answer{want, got} {
		a.header.Del("Date")
	}
	if got.status != want.status {
		t.Errorf("status %d, want %d", got.status, want.status)
	}
	if diff := cmp.Diff(string(want.body), string(got.body)); diff != "" {
		t.Errorf("body (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want.header, got.header); diff != "" {
		t.Errorf("header (-want +got):\n%s", diff)
	}
}
