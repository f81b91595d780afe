package runner

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strconv"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/commands"
	"hooklog/transport/pipelines"
	"hooklog/transport/pipelines/actions"
	"hooklog/transport/telemetry"
)

const (
	// retryPause lies between two tries of what the log did not answer, and
	// maxRetryPause between those of what it goes on to refuse.
	retryPause    = 200 * time.Millisecond
	maxRetryPause = 5 * time.Second
	// findTimeout is how long an event is looked for that the log ought to have.
	findTimeout = 10 * time.Second
	// eventRoom and eventGrowth tell what an event takes at most, as a message and as
	// values, by the size of its body: a list of objects with one member each takes
	// fifty times its JSON.
	eventRoom   = 64 << 10
	eventGrowth = 50
)

// task is one run to make.
type task struct {
	call     call.Accepted
	at       record.Position // of the record that asks for it
	listener string
	attempt  int
	retry    *call.Retried // what opened the attempt; nil for the first
	// doubt is the offset up to which the fold must be asked whether the run is
	// due; negative means that it is.
	doubt int64
	// from is where in the call's trace the record was sent from that asks for it.
	from record.TraceContext
}

// handle makes the run that a task asks for, if it is due, and reports whether
// there is nothing left to do. False means that the partition was lost.
func (l *lane) handle(ctx context.Context, t task) bool {
	if t.doubt >= 0 {
		due, err := l.due(ctx, &t)
		if err != nil {
			l.fail(err) // of no consequence when the partition is lost already
			return false
		}
		if !due {
			return true
		}
	}
	release, err := l.admit(ctx, &t)
	if err != nil {
		return false
	}
	defer release()
	span := l.begin(&t)
	observe := l.Observe(call.PipelineName(t.listener))
	e := l.run(ctx, &t, span)
	observe(e.outcome.Steps, e.err)
	done := l.complete(ctx, &t, e, span)
	span.End(e.err)
	return done
}

// begin begins the span of the run.
func (l *lane) begin(t *task) telemetry.Span {
	place := l.Tracer.At(t.from, telemetry.Call{TraceID: t.call.TraceID, Last6: t.call.Last6, EventKey: t.call.EventKey})
	return place.Run(telemetry.Run{
		Pipeline: call.PipelineName(t.listener), Version: call.PipelineVersion(t.listener), Attempt: t.attempt, Cause: &t.at,
	})
}

// due asks the fold whether a run is to be made, and completes what a retry does
// not tell of its call.
func (l *lane) due(ctx context.Context, t *task) (bool, error) {
	if err := l.Calls.Wait(ctx, record.Position{Topic: t.at.Topic, Partition: t.at.Partition, Offset: t.doubt}); err != nil {
		return false, err
	}
	history, ok, err := l.Calls.Run(t.call.CorrelationID)
	if err != nil || !ok {
		return false, err
	}
	if t.retry != nil {
		t.call = history.Accepted
		opened := slices.ContainsFunc(history.Retries, func(r call.Retried) bool {
			return r.Listener == t.listener && r.Attempt == t.attempt && r.CommandID == t.retry.CommandID
		})
		if !opened {
			return false, nil
		}
	} else if history.Event != t.call.Event {
		return false, nil // a repeat: the first accepted record counts
	}
	latest := history.Run(t.listener)
	return latest.Attempt == t.attempt && latest.Status == call.Processing, nil
}

// admit waits for a place among the runs of the event key, among all, and in
// memory, in this order: who waits for the first holds none of the others.
func (l *lane) admit(ctx context.Context, t *task) (release func(), err error) {
	size := min(keyBytes, eventRoom+eventGrowth*int64(t.call.Size))
	leave, err := l.keys.acquire(ctx, t.call.EventKey, size)
	if err != nil {
		return nil, err
	}
	if err := l.slots.Acquire(ctx, 1); err != nil {
		leave()
		return nil, err
	}
	if err := l.memory.Acquire(ctx, size); err != nil {
		l.slots.Release(1)
		leave()
		return nil, err
	}
	return func() {
		l.memory.Release(size)
		l.slots.Release(1)
		leave()
	}, nil
}

// ended is what a run came to. A run that could not begin has neither outcome nor
// steps.
type ended struct {
	started time.Time
	owner   string
	outcome pipelines.Outcome
	steps   Steps
	err     error
}

func (l *lane) run(ctx context.Context, t *task, span telemetry.Span) (e ended) {
	defer func() {
		if panicked := recover(); panicked != nil {
			l.Log.ErrorContext(ctx, "Run panicked", "panic", fmt.Sprintf("%T", panicked), "stack", string(debug.Stack()))
			e.err = fault.New(fault.Internal, "the run broke")
		}
	}()
	e.started = l.Now().UTC()
	e.outcome.User = access.Anonymous
	p, err := l.program(ctx, t.listener)
	if err != nil {
		e.err = err
		return e
	}
	e.owner = p.owner
	body, event, err := l.event(ctx, t)
	if err != nil {
		e.err = err
		return e
	}
	e.steps = l.Steps(origin(t, p, &event))
	e.outcome, e.err = p.program.Run(ctx, pipelines.Run{
		Body: body, User: access.Anonymous, Timeout: l.cfg.Timeout,
		Log: l.Log.With("webhook_trace_id", t.call.TraceID, "pipeline", p.name), Span: span,
	}, e.steps)
	return e
}

// event reads the event of the call. While the log does not answer, it is asked
// again, and for a while where it does not find what was accepted.
func (l *lane) event(ctx context.Context, t *task) (any, record.Record, error) {
	patient := time.Now().Add(findTimeout)
	for {
		body, event, err := actions.ReadEvent(ctx, l.Events, t.call.Event)
		again := fault.Is(err, fault.Unavailable) || fault.Is(err, fault.NotFound) && time.Now().Before(patient)
		if !again || pipelines.Pause(ctx, retryPause) != nil {
			return body, event, err
		}
	}
}

func origin(t *task, p *program, event *record.Record) actions.Origin {
	depth, _ := strconv.Atoi(event.Header(record.HeaderDepth)) // 0 without one
	return actions.Origin{
		Call: t.call.CorrelationID, Pipeline: p.name, Version: p.version, Attempt: t.attempt,
		Caller: commands.Caller{Principal: access.Anonymous}, Owner: p.owner, OwnerRoles: p.roles, Put: p.put,
		Trigger: &actions.Trigger{
			EventKey: t.call.EventKey, TraceID: t.call.TraceID, Last6: t.call.Last6,
			Accepted: t.at, Depth: depth,
		},
	}
}
