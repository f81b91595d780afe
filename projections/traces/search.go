package traces

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/google/uuid"

	"hooklog/domain/call"
	"hooklog/domain/fault"
)

// maxLooked is how many rows one page looks at: behind them, the page ends with
// what it has.
const maxLooked = 2000

// Find finds a call by its correlation id. Of two accepted records with one id the
// first counts.
func (t *Traces) Find(correlationID string) (call.Found, bool, error) {
	id, err := uuid.Parse(correlationID)
	if err != nil || id.String() != correlationID {
		return call.Found{}, false, nil //nolint:nilerr // what is no id belongs to no call
	}
	for _, d := range t.known() {
		value, ok, err := t.store.Get(idRow(d, id))
		if err != nil {
			return call.Found{}, false, err
		}
		if ok {
			return t.at(d, string(value[placeSize:]), value[:placeSize])
		}
	}
	return call.Found{}, false, nil
}

// at reads the call at a place; it may have been dropped meanwhile.
func (t *Traces) at(d day, last6 string, place []byte) (call.Found, bool, error) {
	value, ok, err := t.store.Get(append(order(d, byLast6, last6), place...))
	if err != nil || !ok {
		return call.Found{}, false, err
	}
	found, err := decodeCall(last6, place, value)
	return found, true, err
}

// counts reports whether the accepted record is the first of its id.
func (t *Traces) counts(found call.Found) (bool, error) {
	if !found.Sent() {
		return true, nil
	}
	first, known, err := t.Find(found.CorrelationID)
	return known && first.Position == found.Position, err
}

// Search gives the calls that are looked for, the one received last first, at most
// limit of them, from behind the place where a page before ended. next is where
// this one ends, or empty when nothing is left; a page may be short, or empty, and
// still have a next.
func (t *Traces) Search(s call.Search, after string, limit int) (found []call.Found, next string, err error) {
	p := page{traces: t, search: s, limit: limit, kind: byLast6, of: s.Last6}
	if s.TraceID != "" {
		p.kind, p.of = byTrace, s.TraceID
	}
	begin := day(1<<32 - 1)
	if !s.To.IsZero() {
		begin = dayOf(s.To)
	}
	if after != "" {
		if len(after) != 4+placeSize {
			return nil, "", fault.New(fault.Invalid, "cursor must be the next of an answer before.")
		}
		begin = min(begin, day(binary.BigEndian.Uint32([]byte(after))))
	}
	for _, d := range slices.Backward(t.known()) {
		if d > begin {
			continue
		}
		if !s.From.IsZero() && d < dayOf(s.From) || p.next != "" {
			break
		}
		if err := p.read(d, p.start(d, after)); err != nil {
			return nil, "", err
		}
	}
	return p.found, p.next, nil
}

// page is a page of calls that is being read.
type page struct {
	traces *Traces
	search call.Search
	kind   byte
	of     string
	limit  int

	looked int
	found  []call.Found
	// last is where the row stands that was looked at last, and end the last call.
	last, end, next string
}

// start is the key behind which the page begins in a day; nil is its first.
func (p *page) start(d day, after string) []byte {
	prefix := order(d, p.kind, p.of)
	switch {
	case after != "" && binary.BigEndian.Uint32([]byte(after)) == uint32(d):
		return append(prefix, after[4:]...)
	case !p.search.To.IsZero():
		return appendBackwards(prefix, p.search.To)
	}
	return nil
}

// read goes on with a day until the page ends.
func (p *page) read(d day, after []byte) error {
	prefix := order(d, p.kind, p.of)
	var failed error
	err := p.traces.store.Scan(prefix, after, func(key, value []byte) bool {
		place := key[len(prefix):]
		if p.looked == maxLooked {
			p.next = p.last
			return false
		}
		p.looked++
		p.last = string(binary.BigEndian.AppendUint32(nil, uint32(d))) + string(place)
		found, ok, err := p.take(d, place, value)
		switch {
		case err != nil:
			failed = err
			return false
		case !ok:
			return true
		case len(p.found) == p.limit:
			p.next = p.end
			return false
		}
		p.found, p.end = append(p.found, found), p.last
		return true
	})
	return errors.Join(err, failed)
}

// take reads the call of a row, if it is looked for.
func (p *page) take(d day, place, value []byte) (found call.Found, ok bool, err error) {
	if p.kind == byLast6 {
		found, err = decodeCall(p.of, place, value)
		ok = err == nil
	} else {
		found, ok, err = p.traces.at(d, string(value), place)
	}
	if err != nil || !ok || !p.search.Takes(found.Accepted) {
		return found, false, err
	}
	ok, err = p.traces.counts(found)
	return found, ok, err
}
