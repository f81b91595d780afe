package call

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// State is the fold of one call's records.
type State struct {
	CorrelationID string    `json:"correlationId"`
	TraceID       string    `json:"traceId"`
	Received      time.Time `json:"received"`
	Listeners     []string  `json:"listeners,omitempty"`
	// Runs holds the completion that counts of each listener that has one, without
	// its detail, which polls are not answered with.
	Runs map[string]Completed `json:"runs,omitempty"`
	// Retries holds the last retry of each listener that has one.
	Retries map[string]Retried `json:"retries,omitempty"`
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
	c.Detail = ""
	s.Runs = with(s.Runs, c.Listener, c)
	return s, true
}

// Retry applies a retry. It opens the attempt behind the highest that has ended,
// if that one failed and it is not open yet; anything else is ignored.
func (s State) Retry(r Retried) (State, bool) {
	run, ended := s.Runs[r.Listener]
	if !ended || run.Status != Failed || r.Attempt != run.Attempt+1 || s.Retries[r.Listener].Attempt >= r.Attempt {
		return s, false
	}
	s.Retries = with(s.Retries, r.Listener, r)
	return s, true
}

// with is the map with the entry; the one that was given stays as it is.
func with[V any](m map[string]V, key string, value V) map[string]V {
	next := make(map[string]V, len(m)+1)
	maps.Copy(next, m)
	next[key] = value
	return next
}

// Finished gives the final status and when it was reached, or Processing.
func (s State) Finished() (Status, time.Time) { return s.all(s.run) }

// run is what a listener has come to, whenever that was.
func (s State) run(listener string) (Status, time.Time) {
	run, ended := s.Runs[listener]
	if !ended || run.Attempt < s.Retries[listener].Attempt {
		return Processing, time.Time{}
	}
	return run.Status, run.Finished
}

// all is what the listeners have come to together: one that runs keeps the call
// open, and one that failed makes it fail.
func (s State) all(run func(listener string) (Status, time.Time)) (Status, time.Time) {
	status, at := OK, s.Received
	for _, l := range s.Listeners {
		one, when := run(l)
		switch one {
		case Processing:
			return Processing, time.Time{}
		case Failed:
			status = Failed
		}
		if when.After(at) {
			at = when
		}
	}
	return status, at
}

// Limits are the settings that answers depend on. The fold does not.
type Limits struct {
	// Life is how long a result is kept after its completion.
	Life time.Duration
	// Deadline is how long a call, or a retry of it, may go without completion
	// before it is failed.
	Deadline time.Duration
}

// StatusAt answers what a poll at that time sees; false means expired.
func (s State) StatusAt(now time.Time, l Limits) (Status, bool) {
	status, at := s.FinishedAt(now, l.Deadline)
	return status, status == Processing || now.Before(at.Add(l.Life))
}

// FinishedAt is Finished as a poll at that time sees it: without completion by the
// deadline, a call has failed.
func (s State) FinishedAt(now time.Time, deadline time.Duration) (Status, time.Time) {
	return s.all(func(listener string) (Status, time.Time) { return s.runAt(listener, now, deadline) })
}

// runAt is what a listener has come to at that time. An attempt that ends after
// its deadline, which counts from the call or from its retry, comes too late: the
// error that was answered meanwhile is final, until the next attempt.
func (s State) runAt(listener string, now time.Time, deadline time.Duration) (Status, time.Time) {
	attempt, since := 1, s.Received
	if retry, ok := s.Retries[listener]; ok {
		attempt, since = retry.Attempt, retry.Time
	}
	end := since.Add(deadline)
	status, at := s.run(listener)
	open := status == Processing && !now.Before(end)
	late := status != Processing && at.After(end) && s.Runs[listener].Attempt == attempt
	if open || late {
		return Failed, end
	}
	return status, at
}

// PipelineName is the name of a listener that is written as name@version.
func PipelineName(listener string) string {
	name, _, _ := strings.Cut(listener, "@")
	return name
}

// PipelineVersion is the version of a listener that is written as name@version, or 0.
func PipelineVersion(listener string) int {
	_, text, _ := strings.Cut(listener, "@")
	version, err := strconv.Atoi(text)
	if err != nil {
		return 0
	}
	return version
}
