package proof

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"

	"hooklog/domain/proof"
	"hooklog/projections/store"
)

const (
	hashBytes = len(proof.Hash{})
	// chunkHashes are in one row. A row of the newest hashes is written again with
	// each batch, so it is small.
	chunkHashes = 32
)

func headPrefix(topic string) []byte { return store.Key(name, "head", topic, "") }

func headRow(topic string, n int32) []byte {
	return store.Key(name, "head", topic, store.Ordered(uint64(n)))
}

func chunkRow(topic string, n int32, chunk int64) []byte {
	return store.Key(name, "hash", topic, store.Ordered(uint64(n))+store.Ordered(uint64(chunk)))
}

// A head's row holds where the tree was begun, its size, and its edge. The root
// follows from them.
func encodeHead(t *proof.Tree) []byte {
	edge := t.Edge()
	b := make([]byte, 0, 16+len(edge)*hashBytes)
	b = binary.BigEndian.AppendUint64(b, uint64(t.Begun()))
	b = binary.BigEndian.AppendUint64(b, uint64(t.Size()))
	for _, h := range edge {
		b = append(b, h[:]...)
	}
	return b
}

func decodeHead(topic string, n int32, row []byte) (proof.Head, error) {
	if len(row) < 16 || (len(row)-16)%hashBytes != 0 {
		return proof.Head{}, fmt.Errorf("the row of the head has %d bytes", len(row))
	}
	h := proof.Head{
		Topic: topic, Partition: n,
		Begun: int64(binary.BigEndian.Uint64(row)),
		Size:  int64(binary.BigEndian.Uint64(row[8:])),
	}
	for row = row[16:]; len(row) > 0; row = row[hashBytes:] {
		h.Edge = append(h.Edge, proof.Hash(row))
	}
	h.Root = proof.RootOf(h.Edge)
	return h, nil
}

func loadHeads(s *store.Store, topic string) ([]proof.Head, error) {
	prefix := headPrefix(topic)
	var heads []proof.Head
	var failed error
	err := s.Scan(prefix, nil, func(key, row []byte) bool {
		var h proof.Head
		h, failed = decodeHead(topic, int32(binary.BigEndian.Uint64(key[len(prefix):])), row)
		heads = append(heads, h)
		return failed == nil
	})
	return heads, errors.Join(err, failed)
}

// getter is a store, or a batch of it.
type getter interface {
	Get(key []byte) ([]byte, bool, error)
}

// chunks reads the hashes of one partition, by their place in the order in which
// they came to be. A place that was never written holds zeros.
type chunks struct {
	from   getter
	topic  string
	n      int32
	loaded map[int64][]byte
}

func (c *chunks) load(chunk int64) ([]byte, error) {
	if row, ok := c.loaded[chunk]; ok {
		return row, nil
	}
	row, _, err := c.from.Get(chunkRow(c.topic, c.n, chunk))
	if err != nil {
		return nil, err
	}
	c.loaded[chunk] = row
	return row, nil
}

func (c *chunks) get(index int64) (proof.Hash, error) {
	row, err := c.load(index / chunkHashes)
	if err != nil {
		return proof.Hash{}, err
	}
	at := int(index%chunkHashes) * hashBytes
	if len(row) < at+hashBytes {
		return proof.Hash{}, proof.ErrUnknown
	}
	h := proof.Hash(row[at:])
	if h == (proof.Hash{}) {
		return h, proof.ErrUnknown
	}
	return h, nil
}

// rows writes the hashes of one partition into a batch.
type rows struct {
	chunks
	batch *store.Batch
	dirty map[int64]bool
}

func newRows(b *store.Batch, topic string, n int32) *rows {
	return &rows{
		chunks: chunks{from: b, topic: topic, n: n, loaded: make(map[int64][]byte)},
		batch:  b, dirty: make(map[int64]bool),
	}
}

func (r *rows) set(index int64, h proof.Hash) error {
	chunk := index / chunkHashes
	row, err := r.load(chunk)
	if err != nil {
		return err
	}
	at := int(index%chunkHashes) * hashBytes
	for len(row) < at+hashBytes {
		row = append(row, make([]byte, at+hashBytes-len(row))...)
	}
	copy(row[at:], h[:])
	r.loaded[chunk], r.dirty[chunk] = row, true
	return nil
}

func (r *rows) leaf(offset int64) (proof.Hash, error) { return r.get(tlog.StoredHashIndex(0, offset)) }

// append grows the tree by a leaf and keeps what that completed: the hashes stand
// behind each other.
func (r *rows) append(t *proof.Tree, leaf proof.Hash) error {
	first := tlog.StoredHashIndex(0, t.Size())
	for i, h := range t.Append(leaf) {
		if err := r.set(first+int64(i), h); err != nil {
			return err
		}
	}
	return nil
}

// setEdge keeps the edge of a tree whose leaves are not known: with it every
// later leaf can be proved.
func (r *rows) setEdge(t *proof.Tree) error {
	var start int64
	for _, h := range t.Edge() {
		level := bits.Len64(uint64(t.Size()-start)) - 1
		if err := r.set(tlog.StoredHashIndex(level, start>>level), h); err != nil {
			return err
		}
		start += 1 << level
	}
	return nil
}

// flush puts what has changed into the batch.
func (r *rows) flush(t *proof.Tree) error {
	for chunk := range r.dirty {
		if err := r.batch.Set(chunkRow(r.topic, r.n, chunk), r.loaded[chunk]); err != nil {
			return err
		}
	}
	return r.batch.Set(headRow(r.topic, r.n), encodeHead(t))
}
