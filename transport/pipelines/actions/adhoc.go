package actions

import (
	"context"
	"encoding/json"
	"time"

	"hooklog/domain/fault"
	"hooklog/transport/commands"
	"hooklog/transport/pipelines"
	"hooklog/transport/telemetry"
)

// Adhoc runs a pipeline as a caller, who was allowed to, and gives its final body.
func (a *Actions) Adhoc(ctx context.Context, run commands.PipelineRun) (any, error) {
	if !a.callers.TryAcquire(1) {
		return nil, fault.New(fault.Unavailable, "Too many pipelines run at the moment.").After(time.Second)
	}
	defer a.callers.Release(1)
	program, err := pipelines.Compile(run.Source, a)
	if err != nil {
		return nil, err
	}
	body, err := pipelines.Decode(run.Body)
	if err != nil {
		return nil, fault.New(fault.Invalid, "What the pipeline begins with must be JSON.")
	}
	steps := a.Steps(Origin{
		Call: run.CommandID, Pipeline: run.Name, Version: run.Version, Attempt: 1,
		Caller: run.Caller, Owner: run.Owner, OwnerRoles: run.OwnerRoles, Put: run.Put,
	})
	if trace, nested := ctx.Value(traceKey{}).(Trigger); nested {
		steps.trace = trace
	}
	span := run.Span.Run(telemetry.Run{Pipeline: run.Name, Version: run.Version, Attempt: 1})
	ended := a.Observe(run.Name)
	outcome, err := program.Run(ctx, pipelines.Run{
		Body: body, User: steps.caller(), Timeout: a.cfg.Timeout,
		Log: a.Log.With("pipeline", run.Name), Span: span,
	}, steps)
	span.End(err)
	ended(outcome.Steps, err)
	if err != nil {
		return nil, err
	}
	return json.RawMessage(outcome.Value), nil
}
