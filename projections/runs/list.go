package runs

import (
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"hooklog/domain/call"
)

// maxLooked is how many rows one page looks at: behind them, the page ends with
// what it has.
const maxLooked = 2000

// List gives the latest attempts of the runs that the filter takes, those of the
// newest call first, at most limit of them, from behind the place where a page
// before ended. next is where this one ends, or empty when nothing is left; a page
// may be short, or empty, and still have a next.
func (r *Runs) List(f call.RunFilter, after string, limit int) (runs []call.Run, next string, err error) {
	order := allRuns
	if f.Status == call.Failed {
		order = failedRuns
	}
	var read reading
	var failed error
	var last, end string // where the row that was looked at last stands, and the last run
	looked := 0
	err = r.store.Scan(order, start(order, f, after), func(key, value []byte) bool {
		at := placeOf(key[len(order):], value)
		if at.received.Before(f.From.Truncate(time.Millisecond)) {
			return false
		}
		if looked == maxLooked {
			next = last
			return false
		}
		looked++
		last = string(key[len(order):])
		if !f.Names(call.PipelineName(at.listener)) {
			return true
		}
		run, ok, err := read.run(r, at)
		if err != nil {
			failed = err
			return false
		}
		if !ok || !f.Takes(run) {
			return true
		}
		if len(runs) == limit {
			next = end
			return false
		}
		runs, end = append(runs, run), last
		return true
	})
	return runs, next, errors.Join(err, failed)
}

// start is the key behind which a page begins.
func start(order []byte, f call.RunFilter, after string) []byte {
	if after == "" && !f.To.IsZero() {
		after = backwards(f.To)
	}
	if after == "" {
		return nil
	}
	return slices.Concat(order, []byte(after))
}

// reading remembers the call that was read last: its listeners follow each other.
type reading struct {
	id      uuid.UUID
	history call.History
	known   bool
}

// run is the run at a place of the order, unless a second accepted record of the
// call, which does not count, has left it there.
func (l *reading) run(r *Runs, at place) (call.Run, bool, error) {
	if l.id != at.id {
		h, known, err := r.Run(at.id.String())
		if err != nil {
			return call.Run{}, false, err
		}
		*l = reading{at.id, h, known}
	}
	if !l.known || backwards(l.history.Received) != backwards(at.received) || !slices.Contains(l.history.Listeners, at.listener) {
		return call.Run{}, false, nil
	}
	return l.history.Run(at.listener), true, nil
}
