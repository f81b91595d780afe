package actions

import (
	"context"

	"hooklog/domain/access"
	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
	"hooklog/domain/record"
	"hooklog/transport/commands"
	"hooklog/transport/pipelines"
)

// receiveEvent gives the newest event of the keys that user and owner may receive.
func (s *Steps) receiveEvent(ctx context.Context, user access.Subject, c pipelines.StepCall) (any, error) {
	pattern := c.Params["eventKey"].(string)
	if err := pipeline.CheckPattern("eventKey", pattern); err != nil {
		return nil, err
	}
	owner, err := s.owner()
	if err != nil {
		return nil, err
	}
	policy := s.Registry.Policy()
	users, owners := policy.Reads(user, c.Command), policy.Reads(owner, c.Command)
	readable := func(key string) bool { return users(key) && owners(key) }
	// What was acknowledged before the call that started the run may lie on another
	// partition than that.
	if err := s.Calls.Current(ctx); err != nil {
		return nil, err
	}
	at, ok, err := s.find(pattern, c.Params["traceId"], readable)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.New(fault.NotFound, "No event that may be received fits.")
	}
	body, _, err := ReadEvent(ctx, s.Reader, at)
	return body, err
}

// find looks for the newest event; a call and the events that it led to have one
// trace id.
func (s *Steps) find(pattern string, traceID any, readable func(string) bool) (at call.Event, ok bool, err error) {
	if trace, given := traceID.(string); given {
		at, _, ok, err = s.Calls.EventOfTrace(trace, func(key string) bool { return pipeline.Match(pattern, key) && readable(key) })
	} else {
		at, _, ok, err = s.Calls.NewestEvent(pattern, readable)
	}
	return at, ok, err
}

// ReadEvent reads an event from the log, if it is the one that was accepted, and
// its message as a value of a run. A fault of kind NotFound says that the log ought
// to have it: where its topic is new, or has a new leader, it may have it in a
// moment.
func ReadEvent(ctx context.Context, log Reader, at call.Event) (body any, r record.Record, err error) {
	if r, err = commands.ReadEvent(ctx, log, at); err != nil {
		return nil, r, err
	}
	if body, err = pipelines.Decode(r.Value); err != nil {
		return nil, r, fault.New(fault.Internal, "The event on the log is no JSON.")
	}
	return body, r, nil
}
