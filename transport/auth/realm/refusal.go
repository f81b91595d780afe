package realm

import (
	"errors"
	"net/http"
	"strconv"
	"time"

	"hooklog/domain/fault"
)

// The error codes of RFC 6749, section 5.2; the last two are of its section
// 4.1.2.1, for what is nobody's fault.
const (
	invalidRequest       = "invalid_request"
	invalidClient        = "invalid_client"
	invalidGrant         = "invalid_grant"
	unsupportedGrantType = "unsupported_grant_type"
	invalidScope         = "invalid_scope"
	temporarily          = "temporarily_unavailable"
	serverError          = "server_error"
)

// refusal is an error answer of OAuth 2.0.
type refusal struct {
	status      int
	code        string
	description string
	retryAfter  time.Duration
	cause       error
}

func (e *refusal) Error() string { return e.code + ": " + e.description }
func (e *refusal) Unwrap() error { return e.cause }

func badRequest(description string) error {
	return &refusal{status: http.StatusBadRequest, code: invalidRequest, description: description}
}

func badScope(description string) error {
	return &refusal{status: http.StatusBadRequest, code: invalidScope, description: description}
}

// wrongClient is a failed log-in like any other, which the guard counts.
func wrongClient() error {
	return &refusal{
		status: http.StatusUnauthorized, code: invalidClient, description: "The client or its secret is wrong.",
		cause: fault.New(fault.Unauthenticated, "The client or its secret is wrong."),
	}
}

// refusalOf puts any error in the terms of OAuth.
func refusalOf(err error) *refusal {
	var e *refusal
	if errors.As(err, &e) {
		return e
	}
	f := fault.From(err)
	e = &refusal{status: f.Kind.Status(), code: serverError, description: f.Detail, retryAfter: f.RetryAfter}
	switch f.Kind {
	case fault.Unauthenticated:
		e.status, e.code = http.StatusBadRequest, invalidGrant
	case fault.TooMany, fault.Unavailable:
		e.code, e.retryAfter = temporarily, max(e.retryAfter, time.Second)
	}
	return e
}

// fail logs what is worth it and writes the error. It is the one place where an
// error ends.
func (rl *Realm) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := refusalOf(err)
	if e.status >= http.StatusInternalServerError {
		rl.Log.ErrorContext(r.Context(), "Token request failed", "reason", e.code, "error", err)
	}
	h := w.Header()
	if e.retryAfter > 0 {
		// Rounded up: who comes at that second is not early.
		h.Set("Retry-After", strconv.FormatInt(int64((e.retryAfter+time.Second-1)/time.Second), 10))
	}
	if e.code == invalidClient {
		h.Set("WWW-Authenticate", `Basic realm="`+rl.cfg.Namespace+`", charset="UTF-8"`)
	}
	err = writeJSON(w, e.status, struct {
		Code        string `json:"error"`
		Description string `json:"error_description"`
	}{e.code, e.description})
	if err != nil {
		panic(err) // strings can always be encoded
	}
}
