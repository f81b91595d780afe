package verify

import (
	"errors"
	"log/slog"
	"os"

	"golang.org/x/mod/sumdb/tlog"

	"hooklog/domain/proof"
	views "hooklog/projections/proof"
	"hooklog/projections/store"
)

// Stored are the leaves in the projections of a service that is stopped.
type Stored struct{ rows *store.Store }

// OpenStored opens the folder of the projections, which nothing is written to. It
// gives nil where there are none.
func OpenStored(dir string, log *slog.Logger) (*Stored, error) {
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	rows, err := store.OpenReadOnly(dir, log)
	if err != nil {
		return nil, err
	}
	return &Stored{rows}, nil
}

// Close closes the projections.
func (s *Stored) Close() error { return s.rows.Close() }

// Leaves is for Leaves.
func (s *Stored) Leaves(topic string, partition int32, from, to int64) ([]proof.Hash, error) {
	indexes := make([]int64, 0, to-from)
	for offset := from; offset < to; offset++ {
		indexes = append(indexes, tlog.StoredHashIndex(0, offset))
	}
	found, err := views.NewReader(s.rows, topic, partition).ReadHashes(indexes)
	if err != nil {
		return nil, err
	}
	leaves := make([]proof.Hash, len(found))
	for i, h := range found {
		leaves[i] = proof.Hash(h)
	}
	return leaves, nil
}
