package call

import (
	"slices"
	"strings"
	"time"
)

// State is the fold of one call's records.
type State struct {
	CorrelationID string    `json:"correlationId"`
	TraceID       string    `json:"traceId"`
	Received      time.Time `json:"received"`
	Listeners     []string  `json:"listeners,omitempty"`
	// Runs holds the completion that counts of each listener that has one.
	Runs map[string]Completed `json:"runs,omitempty"`
}

// Begin is the state that an accepted record opens.
func Begin(a Accepted) State {
	return State{CorrelationID: a.CorrelationID, TraceID: a.TraceID, Received: a.Received, Listeners: a.Listeners}
}

// Complete applies a completion. Of one attempt the first counts, and a higher
// attempt replaces a lower one; a listener that was not listed is ignored. The
// second value tells whether the state changed.
func (s State) Complete(c Completed) (State, bool) {
	if !slices.Contains(s.Listeners, c.Listener) {
		return s, false
	}
	if before, ok := s.Runs[c.Listener]; ok && c.Attempt <= before.Attempt {
		return s, false
	}
	runs := make(map[string]Completed, len(s.Runs)+1)
	for k, v := range s.Runs {
		runs[k] = v
	}
	runs[c.Listener] = c
	s.Runs = runs
	return s, true
}

// Finished gives the final status and when it was reached, or Processing.
func (s State) Finished() (Status, time.Time) {
	status, at := OK, s.Received
	for _, l := range s.Listeners {
		run, ok := s.Runs[l]
		if !ok {
			return Processing, time.Time{}
		}
		if run.Status == Failed {
			status = Failed
		}
		if run.Finished.After(at) {
			at = run.Finished
		}
	}
	return status, at
}

// Limits are the settings that answers depend on. The fold does not.
type Limits struct {
	// Life is how long a result is kept after its completion.
	Life time.Duration
	// Deadline is how long a call may go without completion before it is failed.
	Deadline time.Duration
}

// StatusAt answers what a poll at that time sees; false means expired. A first
// attempt that ends after the deadline comes too late: the error that was
// answered meanwhile is final.
func (s State) StatusAt(now time.Time, l Limits) (Status, bool) {
	status, at := s.Finished()
	end := s.Received.Add(l.Deadline)
	switch {
	case status == Processing && now.Before(end):
		return Processing, true
	case status == Processing, at.After(end) && !s.retried():
		status, at = Failed, end
	}
	return status, now.Before(at.Add(l.Life))
}

func (s State) retried() bool {
	for _, run := range s.Runs {
		if run.Attempt > 1 {
			return true
		}
	}
	return false
}

// PipelineName is the name of a listener that is written as name@version.
func PipelineName(listener string) string {
	name, _, _ := strings.Cut(listener, "@")
	return name
}
