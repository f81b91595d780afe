package commands

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
)

const (
	// maxWait is how many seconds event.tail waits at most.
	maxWait = 25
	// fromStart is the cursor in front of all that is kept.
	fromStart = "start"
	// tailBytes is how large the messages of one answer get, but for the last one.
	tailBytes = 8 << 20
)

// Tailed is a call with its event message, as event.tail shows it.
type Tailed struct {
	TraceID       string    `json:"traceId"`
	CorrelationID string    `json:"correlationId"`
	Received      time.Time `json:"received"`
	// Position is where the accepted record lies, whose order the answers have.
	Position Place `json:"position"`
	// Event is missing where the log has not got it; event.get tells why.
	Event json.RawMessage `json:"event,omitempty"`
}

// tailing is a question for the calls of a key.
type tailing struct {
	key   string
	place string // behind what was answered before
	limit int
	wait  time.Duration
}

// tailEvents gives the calls of a key behind a place. Where there is none it waits
// for one; ctx ends the waiting, not the answer.
func (d *Dispatcher) tailEvents(ctx context.Context, req Request) (any, error) {
	q, err := d.tailing(ctx, req)
	if err != nil || q.limit == 0 {
		return Page[Tailed]{Items: []Tailed{}, Next: cursor(q.place)}, err
	}
	waiting, cancel := context.WithTimeout(ctx, q.wait)
	defer cancel()
	for {
		changed, stop := d.Traces.Watch(q.key)
		before := q.place
		items, err := d.tailPage(ctx, req, &q)
		again := false
		if err == nil && len(items) == 0 {
			// Behind calls that do not count may lie some that do.
			again = q.place != before && ctx.Err() == nil || happens(waiting, changed)
		}
		stop()
		if !again {
			return Page[Tailed]{Items: items, Next: cursor(q.place)}, err
		}
	}
}

// happens waits for a change, until ctx ends.
func happens(ctx context.Context, changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	case <-ctx.Done():
		return false
	}
}

// tailing reads the parameters. Without a cursor nothing is asked for but the place
// behind all calls: the limit is 0.
func (d *Dispatcher) tailing(ctx context.Context, req Request) (q tailing, err error) {
	q.key = *catalog.Arg[string](req.Args, "eventKey")
	if err := d.Registry.Policy().Allow(req.Caller.subject(), req.Command.Name, q.key); err != nil {
		return q, err
	}
	if wait := catalog.Arg[int](req.Args, "wait"); wait != nil {
		if *wait < 0 || *wait > maxWait {
			return q, fault.New(fault.Invalid, "wait must lie between 0 and %d.", maxWait)
		}
		q.wait = time.Duration(*wait) * time.Second
	}
	given := catalog.Arg[string](req.Args, "cursor")
	if given != nil && *given == fromStart {
		q.limit, err = limitOf(req)
		return q, err
	}
	if q.place, q.limit, err = asked(req); err != nil || given != nil {
		return q, err
	}
	q.limit = 0
	ctx, cancel := d.inTime(ctx)
	defer cancel()
	_ = d.Traces.Current(ctx) // where the log cannot be asked, the fold's end is the end
	q.place, err = d.Traces.End(q.key)
	return q, err
}

// tailPage gives the next calls and moves the place behind them. The right to see
// them may have been lost while they were waited for.
func (d *Dispatcher) tailPage(ctx context.Context, req Request, q *tailing) ([]Tailed, error) {
	ctx, cancel := d.inTime(ctx)
	defer cancel()
	if err := d.Registry.Policy().Allow(req.Caller.subject(), req.Command.Name, q.key); err != nil {
		return nil, err
	}
	items, size := []Tailed{}, 0
	var failed error
	next, err := d.Traces.Tail(q.key, q.place, q.limit, func(f call.Found) bool {
		if size > tailBytes {
			return false
		}
		var message json.RawMessage
		if message, failed = d.tailed(ctx, f); failed != nil {
			return false
		}
		size += len(message)
		items = append(items, Tailed{f.TraceID, f.CorrelationID, f.Received, placeOf(f.Position), message})
		return true
	})
	if len(items) > 0 {
		failed = nil // what was read is shown: to read all of it again might fail again
	}
	if err := errors.Join(err, failed); err != nil {
		return nil, err
	}
	q.place = next
	return items, nil
}

// tailed is the message of a call. One that cannot be read does not keep those
// behind it from being read, unless it is only the log that does not answer.
func (d *Dispatcher) tailed(ctx context.Context, f call.Found) (json.RawMessage, error) {
	message, err := d.event(ctx, f)
	if fault.Is(err, fault.Unavailable) {
		return nil, err
	}
	if err != nil {
		return nil, nil //nolint:nilerr // event.get tells it
	}
	return message, nil
}
