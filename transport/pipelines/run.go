package pipelines

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/transport/telemetry"
)

// Run is one run of a program.
type Run struct {
	// Headers, Vars and Body are what the pipeline begins with: values of a run, as
	// Decode gives them, which are only read.
	Headers map[string]string
	Vars    map[string]any
	Body    any
	// User is whom the run begins as.
	User string
	// Timeout ends the run; it must be set.
	Timeout time.Duration
	// Log takes what the steps log.
	Log *slog.Logger
	// Span is the run's, which the steps are below.
	Span telemetry.Span
}

// Steps carries out what the language itself does not know.
type Steps interface {
	// Allow is asked before every step that is not left out, those of the language
	// too, whether the user may run the command. A fault says no.
	Allow(ctx context.Context, user, command string) error
	// Do carries out a command of the catalog and gives its result, a value of a run
	// or what becomes one as JSON. For iam.run.as it only says whether that is
	// allowed. The detail of a fault is written to the record of the step; the text
	// of any other error is not. It must return when ctx is done.
	Do(ctx context.Context, call StepCall) (any, error)
}

// StepCall is one step to carry out. Nothing in it may be changed.
type StepCall struct {
	// Path is where the step stands in the pipeline: its id, or its number.
	Path string
	// Try counts from 1. It stays when a try ended with the fault Unavailable, of
	// which it is not known whether it was carried out: the same command again,
	// under the same id, is not carried out twice.
	Try     int
	Command string
	// Params are checked and have the types that the catalog says.
	Params map[string]any
	Body   any
	// User is whom the step runs as.
	User string
	// Span is the step's: what it sends is below it.
	Span telemetry.Span
}

// Outcome is what a run came to. A run that failed has the steps up to there.
type Outcome struct {
	// Value is the final body as JSON.
	Value []byte
	// Steps are what was done; the ids of commands are for whoever issued them.
	Steps []call.Step
	// User is whom the run ended as.
	User string
}

// Run carries out the program. The error is a fault whose detail names the step
// and may be shown, or the cause for which ctx ended: then the run neither failed
// nor succeeded.
func (p *Program) Run(ctx context.Context, in Run, steps Steps) (out Outcome, err error) {
	late := fault.New(fault.Invalid, "the run takes longer than %v", in.Timeout)
	ctx, cancel := context.WithTimeoutCause(ctx, in.Timeout, late)
	defer cancel()
	r := newRun(in, steps)
	err = r.caught(ctx, func() error {
		out.Value, err = r.all(ctx, p)
		return err
	})
	out.Steps, out.User = r.records, r.user
	if cause := context.Cause(ctx); err != nil && cause != nil && !errors.Is(cause, late) {
		return out, fmt.Errorf("run of a pipeline: %w", cause)
	}
	return out, err
}

// run is the state of a run.
type run struct {
	Run
	scope
	steps   Steps
	user    string
	sizes   map[string]int // of the parts of the state
	size    int            // of all of them
	records []call.Step
}

func newRun(in Run, steps Steps) *run {
	return &run{
		Run:   in,
		scope: scope{headers: map[string]string{}, vars: map[string]any{}},
		steps: steps, user: in.User, sizes: map[string]int{},
	}
}

// all is the run from the beginning to the result.
func (r *run) all(ctx context.Context, p *Program) ([]byte, error) {
	if err := r.begin(ctx, p); err != nil {
		return nil, err
	}
	for i := range p.steps {
		if err := r.step(ctx, &p.steps[i]); err != nil {
			return nil, err
		}
	}
	return r.finish(ctx, p)
}

// caught makes an error of a panic.
func (r *run) caught(ctx context.Context, do func() error) (err error) {
	defer func() {
		if panicked := recover(); panicked != nil {
			// Its text may hold a value; its type and where it happened are enough.
			r.Log.ErrorContext(ctx, "pipeline panicked", "panic", fmt.Sprintf("%T", panicked), "stack", string(debug.Stack()))
			err = fault.New(fault.Internal, "the pipeline broke the interpreter")
		}
	}()
	return do()
}

// begin takes in what the run brings, and what the source says over it.
func (r *run) begin(ctx context.Context, p *Program) error {
	if err := r.bring(); err != nil {
		return named(err, "What the run brings")
	}
	for _, h := range p.headers {
		v, err := r.eval(ctx, h.value)
		if err == nil {
			err = r.setHeader(h.name, v)
		}
		if err != nil {
			return named(err, "The header %s at %s", shown(h.name), h.at)
		}
	}
	for _, e := range p.vars {
		v, err := r.eval(ctx, e.value)
		if err == nil {
			err = r.setVar(e.name, v)
		}
		if err != nil {
			return named(err, "The variable %s at %s", e.name, e.at)
		}
	}
	return nil
}

func (r *run) bring() error {
	for name, value := range r.Headers {
		if err := r.setHeader(name, value); err != nil {
			return err
		}
	}
	for name, v := range r.Vars {
		if err := r.setVar(name, v); err != nil {
			return err
		}
	}
	return r.setBody(r.Body)
}

// finish gives the result.
func (r *run) finish(ctx context.Context, p *Program) ([]byte, error) {
	value := r.body
	if p.body != nil {
		v, err := r.eval(ctx, p.body)
		if err != nil {
			return nil, named(err, "The body at the end")
		}
		value = v
	}
	if _, err := measure(value, MaxValue); err != nil {
		return nil, wrong("The final body %v.", err)
	}
	data, err := Encode(value)
	if err != nil || len(data) > MaxValue {
		return nil, wrong("The final body %v.", errTooLarge)
	}
	return data, nil
}

// eval evaluates one value of the source.
func (r *run) eval(ctx context.Context, t template) (any, error) {
	return t.eval(ctx, r.scope, &meter{left: MaxState})
}

func (r *run) setHeader(name string, v any) error {
	value, ok := v.(string)
	if !ok {
		return wrong("the value is no text")
	}
	if err := r.fit("headers "+name, v); err != nil {
		return err
	}
	r.headers[name] = value
	return nil
}

func (r *run) setVar(name string, v any) error {
	if err := r.fit("vars "+name, v); err != nil {
		return err
	}
	r.vars[name] = v
	return nil
}

func (r *run) setBody(v any) error {
	if err := r.fit("body", v); err != nil {
		return err
	}
	r.body = v
	return nil
}

// fit counts a new value of a part of the state, unless it makes the whole too
// large.
func (r *run) fit(part string, v any) error {
	size, err := measure(v, MaxState)
	if err != nil {
		return wrong("the value %v", err)
	}
	whole := r.size - r.sizes[part] + size
	if whole > MaxState {
		return wrong("headers, vars and body together would have more than %d bytes", MaxState)
	}
	r.sizes[part], r.size = size, whole
	return nil
}

// named puts what failed in front of why, and keeps the kind and the cause.
func named(err error, format string, args ...any) error {
	f := fault.From(err)
	return fault.New(f.Kind, "%s: %s", fmt.Sprintf(format, args...), f.Detail).Because(err)
}
