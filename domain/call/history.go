package call

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"time"
)

// History is all that is on record of a call that pipelines listen to: every
// attempt of each of them. What polls are answered with is its State.
type History struct {
	Accepted
	// Partition is that of the accepted record, where all others go.
	Partition int32 `json:"partition"`
	// Traceparent is where in the call's trace the accepted record was sent from;
	// empty where an old record does not tell.
	Traceparent string `json:"traceparent,omitempty"`
	// Completions are the first of each listener and attempt, without their values.
	Completions []Completed `json:"completions,omitempty"`
	// Retries are those that opened an attempt.
	Retries []Retried `json:"retries,omitempty"`
}

// Complete takes in a completion and tells whether it is a new one.
func (h History) Complete(c Completed) (History, bool) {
	if _, known := h.completion(c.Listener, c.Attempt); known || !slices.Contains(h.Listeners, c.Listener) {
		return h, false
	}
	c.Value = ""
	h.Completions = append(slices.Clip(h.Completions), c)
	return h, true
}

// Retry takes in a retry and tells whether it opened an attempt.
func (h History) Retry(r Retried) (History, bool) {
	if _, opened := h.State().Retry(r); !opened {
		return h, false
	}
	h.Retries = append(slices.Clip(h.Retries), r)
	return h, true
}

// State is the call's state, but for the values.
func (h History) State() State {
	s := Begin(h.Accepted)
	for _, c := range h.Completions {
		s, _ = s.Complete(c)
	}
	for _, r := range h.Retries { // attempts were opened in their order
		s.Retries = with(s.Retries, r.Listener, r)
	}
	return s
}

func (h History) completion(listener string, attempt int) (Completed, bool) {
	i := slices.IndexFunc(h.Completions, func(c Completed) bool { return c.Listener == listener && c.Attempt == attempt })
	if i < 0 {
		return Completed{}, false
	}
	return h.Completions[i], true
}

// RetriedBy reports that the command has opened an attempt of the listener.
func (h History) RetriedBy(commandID, listener string) bool {
	return slices.ContainsFunc(h.Retries, func(r Retried) bool { return r.CommandID == commandID && r.Listener == listener })
}

// Run is one attempt of a listener.
type Run struct {
	// Call is what was accepted; its correlation id is the completion's.
	Call     Accepted
	Listener string
	Attempt  int
	Status   Status
	// Completed is the zero value while the run is processing.
	Completed Completed
}

// Run is the latest attempt of a listener that is listed.
func (h History) Run(listener string) Run { return h.attempt(listener, h.latest(listener)) }

// Runs are all attempts of a listener that is listed, the latest first.
func (h History) Runs(listener string) []Run {
	runs := []Run{h.Run(listener)}
	for _, c := range h.Completions {
		if c.Listener == listener && c.Attempt != runs[0].Attempt {
			runs = append(runs, h.attempt(listener, c.Attempt))
		}
	}
	slices.SortFunc(runs, func(a, b Run) int { return cmp.Compare(b.Attempt, a.Attempt) })
	return runs
}

func (h History) latest(listener string) int {
	s := h.State()
	return max(1, s.Runs[listener].Attempt, s.Retries[listener].Attempt)
}

func (h History) attempt(listener string, n int) Run {
	run := Run{Call: h.Accepted, Listener: listener, Attempt: n, Status: Processing}
	if c, ended := h.completion(listener, n); ended {
		run.Status, run.Completed = c.Status, c
	}
	return run
}

// RunFilter tells the runs of a list from others. What is empty asks for nothing.
type RunFilter struct {
	Pipeline string
	Status   Status
	// From and To bound when the call was received: from From on, before To.
	From, To time.Time
	// Readable tells the pipelines that may be shown, by name.
	Readable func(pipeline string) bool
}

// Names reports whether runs of the pipeline may be among those asked for.
func (f RunFilter) Names(pipeline string) bool {
	return (f.Pipeline == "" || f.Pipeline == pipeline) && f.Readable(pipeline)
}

// Takes reports whether the run is one of those asked for.
func (f RunFilter) Takes(r Run) bool {
	return f.Names(PipelineName(r.Listener)) &&
		(f.Status == "" || f.Status == r.Status) &&
		!r.Call.Received.Before(f.From) &&
		(f.To.IsZero() || r.Call.Received.Before(f.To))
}

// EncodeRow gives the history as a projection stores it.
func (h History) EncodeRow() ([]byte, error) {
	row, ok := h.appendJSON(make([]byte, 0, 512))
	if !ok || len(h.Completions)+len(h.Retries) > 0 {
		return json.Marshal(h)
	}
	row = append(row[:len(row)-1], `,"partition":`...)
	row = strconv.AppendInt(row, int64(h.Partition), 10)
	if h.Traceparent != "" { // of hex digits and hyphens
		row = append(append(append(row, `,"traceparent":"`...), h.Traceparent...), '"')
	}
	return append(row, '}'), nil
}
