package pipelines

import (
	"context"
	"strings"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/transport/telemetry"
)

// step carries out one step as its options say, and keeps its record.
func (r *run) step(ctx context.Context, s *step) error {
	record := call.Step{Path: s.path, Command: s.command.Name, User: r.user, Started: time.Now().UTC()}
	span := r.Span.Step(s.path, s.command.Name)
	err := r.carryOut(ctx, s, &record, span)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		record.Error = cut(fault.From(err).Detail)
		err = named(err, "Step %s (%s) at %s", s.path, s.command.Name, s.at)
	}
	span.End(err)
	record.Finished = time.Now().UTC()
	r.records = append(r.records, record)
	if s.onError.ignore && ctx.Err() == nil {
		return nil
	}
	return err
}

func (r *run) carryOut(ctx context.Context, s *step, record *call.Step, span telemetry.Span) error {
	// A step without expression must not outlive the run either.
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	holds, err := r.holds(ctx, s)
	if err != nil || !holds {
		return err
	}
	record.Attempt = 1
	c, err := r.call(ctx, s)
	if err != nil {
		return err
	}
	c.Span = span
	v, err := r.tries(ctx, s, c, record)
	if err != nil || s.command.Passes {
		return err
	}
	return r.take(s, v)
}

func (r *run) holds(ctx context.Context, s *step) (bool, error) {
	if s.condition == nil {
		return true, nil
	}
	v, err := r.eval(ctx, s.condition)
	if err != nil {
		return false, err
	}
	holds, ok := v.(bool)
	if !ok {
		return false, wrong("if must be %s", typeNames[Boolean])
	}
	return holds, nil
}

// call evaluates the parameters, once for all tries.
func (r *run) call(ctx context.Context, s *step) (StepCall, error) {
	c := StepCall{Path: s.path, Try: 1, Command: s.command.Name, Params: map[string]any{}, Body: r.body, User: r.user}
	m := meter{left: MaxState}
	for _, a := range s.params {
		v, err := a.value.eval(ctx, r.scope, &m)
		if err == nil {
			v, err = a.param.bind(v)
		}
		if err != nil {
			return c, err
		}
		c.Params[a.param.Name] = v
	}
	return c, nil
}

// tries carries out the step as often as its onError says. What was carried out
// is not tried again, whatever becomes of its result.
func (r *run) tries(ctx context.Context, s *step, c StepCall, record *call.Step) (v any, err error) {
	for ; ; record.Attempt++ {
		err = r.caught(ctx, func() error {
			v, err = r.try(ctx, c)
			return err
		})
		if err == nil || ctx.Err() != nil || record.Attempt > s.onError.times {
			return v, err
		}
		if !fault.Is(err, fault.Unavailable) {
			c.Try++
		}
		if pause(ctx, s.onError.wait) != nil {
			return nil, err
		}
	}
}

func (r *run) try(ctx context.Context, c StepCall) (any, error) {
	if err := r.steps.Allow(ctx, r.user, c.Command); err != nil {
		return nil, err
	}
	return r.do(ctx, c)
}

// take puts a result where the next steps see it.
func (r *run) take(s *step, v any) error {
	v, err := plain(v)
	switch {
	case err != nil:
		return wrong("the result %v", err)
	case s.output != "":
		return r.setVar(s.output, v)
	}
	return r.setBody(v)
}

// do carries out the steps of the language, and hands on the others.
func (r *run) do(ctx context.Context, c StepCall) (any, error) {
	if convert, ok := conversions[c.Command]; ok {
		return converting(convert, c)
	}
	switch c.Command {
	case EventListen, MessageReceive:
		return nil, nil
	case set:
		return c.Params["value"], nil
	case logStep:
		return nil, r.log(ctx, c)
	case waitStep:
		return nil, pause(ctx, duration(c.Params["seconds"].(float64)))
	case RunAs:
		if _, err := r.steps.Do(ctx, c); err != nil {
			return nil, err
		}
		r.user = c.Params["user"].(string)
		return nil, nil
	}
	return r.steps.Do(ctx, c)
}

func converting(convert func(any) (any, error), c StepCall) (any, error) {
	given, ok := c.Params["value"]
	if !ok {
		given = c.Body
	}
	v, err := convert(given)
	if err != nil {
		return nil, wrong("value %v", err)
	}
	return v, nil
}

func (r *run) log(ctx context.Context, c StepCall) error {
	message, err := text(c.Params["message"])
	if err != nil {
		return wrong("message %v", errNoJSON)
	}
	r.Log.InfoContext(ctx, "pipeline log", "message", cut(message), "path", c.Path, "user", c.User)
	return nil
}

// cut keeps what is written down from growing.
func cut(message string) string {
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
}

// pause waits, unless the run would end before: then it is said at once.
func pause(ctx context.Context, d time.Duration) error {
	if d < 0 {
		return wrong("seconds must not be negative")
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < d {
		return wrong("%v are longer than the run may still take", d)
	}
	return Pause(ctx, d)
}

// Pause waits for d, or gives the cause of ctx when that ends before.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
