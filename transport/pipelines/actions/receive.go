package actions

import (
	"context"
	"encoding/hex"
	"errors"

	"hooklog/domain/access"
	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
	"hooklog/domain/record"
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

// expired is the error of a reader for what lies before all that the log holds.
type expired interface {
	error
	Below() bool
}

// ReadEvent reads an event from the log, if it is the one that was accepted, and
// its message as a value of a run. A fault of kind NotFound says that the log ought
// to have it: where its topic is new, or has a new leader, it may have it in a
// moment.
func ReadEvent(ctx context.Context, log Reader, at call.Event) (body any, r record.Record, err error) {
	r, err = log.ReadAt(ctx, record.Position{Topic: at.Topic, Partition: at.Partition, Offset: at.Offset})
	var before expired
	switch {
	case fault.Is(err, fault.Unavailable):
		return nil, r, err
	case errors.As(err, &before) && before.Below():
		return nil, r, fault.New(fault.Gone, "The event is not on the log any more.").Because(err)
	case err != nil:
		return nil, r, fault.New(fault.NotFound, "The event is not found on the log.").Because(err)
	}
	digest := record.ContentDigest(r.Headers, r.Value)
	if hex.EncodeToString(digest[:]) != at.SHA256 {
		return nil, r, fault.New(fault.Internal, "The event on the log is not the one that was accepted.")
	}
	if body, err = pipelines.Decode(r.Value); err != nil {
		return nil, r, fault.New(fault.Internal, "The event on the log is no JSON.")
	}
	return body, r, nil
}
