package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"hooklog/domain/fault"
)

// maxProblem bounds what is read of a refusal.
const maxProblem = 64 << 10

// Refusal is what the service answered in place of doing it.
type Refusal struct {
	Kind   fault.Kind
	Title  string
	Detail string
	// Hint says what to do about it; empty where the service does not.
	Hint string
	// TraceID is there when a call of a webhook was refused.
	TraceID string
	// RetryAfter is when to come back; 0 where the service does not say.
	RetryAfter time.Duration
}

func (e *Refusal) Error() string {
	if e.Detail == "" {
		return e.Title
	}
	return e.Detail
}

func isUnauthenticated(err error) bool {
	var refusal *Refusal
	return errors.As(err, &refusal) && refusal.Kind == fault.Unauthenticated
}

// Unreachable is returned when the service gave no answer, or broke it off.
type Unreachable struct {
	URL string
	// Sent reports that the service may have got the request: whether it did what
	// was asked is not known.
	Sent bool
	// Untrusted reports that somebody is there whose certificate is not trusted.
	Untrusted bool
	cause     error
}

func (e *Unreachable) Error() string { return "no answer from " + e.URL + ": " + e.cause.Error() }

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Unreachable) Unwrap() error { return e.cause }

// unreachable keeps of a failure what tells why. The URL that net/http repeats
// may hold a correlation id. Who was told to stop hears that alone.
func unreachable(base string, err error) error {
	if errors.Is(err, context.Canceled) {
		return context.Canceled
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errors.New("the connection broke off")
	}
	var network *net.OpError
	dialled := !errors.As(err, &network) || network.Op != "dial"
	untrusted := errors.As(err, new(*tls.CertificateVerificationError))
	return &Unreachable{URL: base, Sent: dialled && !untrusted, Untrusted: untrusted, cause: err}
}

// readRefusal reads a problem document. Anything else, such as a proxy's page,
// is told by its status alone.
func readRefusal(resp *http.Response) error {
	kind := kindOf(resp.StatusCode)
	refusal := &Refusal{Kind: kind, Title: kind.Title(), RetryAfter: retryAfter(resp.Header)}
	if media, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); media != "application/problem+json" {
		refusal.Detail = "The answer was " + resp.Status + "."
		return refusal
	}
	var problem struct {
		Title, Detail, Hint, TraceID string
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	if err != nil || json.Unmarshal(body, &problem) != nil {
		return refusal
	}
	refusal.Title, refusal.Detail = problem.Title, problem.Detail
	refusal.Hint, refusal.TraceID = problem.Hint, problem.TraceID
	return refusal
}

// kindOf reads the table of kinds from its other side.
func kindOf(status int) fault.Kind {
	for kind := fault.Internal; kind <= fault.Unavailable; kind++ {
		if kind.Status() == status {
			return kind
		}
	}
	switch {
	case status < http.StatusInternalServerError:
		return fault.Invalid
	case status == http.StatusBadGateway || status == http.StatusGatewayTimeout:
		return fault.Unavailable
	}
	return fault.Internal
}

func retryAfter(h http.Header) time.Duration {
	seconds, err := strconv.Atoi(h.Get("Retry-After"))
	if err != nil || seconds < 0 {
		return 0
	}
	return time.Duration(seconds) * time.Second
}
