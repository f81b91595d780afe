package store

import (
	"bytes"
	"io"

	"github.com/cockroachdb/pebble/v2"
)

// firstCounts is how Pebble joins a row with those that were added to it later.
// Its name stands in every store.
var firstCounts = &pebble.Merger{
	Name: "hooklog.first",
	Merge: func(_, value []byte) (pebble.ValueMerger, error) {
		return &first{bytes.Clone(value)}, nil
	},
}

// first is the oldest value that was seen.
type first struct{ value []byte }

func (*first) MergeNewer([]byte) error { return nil }

func (f *first) MergeOlder(value []byte) error {
	f.value = append(f.value[:0], value...)
	return nil
}

func (f *first) Finish(bool) ([]byte, io.Closer, error) { return f.value, nil, nil }
