package pipelines_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/transport/pipelines"
)

// failing answers the first calls with the faults, and the next with "done".
func failing(faults ...error) func(context.Context, pipelines.StepCall) (any, error) {
	return func(context.Context, pipelines.StepCall) (any, error) {
		if len(faults) == 0 {
			return "done", nil
		}
		err := faults[0]
		faults = faults[1:]
		return nil, err
	}
}

func TestRetries(t *testing.T) {
	refused := fault.New(fault.Conflict, "taken")
	doubt := fault.New(fault.Unavailable, "no answer")
	tests := []struct {
		name    string
		onError string
		faults  []error
		tries   []int // as the service sees them
		took    time.Duration
		fails   string
	}{
		{"no retry", "throw", []error{refused}, []int{1}, 0, "Step 1 (webhook.put) at 2:5: taken"},
		{"the second try is the good one", "{retry: {times: 3, wait: 5}}", []error{refused}, []int{1, 2}, 5 * time.Second, ""},
		{"the last one is", "{retry: {times: 2, wait: 0.5}}", []error{refused, refused}, []int{1, 2, 3}, time.Second, ""},
		{"none is", "{retry: {times: 2, wait: 60}}", []error{refused, refused, refused}, []int{1, 2, 3}, 2 * time.Minute, "Step 1 (webhook.put) at 2:5: taken"},
		{"what may have been done is done again as the same", "{retry: {times: 3}}", []error{doubt, doubt, refused}, []int{1, 1, 1, 2}, 0, ""},
		{"no wait goes beyond the run", "{retry: {times: 10, wait: 60}}", []error{refused, refused, refused, refused, refused}, []int{1, 2, 3, 4}, 3 * time.Minute, "Step 1 (webhook.put) at 2:5: taken"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := &steps{do: failing(tt.faults...)}
				in := aRun(t, `null`)
				in.Timeout = 200 * time.Second
				began := time.Now()
				out, err := compile(t, "pipeline:\n  - webhook.put: {uuid: a}\n    onError: "+tt.onError).Run(t.Context(), in, s)
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				var tries []int
				for _, c := range s.calls {
					tries = append(tries, c.Try)
				}
				if diff := cmp.Diff(tt.tries, tries); diff != "" {
					t.Errorf("tries differ (-want +got):\n%s", diff)
				}
				record := call.Step{
					Path: "1", Command: "webhook.put", User: "anonymousUser", Started: began.UTC(), Finished: began.Add(tt.took).UTC(), Attempt: len(tt.tries),
				}
				if tt.fails == "" {
					if string(out.Value) != `"done"` || err != nil {
						t.Errorf("%s, %v", out.Value, err)
					}
				} else {
					record.Error = "taken"
					if got := fault.From(err); got.Detail != tt.fails || got.Kind != fault.Conflict {
						t.Errorf("%v %q", got.Kind, got.Detail)
					}
				}
				if diff := cmp.Diff([]call.Step{record}, out.Steps); diff != "" {
					t.Errorf("records differ (-want +got):\n%s", diff)
				}
			})
		})
	}
}

func TestWhatWasCarriedOutIsNotTriedAgain(t *testing.T) {
	s := &steps{do: func(context.Context, pipelines.StepCall) (any, error) { return strings.Repeat("a", 9<<20), nil }}
	_, err := compile(t, "pipeline:\n  - webhook.put:\n    onError: {retry: {times: 3}}").Run(t.Context(), aRun(t, `null`), s)
	if got := fault.From(err).Detail; got != "Step 1 (webhook.put) at 2:5: the result is too large" || len(s.calls) != 1 {
		t.Errorf("%d calls, %q", len(s.calls), got)
	}
}

func TestAnIgnoredErrorLeavesEverythingAsItWas(t *testing.T) {
	s := &steps{do: failing(fault.New(fault.NotFound, "not there"))}
	source := "pipeline:\n" +
		"  - webhook.put: {uuid: a}\n    onError: ignore\n" +
		"  - set: {value: '${body.missing}'}\n    onError: ignore\n" +
		"  - log: {message: a}\n    if: ${body == 7}\n" +
		"  - webhook.put: {uuid: b}\n    output: b\n    id: late\n" +
		"body: ['${body}', '${vars.b}']"
	out, err := compile(t, source).Run(t.Context(), aRun(t, `{"a":1}`), s)
	if string(out.Value) != `[{"a":1},"done"]` || err != nil {
		t.Errorf("%s, %v", out.Value, err)
	}
	want := []call.Step{
		{Path: "1", Command: "webhook.put", User: "anonymousUser", Attempt: 1, Error: "not there"},
		{Path: "2", Command: "set", User: "anonymousUser", Attempt: 1, Error: "4:21: the expression fails: there is no missing"},
		{Path: "3", Command: "log", User: "anonymousUser"},
		{Path: "late", Command: "webhook.put", User: "anonymousUser", Attempt: 1},
	}
	if diff := cmp.Diff(want, out.Steps, cmpopts.IgnoreFields(call.Step{}, "Started", "Finished")); diff != "" {
		t.Errorf("records differ (-want +got):\n%s", diff)
	}
}

