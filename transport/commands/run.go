package commands

import (
	"context"
	"encoding/json"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/secret"
)

// Runs is the fold of the calls that pipelines listen to.
type Runs interface {
	Run(correlationID string) (call.History, bool, error)
	// List gives a page, and where the next one begins.
	List(f call.RunFilter, after string, limit int) (runs []call.Run, next string, err error)
	// Current returns when all that is on the log now has been folded.
	Current(ctx context.Context) error
	// Wait returns when the record at the position has been folded, so that polls
	// see it too.
	Wait(ctx context.Context, at record.Position) error
}

// Run is one attempt of a pipeline at a call, as a caller sees it. What only its
// end tells is not there before.
type Run struct {
	CorrelationID string      `json:"correlationId"`
	TraceID       string      `json:"traceId"`
	EventKey      string      `json:"eventKey"`
	Received      time.Time   `json:"received"`
	Pipeline      string      `json:"pipeline"`
	Version       int         `json:"version"`
	Attempt       int         `json:"attempt"`
	Status        call.Status `json:"status"`
	Started       time.Time   `json:"started,omitzero"`
	Finished      time.Time   `json:"finished,omitzero"`
	Principal     string      `json:"principal,omitempty"`
	Effective     string      `json:"effective,omitempty"`
	Owner         string      `json:"owner,omitempty"`
	// Error and Steps may quote the payload: they are for those who may read the run.
	Error string      `json:"error,omitempty"`
	Steps []call.Step `json:"steps,omitempty"`
}

// getRuns lists the latest attempts of all runs, or every attempt of one call's.
func (d *Dispatcher) getRuns(ctx context.Context, req Request) (any, error) {
	after, limit, err := asked(req)
	if err != nil {
		return nil, err
	}
	filter, err := d.runFilter(req)
	if err != nil {
		return nil, err
	}
	if id := catalog.Arg[string](req.Args, "correlationId"); id != nil {
		history, err := d.history(ctx, *id, false)
		if err != nil {
			return nil, err
		}
		return d.showCall(req, history, filter)
	}
	runs, next, err := d.Runs.List(filter, after, limit)
	if err != nil {
		return nil, err
	}
	page, err := d.showRuns(req, runs)
	if err == nil && next != "" {
		page.Next = cursor(next)
	}
	return page, err
}

func (d *Dispatcher) runFilter(req Request) (f call.RunFilter, err error) {
	f.Readable = d.readable(req)
	if name := catalog.Arg[string](req.Args, "pipeline"); name != nil {
		f.Pipeline = *name
	}
	if status := catalog.Arg[string](req.Args, "status"); status != nil {
		f.Status = call.Status(*status)
	}
	f.From, f.To, err = between(req)
	return f, err
}

// between reads the parameters from and to; a zero time is no bound.
func between(req Request) (from, to time.Time, err error) {
	for parameter, bound := range map[string]*time.Time{"from": &from, "to": &to} {
		text := catalog.Arg[string](req.Args, parameter)
		if text == nil {
			continue
		}
		if *bound, err = time.Parse(time.RFC3339, *text); err != nil {
			return from, to, fault.New(fault.Invalid, "%s must be a time such as 2026-01-31T12:00:00Z.", parameter)
		}
	}
	return from, to, nil
}

// history finds the runs of a call; an unknown one has no listeners. Of a call that
// is unknown or still runs, the log may know more than this instance has folded.
// Whoever only looks is answered all the same when the log cannot be asked.
func (d *Dispatcher) history(ctx context.Context, correlationID string, certain bool) (call.History, error) {
	history, known, err := d.Runs.Run(correlationID)
	if err != nil {
		return history, err
	}
	if status, _ := history.State().Finished(); known && status != call.Processing {
		return history, nil
	}
	if err := d.Runs.Current(ctx); err != nil && certain {
		return history, err
	}
	history, _, err = d.Runs.Run(correlationID)
	return history, err
}

func (d *Dispatcher) showCall(req Request, history call.History, filter call.RunFilter) (Page[Run], error) {
	var runs []call.Run
	for _, listener := range history.Listeners {
		for _, run := range history.Runs(listener) {
			if filter.Takes(run) {
				runs = append(runs, run)
			}
		}
	}
	return d.showRuns(req, runs)
}

// showRuns opens what happened in the runs for a caller who may read them.
func (d *Dispatcher) showRuns(req Request, runs []call.Run) (Page[Run], error) {
	mayRead := d.Registry.Policy().Reads(req.Caller.subject(), catalog.RunGet)
	page := pageOf(runs, showRun)
	for i, run := range runs {
		if run.Completed.Detail == "" || !mayRead(page.Items[i].Pipeline) {
			continue
		}
		detail, err := d.detail(run.Completed)
		if err != nil {
			return Page[Run]{}, fault.New(fault.Unavailable, "The service cannot open what happened in a run of %s; its operator must give it the right key ring.", page.Items[i].Pipeline).Because(err)
		}
		page.Items[i].Error, page.Items[i].Steps = detail.Error, detail.Steps
	}
	return page, nil
}

func showRun(r call.Run) Run {
	return Run{
		CorrelationID: r.Call.CorrelationID,
		TraceID:       r.Call.TraceID,
		EventKey:      r.Call.EventKey,
		Received:      r.Call.Received,
		Pipeline:      call.PipelineName(r.Listener),
		Version:       call.PipelineVersion(r.Listener),
		Attempt:       r.Attempt,
		Status:        r.Status,
		Started:       r.Completed.Started,
		Finished:      r.Completed.Finished,
		Principal:     r.Completed.Principal,
		Effective:     r.Completed.Effective,
		Owner:         r.Completed.Owner,
	}
}

func (d *Dispatcher) detail(c call.Completed) (detail call.Detail, err error) {
	plain, err := d.Ring.Open(call.DetailField, c.ValueID(), secret.NewSealed(c.Detail))
	if err != nil {
		return detail, err
	}
	err = json.Unmarshal(plain, &detail)
	return detail, err
}
