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

// progress is how far the calls of a key were read: the next offset of each
// partition of svc.call.
type progress map[int32]int64

// progressForm is the first byte of every encoded progress, so that none is empty.
const progressForm = 2

func (p progress) encode() string {
	b := []byte{progressForm}
	for _, partition := range slices.Sorted(maps.Keys(p)) {
		b = binary.AppendUvarint(b, uint64(partition))
		b = binary.AppendUvarint(b, uint64(p[partition]))
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
		var numbers [2]uint64
		for i := range numbers {
			if numbers[i], err = binary.ReadUvarint(r); err != nil {
				break
			}
		}
		p[int32(numbers[0])] = int64(numbers[1])
	}
	if err != nil || form != progressForm {
		return nil, fault.New(fault.Invalid, "cursor must be start or the next of an answer before.")
	}
	return p, nil
}

func (p progress) pass(s spot) { p[s.partition] = max(p[s.partition], s.offset+1) }

// End is the place behind all calls of a key.
func (t *Traces) End(eventKey string) (place string, err error) {
	end := progress{}
	for _, d := range t.known() {
		spots, err := t.lastSpots(d, eventKey)
		if err != nil {
			return "", err
		}
		for _, s := range spots {
			end.pass(s)
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
// partition. The days of a partition follow each other as the clocks of those went
// who wrote it: their offsets may overlap.
func (t *Traces) behind(eventKey string, read progress, limit int) (spots, error) {
	var heads []spot
	for _, d := range t.known() {
		own, err := t.heads(d, eventKey, read)
		if err != nil {
			return nil, err
		}
		heads = append(heads, own...)
	}
	slices.SortFunc(heads, byOffset)
	all := spots{}
	for _, head := range heads {
		own := all[head.partition]
		if len(own) == limit && own[limit-1].offset < head.offset {
			continue
		}
		more, err := t.spots(head.day, eventKey, head.partition, head.offset, limit)
		if err != nil {
			return nil, err
		}
		own = append(own, more...)
		slices.SortFunc(own, byOffset)
		all[head.partition] = own[:min(len(own), limit)]
	}
	return all, nil
}

func byOffset(a, b spot) int { return cmp.Compare(a.offset, b.offset) }