func TestAPanicIsTheFaultOfTheStep(t *testing.T) {
	s := &steps{do: func(_ context.Context, c pipelines.StepCall) (any, error) {
		if c.Try == 1 {
			panic("hunter2")
		}
		return "done", nil
	}}
	out, err := compile(t, "pipeline: [webhook.put]").Run(t.Context(), aRun(t, `null`), s)
	if got := fault.From(err); got.Kind != fault.Internal || got.Detail != "Step 1 (webhook.put) at 1:12: the pipeline broke the interpreter" || len(out.Steps) != 1 {
		t.Errorf("%v %q, %v", got.Kind, got.Detail, out.Steps)
	}
	out, err = compile(t, "pipeline:\n  - webhook.put\n  - webhook.put:\n    onError: {retry: {times: 1}}").Run(t.Context(), aRun(t, `null`), &steps{do: func(_ context.Context, c pipelines.StepCall) (any, error) {
		if c.Path == "2" && c.Try == 1 {
			panic(7)
		}
		return "done", nil
	}})
	if err != nil || out.Steps[1].Attempt != 2 {
		t.Errorf("a panic was not tried again: %v, %v", err, out.Steps)
	}
}

func TestWhoRunsAStep(t *testing.T) {
	s := &steps{do: func(_ context.Context, c pipelines.StepCall) (any, error) {
		if c.Command == "iam.run.as" && c.Params["user"] == "root" {
			return nil, fault.New(fault.Forbidden, "Its owner may not run as root.")
		}
		return nil, nil
	}}
	source := "pipeline:\n" +
		"  - event.listen: {eventKey: a}\n" +
		"  - webhook.put\n" +
		"  - iam.run.as: {user: stock}\n" +
		"  - webhook.put\n" +
		"  - iam.run.as: {user: root}\n    onError: ignore\n" +
		"  - iam.run.as: {user: other}\n    if: ${false}\n" +
		"  - log: {message: a}\n"
	out, err := compile(t, source).Run(t.Context(), aRun(t, `{"a":1}`), s)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"anonymousUser event.listen", "anonymousUser webhook.put", "anonymousUser iam.run.as",
		"stock webhook.put", "stock iam.run.as", "stock log",
	}
	if diff := cmp.Diff(want, s.asked); diff != "" {
		t.Errorf("questions differ (-want +got):\n%s", diff)
	}
	var calls []string
	for _, c := range s.calls {
		calls = append(calls, fmt.Sprintf("%s %s %v", c.User, c.Command, c.Params))
	}
	want = []string{
		"anonymousUser webhook.put map[]", "anonymousUser iam.run.as map[user:stock]",
		"stock webhook.put map[]", "stock iam.run.as map[user:root]",
	}
	if diff := cmp.Diff(want, calls); diff != "" {
		t.Errorf("calls differ (-want +got):\n%s", diff)
	}
	if out.User != "stock" || out.Steps[3].User != "stock" || out.Steps[2].User != "anonymousUser" {
		t.Errorf("ended as %s: %v", out.User, out.Steps)
	}
}

func TestARunThatTakesTooLong(t *testing.T) {
	hang := &steps{do: func(ctx context.Context, _ pipelines.StepCall) (any, error) {
		<-ctx.Done()
		return nil, fmt.Errorf("gave up: %w", ctx.Err())
	}}
	tests := []struct {
		name   string
		source string
		took   time.Duration
		want   string
	}{
		{"a command that hangs", "pipeline: [webhook.put]", 10 * time.Second, "Step 1 (webhook.put) at 1:12: the run takes longer than 10s"},
		{"and is ignored", "pipeline:\n  - webhook.put:\n    onError: ignore\n  - log: {message: a}", 10 * time.Second, "Step 1 (webhook.put) at 2:5: the run takes longer than 10s"},
		{"and is tried again", "pipeline:\n  - webhook.put:\n    onError: {retry: {times: 3}}", 10 * time.Second, "Step 1 (webhook.put) at 2:5: the run takes longer than 10s"},
		{"a wait that is longer than the run", "pipeline: [wait: {seconds: 1e300}]", 0, "Step 1 (wait) at 1:12: 8760h0m0s are longer than the run may still take"},
		{"waits that add up", "pipeline: [wait: {seconds: 9}, wait: {seconds: 2}]", 9 * time.Second, "Step 2 (wait) at 1:32: 2s are longer than the run may still take"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in := aRun(t, `null`)
				in.Timeout = 10 * time.Second
				began := time.Now()
				_, err := compile(t, tt.source).Run(t.Context(), in, hang)
				if got := fault.From(err); got.Detail != tt.want || time.Since(began) != tt.took {
					t.Errorf("after %v: %q", time.Since(began), got.Detail)
				}
			})
		})
	}
}

func TestARunThatIsGivenUpHasNeitherFailedNorSucceeded(t *testing.T) {
	drain := errors.New("the service stops")
	for name, source := range map[string]string{
		"while it waits":            "pipeline: [wait: {seconds: 5}]",
		"while an error is ignored": "pipeline:\n  - wait: {seconds: 5}\n    onError: ignore\n  - log: {message: a}",
		"while it pauses":           "pipeline:\n  - webhook.put:\n    onError: {retry: {times: 9, wait: 5}}",
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancelCause(t.Context())
				time.AfterFunc(time.Second, func() { cancel(drain) })
				s := &steps{do: failing(fault.New(fault.Conflict, "taken"), fault.New(fault.Conflict, "taken"))}
				began := time.Now()
				out, err := compile(t, source).Run(ctx, aRun(t, `null`), s)
				if !errors.Is(err, drain) || out.Value != nil || time.Since(began) != time.Second {
					t.Errorf("after %v: %s, %v", time.Since(began), out.Value, err)
				}
			})
		})
	}
}
