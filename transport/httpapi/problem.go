package httpapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strconv"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/webhook"
)

// defaultRetryAfter is for an Unavailable that does not say when to come back.
const defaultRetryAfter = 2 * time.Second

// challenges are one line each: there are clients that read no list. Refresh is no
// scheme that a client could know by itself.
var challenges = []string{`Basic realm="hooklog", charset="UTF-8"`, `Bearer realm="hooklog"`}

// refusal is the failure of a call whose webhook is known: it has a trace id
// and a log line of its own.
type refusal struct {
	cause   error
	traceID string
	gate    webhook.Gate
	place   record.TraceContext
}

func (e *refusal) Error() string { return e.cause.Error() }
func (e *refusal) Unwrap() error { return e.cause }

// problem is what a problem document is made of.
type problem struct {
	*fault.Error
	instance string
	traceID  string
}

// fail logs what is worth it and writes the problem document. It is the one
// place where an error ends.
func (a *API) fail(w http.ResponseWriter, r *http.Request, instance string, err error) {
	p := problem{Error: fault.From(err), instance: instance}
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		p.traceID = refused.traceID
		a.logRefusal(r, refused, p.Error)
	case errors.Is(err, errSpent), r.Context().Err() != nil:
		// Nothing failed, or nobody waits any more: a line for each would only be
		// more to do.
	case p.Kind.Status() >= http.StatusInternalServerError:
		a.deps.Log.ErrorContext(r.Context(), "request failed", "route", instance, "reason", p.Kind.String(), "error", err)
	}
	writeProblem(w, p)
}

// logRefusal writes the contract's line. The cause stands beside it only where
// it is the service's own: what a caller did wrong is said by the reason.
func (a *API) logRefusal(r *http.Request, refused *refusal, f *fault.Error) {
	level := slog.LevelWarn
	attrs := []slog.Attr{
		slog.String("webhook_trace_id", refused.traceID),
		slog.String("trace_id", refused.place.Trace()),
		slog.String("span_id", refused.place.Span()),
		slog.String("event_key", refused.gate.EventKey),
		slog.String("last6", refused.gate.Last6),
	}
	if f.Kind.Status() >= http.StatusInternalServerError {
		level = slog.LevelError
		attrs = append(attrs, slog.Any("error", refused.cause))
	}
	a.deps.Log.LogAttrs(r.Context(), level, "Webhook ["+refused.traceID+"]: ERROR "+f.Kind.String(), attrs...)
}

// unavailable keeps a fault that says itself that it is temporary, and makes any
// other error one.
func unavailable(err error, detail string) error {
	if fault.Is(err, fault.Unavailable) {
		return err
	}
	return fault.New(fault.Unavailable, "%s", detail).Because(err)
}

// writeProblem refuses. Who is still sending gets a moment to end.
func writeProblem(w http.ResponseWriter, p problem) {
	setReadDeadline(w, time.Now().Add(lingering))
	h := w.Header()
	switch {
	case p.RetryAfter > 0:
		setRetryAfter(h, p.RetryAfter)
	case p.Kind == fault.Unavailable:
		setRetryAfter(h, defaultRetryAfter)
	case p.Kind == fault.Unauthenticated:
		h["Www-Authenticate"] = challenges
	}
	document := struct {
		Type     string `json:"type"`
		Title    string `json:"title"`
		Status   int    `json:"status"`
		Detail   string `json:"detail"`
		Instance string `json:"instance"`
		TraceID  string `json:"traceId,omitempty"`
	}{fault.ProblemType(p.Kind), p.Kind.Title(), p.Kind.Status(), p.Detail, p.instance, p.traceID}
	body, err := encodeJSON(document)
	if err != nil {
		panic(err) // strings and a number can always be encoded
	}
	write(w, p.Kind.Status(), "application/problem+json", body)
}

// setRetryAfter rounds up: who comes at that second is not early.
func setRetryAfter(h http.Header, d time.Duration) {
	h.Set("Retry-After", strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10))
}

func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

func write(w http.ResponseWriter, status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller may be gone
}
