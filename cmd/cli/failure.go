package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"hooklog/cmd/cli/output"
	"hooklog/domain/fault"
	"hooklog/transport/client"
)

// errUsage marks an error that the caller mends on the command line.
type errUsage struct{ error }

func (e errUsage) Unwrap() error { return e.error }

// report turns what a verb ended with into words and an exit code. What fails
// before a verb begins is wrong usage: an unknown flag, a missing argument.
func report(err error, begun bool) (words string, code int) {
	var refusal *client.Refusal
	var unreachable *client.Unreachable
	switch {
	case errors.Is(err, context.Canceled):
		return "stopped before the end", exitFailed
	case !begun, errors.As(err, new(errUsage)), errors.As(err, new(errElsewhere)):
		return err.Error(), exitUsage
	case errors.As(err, &refusal):
		return refused(refusal), exitFailed
	case errors.As(err, &unreachable) && unreachable.Untrusted:
		return err.Error() + ". If its authority is a private one, name the file of its certificates: --ca", exitUnreachable
	case errors.As(err, &unreachable):
		return err.Error() + ". Is the service running? hooklog context show tells where it is looked for", exitUnreachable
	case errors.As(err, new(errUnreachable)):
		return err.Error(), exitUnreachable
	case errors.As(err, new(errUntold)):
		return err.Error(), exitUntold
	}
	return err.Error(), exitFailed
}

// oneLine is for a detail that lists what is wrong.
var oneLine = strings.NewReplacer(":\n", ": ", "\n", "; ")

// refused is a problem of the service on one line, with what to do about it.
func refused(r *client.Refusal) string {
	words := r.Title
	if r.Detail != "" {
		words += ": " + oneLine.Replace(r.Detail)
	}
	if r.TraceID != "" {
		words += " Its trace is " + r.TraceID + "."
	}
	if hint := hint(r); hint != "" {
		words += " " + hint
	}
	return output.Visible(words)
}

func hint(r *client.Refusal) string {
	switch {
	case r.Hint != "":
		return r.Hint
	case r.RetryAfter > 0:
		return fmt.Sprintf("Try again in %d s.", r.RetryAfter/time.Second)
	case r.Kind == fault.Unauthenticated:
		return "Log in with hooklog login, or set HOOKLOG_USER and HOOKLOG_PASSWORD."
	case r.Kind == fault.Forbidden:
		return "Who may do what is said by rules: hooklog policy --help."
	}
	return ""
}
