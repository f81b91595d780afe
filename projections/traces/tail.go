package traces

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"maps"
	"slices"

	"hooklog/domain/call"
	"hooklog/domain/fault"
)

// progress is how far the calls of a key were read, by partition of svc.call.
type progress map[int32]reached

// reached is the next offset to read, and the day of the call in front of it.
type reached struct {
	next int64
	day  day
}

// progressForm is the first byte of every encoded progress, so that none is empty.
const progressForm = 1

func (p progress) encode() string {
	b := []byte{progressForm}
	for _, partition := range slices.Sorted(maps.Keys(p)) {
		b = binary.AppendUvarint(b, uint64(partition))
		b = binary.AppendUvarint(b, uint64(p[partition].next))
		b = binary.AppendUvarint(b, uint64(p[partition].day))
	}
	return string(b)
}

func decodeProgress(text string) (progress, error) {
	p := progress{}
	if text == "" {
		return p, nil
	}
	r := bytes.NewReader([]byte(text))
	form, err := r.ReadByte()
	for err == nil && form == progressForm && r.Len() > 0 {
		var numbers [3]uint64
		for i := range numbers {
			if numbers[i], err = binary.ReadUvarint(r); err != nil {
				break
			}
		}
		p[int32(numbers[0])] = reached{int64(numbers[1]), day(numbers[2])}
	}
	if err != nil || form != progressForm {
		return nil, fault.New(fault.Invalid, "cursor must be start or the next of an answer before.")
	}
	return p, nil
}

func (p progress) pass(s spot) {
	p[s.partition] = reached{s.offset + 1, max(s.day, p[s.partition].day)}
}

// End is the place behind all calls of a key.
func (t *Traces) End(eventKey string) (place string, err error) {
	end := progress{}
	for _, d := range t.known() {
		spots, err := t.lastSpots(d, eventKey)
		if err != nil {
			return "", err
		}
		for _, s := range spots {
			if s.offset >= end[s.partition].next {
				end.pass(s)
			}
		}
	}
	return end.encode(), nil
}

// Tail gives the calls of a key behind a place to take, one after the other and at
// most limit of them, until one is not taken: those of each partition in the order
// of the log. The empty place is in front of all that is kept; next is the place
// behind those that were taken.
func (t *Traces) Tail(eventKey, after string, limit int, take func(call.Found) bool) (next string, err error) {
	read, err := decodeProgress(after)
	if err != nil {
		return "", err
	}
	behind, err := t.behind(eventKey, read, limit)
	if err != nil {
		return "", err
	}
	for range limit {
		s, ok := behind.next()
		if !ok {
			break
		}
		found, ok, err := t.at(s.day, s.last6, s.place)
		if err == nil && ok {
			ok, err = t.counts(found)
		}
		if err != nil {
			return "", err
		}
		if ok && !take(found) {
			break
		}
		read.pass(s)
	}
	return read.encode(), nil
}

// spots are the calls of a key by partition, in the order of the log.
type spots map[int32][]spot

// next takes the first call of the partition whose first was received first: so no
// partition keeps the others waiting.
func (b spots) next() (first spot, ok bool) {
	for _, partition := range slices.Sorted(maps.Keys(b)) {
		// Places sort the latest first.
		if s := b[partition]; len(s) > 0 && (!ok || bytes.Compare(s[0].place, first.place) > 0) {
			first, ok = s[0], true
		}
	}
	if ok {
		b[first.partition] = b[first.partition][1:]
	}
	return first, ok
}

// behind reads the first calls behind what was read, up to the limit for each
// partition. A call is on the log less than a day after it was received. So the
// offsets of two days in a row may overlap, but no others.
func (t *Traces) behind(eventKey string, read progress, limit int) (spots, error) {
	all, full := spots{}, map[int32]day{}
	for _, d := range t.known() {
		last, err := t.lastSpots(d, eventKey)
		if err != nil {
			return nil, err
		}
		for _, end := range last {
			p := end.partition
			if d+1 < read[p].day || end.offset < read[p].next {
				continue
			}
			if enough, ok := full[p]; ok && d > enough+1 {
				continue
			}
			more, err := t.spots(d, eventKey, p, read[p].next, limit)
			if err != nil {
				return nil, err
			}
			all[p] = append(all[p], more...)
			if _, ok := full[p]; !ok && len(all[p]) >= limit {
				full[p] = d
			}
		}
	}
	for _, s := range all {
		slices.SortFunc(s, func(a, b spot) int { return cmp.Compare(a.offset, b.offset) })
	}
	return all, nil
}
