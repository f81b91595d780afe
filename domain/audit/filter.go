package audit

import (
	"maps"
	"slices"
	"time"

	"hooklog/domain/call"
)

// Filter says which entries are wanted, and which may be seen. A zero field does
// not narrow.
type Filter struct {
	// From is the earliest time, To the first that is too late.
	From, To time.Time
	// User is who did it: as principal, as effective user or as owner.
	User    string
	Command string
	// Webhook is an event key or a last6.
	Webhook string
	Outcome string
	// OldestFirst turns the order round.
	OldestFirst bool

	// Readable tells the keys whose entries may be seen, All that those without any
	// key may be seen as well.
	Readable func(key string) bool
	All      bool
}

// Takes reports whether the entry is wanted and may be seen.
func (f Filter) Takes(e Entry) bool {
	switch {
	case e.Time.Before(f.From), !f.To.IsZero() && !e.Time.Before(f.To):
		return false
	case f.User != "" && f.User != e.Principal && f.User != e.Effective && f.User != e.Owner:
		return false
	case f.Command != "" && f.Command != e.Command:
		return false
	case f.Webhook != "" && f.Webhook != e.Last6 && !slices.Contains(e.Keys, f.Webhook):
		return false
	case f.Outcome != "" && f.Outcome != e.Outcome:
		return false
	}
	return f.shows(e)
}

// Shown is the entry as it may be seen. A call is told only to who may see
// everything: it may be one of any key, and its id opens its result. The pipeline
// that issued a command, and its owner, are told to who may see that pipeline.
func (f Filter) Shown(e Entry) Entry {
	if f.All {
		return e
	}
	e.Call = ""
	e.Params = maps.Clone(e.Params)
	delete(e.Params, "correlationId")
	if e.Via != "" && !f.Readable(call.PipelineName(e.Via)) {
		e.Via, e.Owner = "", ""
	}
	return e
}

func (f Filter) shows(e Entry) bool {
	if len(e.Keys) == 0 {
		return f.All
	}
	return !slices.ContainsFunc(e.Keys, func(key string) bool { return !f.Readable(key) })
}
