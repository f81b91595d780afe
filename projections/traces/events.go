package traces

import (
	"bytes"
	"slices"
	"strings"

	"hooklog/domain/call"
	"hooklog/domain/pipeline"
)

// NewestEvent finds the event that was received last of all whose keys fit the
// pattern and are readable, and its key.
func (t *Traces) NewestEvent(pattern string, readable func(key string) bool) (call.Event, string, bool, error) {
	for _, d := range slices.Backward(t.known()) {
		keys, err := t.fitting(d, pattern)
		if err != nil {
			return call.Event{}, "", false, err
		}
		var newest spot
		for _, key := range keys {
			if !readable(key) {
				continue
			}
			last, err := t.lastSpots(d, key)
			if err != nil {
				return call.Event{}, "", false, err
			}
			for _, s := range last {
				// Places sort the latest first.
				if newest.place == nil || bytes.Compare(s.place, newest.place) < 0 {
					newest = s
				}
			}
		}
		if newest.place == nil {
			continue
		}
		found, ok, err := t.at(d, newest.last6, newest.place)
		if err != nil || ok {
			return found.Event, found.EventKey, ok, err
		}
	}
	return call.Event{}, "", false, nil
}

// fitting are the keys that had calls on the day and fit the pattern.
func (t *Traces) fitting(d day, pattern string) (keys []string, err error) {
	wild := strings.IndexAny(pattern, "*#")
	if wild < 0 {
		return []string{pattern}, nil
	}
	kind := append(d.prefix(), byKey)
	// A # may stand for no group: then the dot in front of it is not there either.
	begin := append(bytes.Clone(kind), strings.TrimSuffix(pattern[:wild], ".")...)
	for after, found := []byte(nil), true; found; {
		found = false
		err = t.store.Scan(begin, after, func(row, _ []byte) bool {
			key, _, _ := strings.Cut(string(row[len(kind):]), "\x00")
			if pipeline.Match(pattern, key) {
				keys = append(keys, key)
			}
			after, found = append(order(d, byKey, key), pastAllSpots...), true
			return false
		})
		if err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// EventOfTrace finds the event that was received last of those that have the trace
// id and whose keys fit, and its key.
func (t *Traces) EventOfTrace(traceID string, fits func(key string) bool) (call.Event, string, bool, error) {
	s := call.Search{TraceID: traceID, Readable: fits}
	for after := ""; ; {
		found, next, err := t.Search(s, after, 1)
		switch {
		case err != nil:
			return call.Event{}, "", false, err
		case len(found) > 0 && found[0].Genuine():
			return found[0].Event, found[0].EventKey, true, nil
		case next == "":
			return call.Event{}, "", false, nil
		}
		after = next
	}
}
