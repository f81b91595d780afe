package commands

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"

	"hooklog/domain/call"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/record"
)

// Events reads the log.
type Events interface {
	ReadAt(ctx context.Context, at record.Position) (record.Record, error)
}

// getEvent gives the event message of a call, as it stands on the log. Whether a
// call that may not be read exists is not told.
func (d *Dispatcher) getEvent(ctx context.Context, req Request) (any, error) {
	found, known, err := d.find(ctx, *catalog.Arg[string](req.Args, "correlationId"))
	if err != nil {
		return nil, err
	}
	if !known || !d.readable(req)(found.EventKey) {
		return nil, fault.New(fault.NotFound, "There is no call with this correlation id whose event may be read.")
	}
	return d.event(ctx, found)
}

func (d *Dispatcher) event(ctx context.Context, found call.Found) (json.RawMessage, error) {
	if !found.Genuine() {
		return nil, fault.New(fault.NotFound, "The call has no event that could be read.")
	}
	r, err := ReadEvent(ctx, d.Events, found.Event)
	return r.Value, err
}

// expired is the error of a reader for what lies before all that the log holds.
type expired interface {
	error
	Below() bool
}

// ReadEvent reads an event from the log, if it is the one that was accepted. A
// fault of kind NotFound says that the log ought to have it: where its topic is
// new, or has a new leader, it may have it in a moment.
func ReadEvent(ctx context.Context, log Events, at call.Event) (record.Record, error) {
	r, err := log.ReadAt(ctx, record.Position{Topic: at.Topic, Partition: at.Partition, Offset: at.Offset})
	var before expired
	switch {
	case fault.Is(err, fault.Unavailable):
		return r, err
	case errors.As(err, &before) && before.Below():
		return r, fault.New(fault.Gone, "The event is not on the log any more.").Because(err)
	case err != nil:
		return r, fault.New(fault.NotFound, "The event is not found on the log.").Because(err)
	}
	digest := record.ContentDigest(r.Headers, r.Value)
	if hex.EncodeToString(digest[:]) != at.SHA256 {
		return r, fault.New(fault.Internal, "The event on the log is not the one that was accepted.")
	}
	return r, nil
}
