// Package fault is the one error type that crosses hooklog's rooms: a kind
// with its HTTP status, and a detail that is safe to show to a caller. Server
// and client read the same table. It never carries a secret or a broker name
// in its detail; a wrapped cause is for the log only.
package fault

import (
	"errors"
	"fmt"
	"time"
)

// Kind says what went wrong, independent of any transport.
type Kind uint8

// The kinds, in the order of their HTTP statuses. The zero Kind is Internal, so
// that an error nobody classified is never mistaken for the caller's fault.
const (
	Internal Kind = iota
	Invalid
	Unauthenticated
	Forbidden
	NotFound
	MethodNotAllowed
	Conflict
	Gone
	TooLarge
	Unsupported
	TooMany
	Unavailable
)

type row struct {
	status int
	name   string
	title  string
}

var table = [...]row{
	Internal:         {500, "internal", "Internal error"},
	Invalid:          {400, "invalid", "Bad request"},
	Unauthenticated:  {401, "unauthenticated", "Authentication required"},
	Forbidden:        {403, "forbidden", "Not allowed"},
	NotFound:         {404, "not-found", "Not found"},
	MethodNotAllowed: {405, "method-not-allowed", "Method not allowed"},
	Conflict:         {409, "conflict", "Conflict"},
	Gone:             {410, "gone", "No longer available"},
	TooLarge:         {413, "too-large", "Payload too large"},
	Unsupported:      {415, "unsupported", "Unsupported content"},
	TooMany:          {429, "too-many", "Too many requests"},
	Unavailable:      {503, "unavailable", "Temporarily unavailable"},
}

// Kinds gives every kind.
func Kinds() []Kind {
	all := make([]Kind, len(table))
	for k := range table {
		all[k] = Kind(k)
	}
	return all
}

// Status is the kind's HTTP status.
func (k Kind) Status() int { return table[k].status }

// String is the kind's stable name on the wire and in log lines.
func (k Kind) String() string { return table[k].name }

// Title is the kind's short text for people.
func (k Kind) Title() string { return table[k].title }

// ProblemType is the URI that names the kind in a problem document.
func ProblemType(k Kind) string { return "urn:hooklog:problem:" + k.String() }

// ParseKind reads a stable name back; an unknown name is Internal.
func ParseKind(name string) Kind {
	for k := range table {
		if table[k].name == name {
			return Kind(k)
		}
	}
	return Internal
}

// Error is a fault with a detail that may be shown to the caller.
type Error struct {
	Kind   Kind
	Detail string
	// RetryAfter, when positive, tells the caller when to come back.
	RetryAfter time.Duration
	cause      error
}

// New makes a fault of the kind with a detail for the caller.
func New(kind Kind, format string, args ...any) *Error {
	return &Error{Kind: kind, Detail: fmt.Sprintf(format, args...)}
}

// Because keeps the cause for the log; the caller sees only the detail.
func (e *Error) Because(cause error) *Error {
	e.cause = cause
	return e
}

// After sets when the caller may come back.
func (e *Error) After(d time.Duration) *Error {
	e.RetryAfter = d
	return e
}

// Error is for logs and operators: it includes the cause.
func (e *Error) Error() string {
	if e.cause == nil {
		return e.Detail
	}
	return e.Detail + ": " + e.cause.Error()
}

// Unwrap gives the cause to errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.cause }

// From finds the fault in err; what is none is an Internal one that shows the
// caller nothing of the cause.
func From(err error) *Error {
	var f *Error
	if errors.As(err, &f) {
		return f
	}
	return New(Internal, "The service failed to handle the request.").Because(err)
}

// Is reports whether err is a fault of the kind.
func Is(err error, kind Kind) bool {
	var f *Error
	return errors.As(err, &f) && f.Kind == kind
}
