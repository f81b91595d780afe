package fault_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/fault"
)

// Names and statuses are read by clients and stored in outcomes: they stay.
func TestEveryKindHasItsStatusAndItsNameForEver(t *testing.T) {
	tests := []struct {
		kind   fault.Kind
		status int
		name   string
	}{
		{fault.Internal, 500, "internal"},
		{fault.Invalid, 400, "invalid"},
		{fault.Unauthenticated, 401, "unauthenticated"},
		{fault.Forbidden, 403, "forbidden"},
		{fault.NotFound, 404, "not-found"},
		{fault.MethodNotAllowed, 405, "method-not-allowed"},
		{fault.Conflict, 409, "conflict"},
		{fault.Gone, 410, "gone"},
		{fault.TooLarge, 413, "too-large"},
		{fault.Unsupported, 415, "unsupported"},
		{fault.TooMany, 429, "too-many"},
		{fault.Unavailable, 503, "unavailable"},
	}
	for _, tt := range tests {
		t.Run(tt.name+" is answered with its status", func(t *testing.T) {
			if got := tt.kind.Status(); got != tt.status {
				t.Errorf("status = %d, want %d", got, tt.status)
			}
			if got := tt.kind.String(); got != tt.name {
				t.Errorf("name = %q, want %q", got, tt.name)
			}
			if got := fault.ParseKind(tt.name); got != tt.kind {
				t.Errorf("the name reads back as %v", got)
			}
			if tt.kind.Title() == "" {
				t.Error("the kind has no title for people")
			}
			if got, want := fault.ProblemType(tt.kind), "urn:hooklog:problem:"+tt.name; got != want {
				t.Errorf("problem type = %q, want %q", got, want)
			}
		})
	}
}

func TestWhatNobodyClassifiedIsInternal(t *testing.T) {
	var zero fault.Kind
	if zero != fault.Internal {
		t.Errorf("the zero kind is %v", zero)
	}
	if got := fault.ParseKind("from-the-future"); got != fault.Internal {
		t.Errorf("an unknown name reads as %v", got)
	}
}

func TestFrom(t *testing.T) {
	conflict := fault.New(fault.Conflict, "The key %s is taken.", "webhook.a")
	tests := []struct {
		name   string
		given  error
		kind   fault.Kind
		detail string
	}{
		{"a fault is itself", conflict, fault.Conflict, "The key webhook.a is taken."},
		{"a wrapped fault is found", fmt.Errorf("put: %w", conflict), fault.Conflict, "The key webhook.a is taken."},
		{"of joined faults the first speaks", errors.Join(conflict, fault.New(fault.Gone, "Later.")), fault.Conflict, "The key webhook.a is taken."},
		{"any other error is internal", errors.New("broker-7 is down"), fault.Internal, "The service failed to handle the request."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := fault.From(tt.given)
			if diff := cmp.Diff([]any{tt.kind, tt.detail}, []any{got.Kind, got.Detail}); diff != "" {
				t.Errorf("kind and detail differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheCauseIsForTheLogAlone(t *testing.T) {
	for name, f := range map[string]*fault.Error{
		"when it was given": fault.New(fault.Unavailable, "Try again.").Because(fmt.Errorf("broker-7: %w", io.ErrUnexpectedEOF)),
		"when it was found": fault.From(fmt.Errorf("broker-7: %w", io.ErrUnexpectedEOF)),
	} {
		t.Run(name, func(t *testing.T) {
			if !strings.Contains(f.Error(), "broker-7") {
				t.Errorf("the log's text %q lacks the cause", f.Error())
			}
			if strings.Contains(f.Detail, "broker-7") {
				t.Errorf("the caller's detail %q shows the cause", f.Detail)
			}
			if !errors.Is(f, io.ErrUnexpectedEOF) {
				t.Error("errors.Is does not reach the cause")
			}
		})
	}
	if f := fault.New(fault.Gone, "Over."); f.Error() != "Over." {
		t.Errorf("without a cause the text is %q", f.Error())
	}
}

func TestIs(t *testing.T) {
	err := fmt.Errorf("wait: %w", fault.New(fault.TooMany, "Slow down.").After(5*time.Second))
	if !fault.Is(err, fault.TooMany) {
		t.Error("a wrapped fault is not recognised by its kind")
	}
	if fault.Is(err, fault.Gone) {
		t.Error("a fault is taken for one of another kind")
	}
	if fault.Is(errors.New("plain"), fault.Internal) {
		t.Error("an error that is no fault is taken for an internal one")
	}
	if got := fault.From(err).RetryAfter; got != 5*time.Second {
		t.Errorf("retry after = %v, want 5s", got)
	}
}
