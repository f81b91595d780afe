package forward

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"time"

	"hooklog/domain/record"
)

// headerCorrelationID is the header that callers get it in, too.
const headerCorrelationID = "svc-result-correlationid"

// others are headers of the call that belong to its connection.
var others = []string{"host", "content-length", "content-type", "expect"}

// Target is the program that gets the calls.
type Target struct {
	url  *url.URL
	http *http.Client
}

// NewTarget checks the URL; it does not connect. It does not repeat what is
// wrong, because it may hold a password.
func NewTarget(address string) (*Target, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("write where to forward calls as a URL, such as http://127.0.0.1:3000/path")
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy = nil
	return &Target{u, &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// String is where it is, without a password.
func (t *Target) String() string { return t.url.Redacted() }

// Answer is what the program answered.
type Answer struct {
	Status int
	Took   time.Duration
}

// Send sends a call, and waits for the answer for as long as ctx lives: somebody
// may look at it in a debugger.
func (t *Target) Send(ctx context.Context, m Message) (Answer, error) {
	req, err := t.request(ctx, m)
	if err != nil {
		return Answer{}, err
	}
	begun := time.Now()
	resp, err := t.http.Do(req)
	if err != nil {
		var about *url.Error
		if errors.As(err, &about) { // without the URL
			err = about.Err
		}
		return Answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<20)) // so that the connection can be used again
	return Answer{resp.StatusCode, time.Since(begun)}, nil
}

func (t *Target) request(ctx context.Context, m Message) (*http.Request, error) {
	body, contentType, err := m.Body()
	if err != nil {
		return nil, err
	}
	to := *t.url
	if len(m.Query) > 0 {
		query := to.Query()
		for name, values := range m.Query {
			query[name] = append(query[name], values...)
		}
		to.RawQuery = query.Encode()
	}
	req, err := http.NewRequestWithContext(ctx, m.Method, to.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range m.Headers {
		if !slices.Contains(others, name) {
			req.Header.Set(name, value)
		}
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	req.Header.Set(record.HeaderTraceID, m.TraceID)
	req.Header.Set(headerCorrelationID, m.CorrelationID)
	return req, nil
}
