package runner

import (
	"context"
	"encoding/json"
	"slices"

	"hooklog/domain/access"
	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/pipelines"
	"hooklog/transport/telemetry"
)

// complete puts the end of a run on the log, however long that takes, and reports
// whether it is there. It is not when the partition is lost: then nothing is said
// of the run, which somebody else makes again.
func (l *lane) complete(ctx context.Context, t *task, e ended, span telemetry.Span) bool {
	if ctx.Err() != nil {
		return false
	}
	if e.err != nil {
		l.logFailure(ctx, t, e)
	}
	r, err := l.completed(t, e)
	if err != nil {
		l.Log.ErrorContext(ctx, "Result of a run was not sealed", "webhook_trace_id", t.call.TraceID, "error", err)
		r, err = l.failed(t, e)
	}
	for wait := retryPause; err == nil; wait = min(2*wait, maxRetryPause) {
		err = l.send(ctx, r, span)
		switch {
		case err == nil:
			return true
		case ctx.Err() != nil:
			return false
		case fault.Is(err, fault.TooLarge):
			r, err = l.failed(t, e)
		default:
			l.Log.WarnContext(ctx, "Log did not take the end of a run; it is tried again", "webhook_trace_id", t.call.TraceID, "error", err)
			err = pipelines.Pause(ctx, wait)
		}
	}
	return false
}

// send appends the completion below the run.
func (l *lane) send(ctx context.Context, r record.Record, span telemetry.Span) error {
	sending := span.Send(r.Topic)
	sending.Mark(&r)
	at, err := l.Journal.AppendWait(ctx, &r)
	sending.Sent(at, err)
	return err
}

// failed is the completion of a run whose result the log can never take.
func (l *lane) failed(t *task, e ended) (record.Record, error) {
	c := l.bare(t, e)
	c.Status = call.Failed
	return c.Encode(t.at.Partition)
}

// bare is the completion without what is sealed.
func (l *lane) bare(t *task, e ended) call.Completed {
	c := call.Completed{
		CorrelationID: t.call.CorrelationID, Listener: t.listener, Attempt: t.attempt,
		Status: call.OK, Principal: access.Anonymous, Effective: e.outcome.User, Owner: e.owner,
		Started: e.started, Finished: l.Now().UTC(),
	}
	if e.err != nil {
		c.Status = call.Failed
	}
	return c
}

func (l *lane) completed(t *task, e ended) (record.Record, error) {
	c := l.bare(t, e)
	detail, err := json.Marshal(detailOf(e))
	if err != nil {
		return record.Record{}, err
	}
	sealed, err := l.Ring.Seal(call.DetailField, c.ValueID(), detail)
	if err != nil {
		return record.Record{}, err
	}
	c.Detail = sealed.Reveal()
	if c.Status == call.OK {
		if sealed, err = l.Ring.Seal(call.ValueField, c.ValueID(), e.outcome.Value); err != nil {
			return record.Record{}, err
		}
		c.Value = sealed.Reveal()
	}
	return c.Encode(t.at.Partition)
}

func detailOf(e ended) call.Detail {
	d := call.Detail{Steps: slices.Clone(e.outcome.Steps)}
	if e.err != nil {
		d.Error = fault.From(e.err).Detail
	}
	for i := range d.Steps {
		d.Steps[i].CommandID = e.steps.CommandID(d.Steps[i].Path)
	}
	return d
}

// logFailure says where and for what kind of reason a run failed; the reason itself
// may quote what the caller sent, and lies sealed in the completion.
func (l *lane) logFailure(ctx context.Context, t *task, e ended) {
	step := ""
	if n := len(e.outcome.Steps); n > 0 && e.outcome.Steps[n-1].Error != "" {
		step = e.outcome.Steps[n-1].Path
	}
	l.Log.WarnContext(ctx, "Pipeline failed",
		"webhook_trace_id", t.call.TraceID, "event_key", t.call.EventKey, "listener", t.listener,
		"attempt", t.attempt, "step", step, "reason", fault.From(e.err).Kind.String())
}
