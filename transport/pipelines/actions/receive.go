package actions

import (
	"context"
	"encoding/hex"

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
	if err := s.catchUp(ctx); err != nil {
		return nil, err
	}
	at, ok, err := s.find(pattern, c.Params["traceId"], readable)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fault.New(fault.NotFound, "No event that may be received fits.")
	}
	return ReadEvent(ctx, s.Reader, at)
}

// catchUp waits until the event that started the run can be found, or for a caller
// all that there are.
func (s *Steps) catchUp(ctx context.Context) error {
	if s.origin.Trigger == nil {
		return s.Calls.Current(ctx)
	}
	return s.Calls.Wait(ctx, s.origin.Trigger.Accepted)
}

func (s *Steps) find(pattern string, traceID any, readable func(string) bool) (call.Event, bool, error) {
	trace, given := traceID.(string)
	if !given {
		at, _, ok, err := s.Calls.NewestEvent(pattern, readable)
		return at, ok, err
	}
	at, key, ok, err := s.Calls.EventByTrace(trace)
	return at, ok && pipeline.Match(pattern, key) && readable(key), err
}

// ReadEvent reads an event message from the log as a value of a run, if it is the
// one that was accepted. Its faults are final, but for those of kind Unavailable.
func ReadEvent(ctx context.Context, log Reader, at call.Event) (any, error) {
	r, err := ReadRecord(ctx, log, at)
	if err != nil {
		return nil, err
	}
	v, err := pipelines.Decode(r.Value)
	if err != nil {
		return nil, fault.New(fault.Internal, "The event on the log is no JSON.")
	}
	return v, nil
}

// ReadRecord is ReadEvent for the whole record.
func ReadRecord(ctx context.Context, log Reader, at call.Event) (record.Record, error) {
	r, err := log.ReadAt(ctx, record.Position{Topic: at.Topic, Partition: at.Partition, Offset: at.Offset})
	switch {
	case fault.Is(err, fault.Unavailable):
		return r, err
	case err != nil:
		return r, fault.New(fault.Gone, "The event is not on the log any more.").Because(err)
	}
	digest := record.ContentDigest(r.Headers, r.Value)
	if hex.EncodeToString(digest[:]) != at.SHA256 {
		return r, fault.New(fault.Internal, "The event on the log is not the one that was accepted.")
	}
	return r, nil
}
