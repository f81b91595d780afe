package audit

import (
	"encoding/json"
	"errors"
	"slices"
	"time"

	"hooklog/domain/audit"
	"hooklog/projections/store"
)

// maxLooked is how many rows one page looks at: behind them, the page ends with
// what it has.
const maxLooked = 2000

// moment is a time as a key part. Times before 1970 are those of nobody's clock.
func moment(t time.Time) string { return store.Ordered(uint64(max(t.UnixMilli(), 0))) }

// List gives the entries that the filter takes, the newest first unless it says
// otherwise, at most limit of them, from behind the place where a page before
// ended. next is where this one ends, or empty when nothing is left; a page may be
// short, or empty, and still have a next.
func (a *Audit) List(f audit.Filter, after string, limit int) (found []audit.Entry, next string, err error) {
	var failed error
	var last, end string // where the row that was looked at last stands, and the last entry
	looked := 0
	visit := func(key, value []byte) bool {
		if beyond(f, key[len(entries):]) {
			return false
		}
		if looked == maxLooked {
			next = last
			return false
		}
		looked++
		last = string(key[len(entries):])
		var e audit.Entry
		if failed = json.Unmarshal(value, &e); failed != nil {
			return false
		}
		if e = f.Shown(e); !f.Takes(e) {
			return true
		}
		if len(found) == limit {
			next = end
			return false
		}
		found, end = append(found, e), last
		return true
	}
	if f.OldestFirst {
		err = a.store.Scan(entries, start(f, after), visit)
	} else {
		err = a.store.ScanBack(entries, start(f, after), visit)
	}
	return found, next, errors.Join(err, failed)
}

// beyond reports that no row from this one on is within the times of the filter.
func beyond(f audit.Filter, place []byte) bool {
	at := string(place[:len(moment(time.Time{}))])
	if f.OldestFirst {
		return !f.To.IsZero() && at > moment(f.To)
	}
	return at < moment(f.From)
}

// start is the key behind which a page begins; nil is the first row.
func start(f audit.Filter, after string) []byte {
	switch {
	case after != "":
	case f.OldestFirst && !f.From.IsZero():
		after = moment(f.From)
	case !f.OldestFirst && !f.To.IsZero():
		after = moment(f.To.Add(time.Millisecond)) // what is too late is told by the filter
	default:
		return nil
	}
	return slices.Concat(entries, []byte(after))
}
