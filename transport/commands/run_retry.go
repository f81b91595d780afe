package commands

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"hooklog/domain/call"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/registry"
	"hooklog/transport/telemetry"
)

// retryRuns has the failed pipelines of a call run once more. The fold of the
// commands decides whether the caller may; that of the calls, which knows the
// attempts, whether the next one is open then.
func (d *Dispatcher) retryRuns(ctx context.Context, req Request) (any, error) {
	id, name := *catalog.Arg[string](req.Args, "correlationId"), catalog.Arg[string](req.Args, "pipeline")
	if parsed, err := uuid.Parse(id); err != nil || parsed.String() != id {
		return nil, fault.New(fault.Invalid, "correlationId must be a UUID in lower case.")
	}
	history, err := d.history(ctx, id, true)
	if err != nil {
		return nil, err
	}
	pipelines := toRetry(history, name)
	if len(pipelines) == 0 { // an unknown call, and no pipeline to decide about
		if err := d.Registry.Policy().Allow(req.Caller.subject(), req.Command.Name, ""); err != nil {
			return nil, err
		}
		return nil, errNoRuns()
	}
	c := change{
		id: commandID(req),
		request: struct {
			CorrelationID string  `json:"correlationId"`
			Pipeline      *string `json:"pipeline"`
		}{id, name},
		params: registry.RetryParams{CorrelationID: id, Pipelines: pipelines},
	}
	if _, err := d.decide(ctx, req, c); err != nil {
		return nil, err
	}
	if err := d.reopen(ctx, req, c.id, history, pipelines); err != nil {
		return nil, err
	}
	if history, _, err = d.Runs.Run(id); err != nil {
		return nil, err
	}
	return d.showCall(req, history, call.RunFilter{Readable: d.readable(req)})
}

// toRetry are the names of the pipelines that a retry is about: the given one, or
// those that failed. Where none did, it is about all of them, in vain.
func toRetry(history call.History, name *string) []string {
	if name != nil {
		return []string{*name}
	}
	var failed, all []string
	for _, listener := range history.Listeners {
		all = append(all, call.PipelineName(listener))
		if history.Run(listener).Status == call.Failed {
			failed = append(failed, call.PipelineName(listener))
		}
	}
	if len(failed) == 0 {
		return all
	}
	return failed
}

// reopen appends a retry for each of the pipelines that failed, and returns when
// this instance has folded them. A repeated command opens no attempt twice.
func (d *Dispatcher) reopen(ctx context.Context, req Request, commandID string, history call.History, pipelines []string) error {
	var last *record.Position
	listed, retried := false, false
	for _, listener := range history.Listeners {
		if !slices.Contains(pipelines, call.PipelineName(listener)) {
			continue
		}
		listed = true
		run := history.Run(listener)
		switch {
		case history.RetriedBy(commandID, listener):
			retried = true
		case run.Status == call.Failed:
			// A repeated command has the first outcome, which may be of other pipelines:
			// more of them may have failed since.
			if err := d.Registry.Policy().Allow(req.Caller.subject(), req.Command.Name, call.PipelineName(listener)); err != nil {
				return err
			}
			at, err := d.retry(ctx, req, commandID, history, run)
			if err != nil {
				return undecided(commandID, err)
			}
			last, retried = &at, true
		}
	}
	switch {
	case !listed:
		return errNoRuns()
	case !retried:
		return fault.New(fault.Conflict, "Only a run that failed can be retried.")
	case last == nil:
		return nil
	}
	if err := d.Runs.Wait(ctx, *last); err != nil {
		return undecided(commandID, err)
	}
	return nil
}

// retry asks for the attempt behind the run. It is a part of the call's life, so
// it is sent in the call's trace, not in the command's.
func (d *Dispatcher) retry(ctx context.Context, req Request, commandID string, history call.History, run call.Run) (record.Position, error) {
	rec, err := call.Retried{
		CorrelationID: run.Call.CorrelationID,
		Listener:      run.Listener,
		Attempt:       run.Attempt + 1,
		By:            req.Caller.Principal,
		CommandID:     commandID,
		Time:          d.Now().UTC().Truncate(time.Millisecond),
	}.Encode(history.Partition)
	if err != nil {
		return record.Position{}, err
	}
	place := d.Tracer.At(record.ParseTraceContext(history.Traceparent),
		telemetry.Call{TraceID: history.TraceID, Last6: history.Last6, EventKey: history.EventKey})
	sending := place.Send(rec.Topic)
	sending.Mark(&rec)
	at, err := d.Journal.AppendWait(ctx, &rec)
	sending.Sent(at, err)
	return at, err
}

func errNoRuns() error {
	return fault.New(fault.NotFound, "There is no such run: no call has this correlation id, or the pipeline does not listen to it.")
}
