package commands

import (
	"context"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/catalog"
)

// TraceRun is one attempt of a pipeline at a call. It shows when what happened and
// quotes no payload: error texts are for those who may run run.get.
type TraceRun struct {
	Pipeline string      `json:"pipeline"`
	Version  int         `json:"version"`
	Attempt  int         `json:"attempt"`
	Status   call.Status `json:"status"`
	Started  time.Time   `json:"started,omitzero"`
	Finished time.Time   `json:"finished,omitzero"`
	// Error is one of the constants below, or empty.
	Error string      `json:"error,omitempty"`
	Steps []TraceStep `json:"steps,omitempty"`
}

// How a run can fail: in a step, or before, between or behind its steps.
const (
	stepFailed = "step-failed"
	runFailed  = "run-failed"
)

// TraceStep is one step of a run.
type TraceStep struct {
	Path     string    `json:"path"`
	Command  string    `json:"command"`
	Started  time.Time `json:"started"`
	Finished time.Time `json:"finished"`
	Attempt  int       `json:"attempt"`
	Failed   bool      `json:"failed"`
}

func (d *Dispatcher) showTrace(ctx context.Context, req Request, f call.Found) (Trace, error) {
	t := Trace{
		TraceID: f.TraceID, CorrelationID: f.CorrelationID, EventKey: f.EventKey, Last6: f.Last6,
		Received: f.Received, Logged: f.Logged, Method: f.Method, Size: f.Size, Address: f.Address,
		Event: f.Event, Call: placeOf(f.Position), Runs: []TraceRun{},
	}
	history := call.History{Accepted: f.Accepted}
	if len(f.Listeners) > 0 {
		known, ok, err := d.Runs.Run(f.CorrelationID)
		if err != nil {
			return t, err
		}
		if ok {
			history = known
		}
	}
	status, completed := history.State().FinishedAt(d.Now(), d.cfg.ResultDeadline)
	if t.Status = status; status != call.Processing {
		t.Completed = later(completed, f.Logged) // nobody listens: complete when it is on the log
	}
	for _, listener := range history.Listeners {
		for _, run := range history.Runs(listener) {
			t.Runs = append(t.Runs, d.showTraceRun(run))
		}
	}
	if receipt := catalog.Arg[bool](req.Args, "receipt"); receipt == nil || !*receipt {
		return t, nil
	}
	var err error
	t.Receipt, err = d.Receipt(ctx, f.Position)
	return t, err
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// showTraceRun opens the names and times of the steps. Where they cannot be opened
// the rest is shown.
func (d *Dispatcher) showTraceRun(r call.Run) TraceRun {
	shown := TraceRun{
		Pipeline: call.PipelineName(r.Listener), Version: call.PipelineVersion(r.Listener),
		Attempt: r.Attempt, Status: r.Status, Started: r.Completed.Started, Finished: r.Completed.Finished,
	}
	if r.Status == call.Failed {
		shown.Error = runFailed
	}
	if r.Completed.Detail == "" {
		return shown
	}
	detail, err := d.detail(r.Completed)
	if err != nil {
		return shown
	}
	for _, s := range detail.Steps {
		step := TraceStep{s.Path, s.Command, s.Started, s.Finished, s.Attempt, s.Error != ""}
		if shown.Steps = append(shown.Steps, step); step.Failed && r.Status == call.Failed {
			shown.Error = stepFailed
		}
	}
	return shown
}
