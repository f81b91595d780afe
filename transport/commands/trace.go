package commands

import (
	"context"
	"regexp"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/record"
)

// Traces is the fold of the accepted calls.
type Traces interface {
	// Find finds a call by its correlation id.
	Find(correlationID string) (call.Found, bool, error)
	// Search gives a page, the newest first, and where the next one begins.
	Search(s call.Search, after string, limit int) (found []call.Found, next string, err error)
	// Tail gives the calls of a key behind a place to take, until one is not taken,
	// and tells the place behind those; the empty place is in front of all.
	Tail(eventKey, after string, limit int, take func(call.Found) bool) (next string, err error)
	// End is the place behind all calls of a key.
	End(eventKey string) (place string, err error)
	// Watch gives a channel that is closed when the next call of the key is found.
	Watch(eventKey string) (changed <-chan struct{}, stop func())
	// Current returns when all that is on the log now has been folded.
	Current(ctx context.Context) error
}

// Trace is a call and the times of what became of it, as a caller sees it.
type Trace struct {
	TraceID       string      `json:"traceId"`
	CorrelationID string      `json:"correlationId"`
	EventKey      string      `json:"eventKey"`
	Last6         string      `json:"last6"`
	Status        call.Status `json:"status"`
	Received      time.Time   `json:"received"`
	// Logged is when the event was on the log.
	Logged time.Time `json:"logged"`
	// Completed is missing while the call is processing.
	Completed time.Time  `json:"completed,omitzero"`
	Method    string     `json:"method"`
	Size      int        `json:"size"`
	Address   string     `json:"address,omitempty"`
	Event     call.Event `json:"event"`
	// Call is where the accepted record lies.
	Call Place      `json:"call"`
	Runs []TraceRun `json:"runs"`
	// Receipt is the proof that the accepted record is on the log, where asked for.
	Receipt any `json:"receipt,omitempty"`
}

// Place is a place on the log.
type Place struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	Offset    int64  `json:"offset"`
}

func placeOf(p record.Position) Place { return Place(p) }

// getTraces finds calls and shows what became of them.
func (d *Dispatcher) getTraces(ctx context.Context, req Request) (any, error) {
	after, limit, err := asked(req)
	if err != nil {
		return nil, err
	}
	search, err := d.search(req)
	if err != nil {
		return nil, err
	}
	var found []call.Found
	var next string
	if id := catalog.Arg[string](req.Args, "correlationId"); id != nil {
		found, err = d.oneTrace(ctx, search, *id)
	} else {
		found, next, err = d.traces(ctx, search, after, limit)
	}
	if err != nil {
		return nil, err
	}
	page := Page[Trace]{Items: make([]Trace, len(found))}
	for i, f := range found {
		if page.Items[i], err = d.showTrace(ctx, req, f); err != nil {
			return nil, err
		}
	}
	if next != "" {
		page.Next = cursor(next)
	}
	return page, nil
}

var last6Form = regexp.MustCompile(`^[0-9a-f]{6}$`)

func (d *Dispatcher) search(req Request) (s call.Search, err error) {
	given := 0
	for name, field := range map[string]*string{"last6": &s.Last6, "traceId": &s.TraceID, "correlationId": new(string)} {
		if text := catalog.Arg[string](req.Args, name); text != nil {
			*field = *text
			given++
		}
	}
	receipt := catalog.Arg[bool](req.Args, "receipt")
	switch {
	case given != 1:
		return s, fault.New(fault.Invalid, "%s needs exactly one of last6, traceId and correlationId.", req.Command.Name)
	case catalog.Arg[string](req.Args, "last6") != nil && !last6Form.MatchString(s.Last6):
		return s, fault.New(fault.Invalid, "last6 must be the last six characters of a webhook's uuid.")
	case receipt != nil && *receipt && s.Last6 != "":
		return s, fault.New(fault.Invalid, "receipt goes with traceId or correlationId, not with last6.")
	}
	if key := catalog.Arg[string](req.Args, "eventKey"); key != nil {
		s.EventKey = *key
	}
	s.Readable = d.readable(req)
	s.From, s.To, err = between(req)
	return s, err
}

// oneTrace finds a call by its correlation id, if it is looked for.
func (d *Dispatcher) oneTrace(ctx context.Context, s call.Search, id string) ([]call.Found, error) {
	found, known, err := d.find(ctx, id)
	if err != nil || !known || !s.Takes(found.Accepted) {
		return nil, err
	}
	return []call.Found{found}, nil
}

// find finds a call. Of one that is unknown, the log may know more than this
// instance has folded; whoever looks is answered all the same when the log cannot
// be asked.
func (d *Dispatcher) find(ctx context.Context, id string) (call.Found, bool, error) {
	found, known, err := d.Traces.Find(id)
	if err != nil || known || d.Traces.Current(ctx) != nil {
		return found, known, err
	}
	return d.Traces.Find(id)
}

// traces is a page of a search. For a trace id that is unknown the log is asked, as
// in find.
func (d *Dispatcher) traces(ctx context.Context, s call.Search, after string, limit int) ([]call.Found, string, error) {
	found, next, err := d.Traces.Search(s, after, limit)
	if err != nil || s.TraceID == "" || after != "" || len(found) > 0 || d.Traces.Current(ctx) != nil {
		return found, next, err
	}
	return d.Traces.Search(s, after, limit)
}
