package httpapi

import (
	"net/http"
	"time"
)

// Observed is a webhook call that was answered.
type Observed struct {
	// EventKey is empty where no webhook was found.
	EventKey string
	// Body, Event and Accepted are how long the stages took: to read and check the
	// request, to put the event on the log, and the accepted record behind it. One
	// that was not completed is 0.
	Body, Event, Accepted time.Duration
	// Whole is from the call's arrival to its answer.
	Whole time.Duration
	// Err is nil when the call was accepted.
	Err error
}

// observed lets handlers tell what they did, also to nobody.
func (d *Deps) observed() {
	if d.ObserveCall == nil {
		d.ObserveCall = func(Observed) {}
	}
	if d.ObserveCommand == nil {
		d.ObserveCommand = func(string, time.Duration, error) {}
	}
}

// stages are when a call completed them; one that it did not is zero.
type stages struct{ read, logged, accepted time.Time }

// observe tells of a call when its answer is known.
func (a *API) observe(d *delivery, err error) {
	seen := Observed{EventKey: d.gate.EventKey, Whole: a.deps.Now().Sub(d.started), Err: err}
	if at := &d.stages; !at.read.IsZero() {
		seen.Body = at.read.Sub(d.started)
		if !at.logged.IsZero() {
			seen.Event = at.logged.Sub(at.read)
		}
		if !at.accepted.IsZero() {
			seen.Accepted = at.accepted.Sub(at.logged)
		}
	}
	a.deps.ObserveCall(seen)
}

// counted tells of each command that the handler answers.
func (a *API) counted(command string, next handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		began := a.deps.Now()
		err := next(w, r)
		a.deps.ObserveCommand(command, a.deps.Now().Sub(began), err)
		return err
	}
}

// Load is what the handlers are busy with.
type Load struct {
	HeldPolls               int
	BudgetUsed, BudgetLimit int64 // of calls that are in memory, in bytes
}

// Load looks at the handlers as they are now.
func (a *API) Load() Load {
	return Load{HeldPolls: a.holds.count(), BudgetUsed: a.budget.total.taken.Load(), BudgetLimit: a.budget.total.limit}
}
