// Package store keeps the rows of the projections in Pebble. Everything in it
// can be folded again from the log, so nothing is synced; but rows and the
// checkpoint that says how far the log was folded are one batch, so a crash
// leaves a state that some prefix of the log gives. It knows no record's meaning.
package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/vfs"
)

const (
	cacheBytes = 128 << 20
	// memTableBytes is what is written to disk at a time. With half of it, writing
	// the same rows again as the store grows takes as much work as all else.
	memTableBytes = 32 << 20
	// format is named, because the newest one would lock an older release out.
	format = pebble.FormatTableFormatV6
)

// Store is the one Pebble of an instance.
type Store struct {
	db *pebble.DB
}

// Open opens or makes the store in dir on the file system; nil is the disk.
func Open(dir string, fs vfs.FS, log *slog.Logger) (*Store, error) {
	if fs == nil {
		fs = vfs.Default
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fmt.Errorf("make state folder: %w", err)
		}
	}
	return open(dir, &pebble.Options{FS: fs}, log)
}

// OpenReadOnly opens the store that is in dir, and writes nothing to it, not even
// a lock: the caller makes sure that nobody else does.
func OpenReadOnly(dir string, log *slog.Logger) (*Store, error) {
	return open(dir, &pebble.Options{
		FS: unlocked{vfs.Default}, ReadOnly: true, ErrorIfNotExists: true,
		// The read that finds it fails; who only looks can go on without.
		EventListener: &pebble.EventListener{DataCorruption: func(pebble.DataCorruptionInfo) {}},
	}, log)
}

// unlocked is a file system whose files are only read.
type unlocked struct{ vfs.FS }

func (unlocked) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

func open(dir string, opts *pebble.Options, log *slog.Logger) (*Store, error) {
	cache := pebble.NewCache(cacheBytes)
	defer cache.Unref() // the database holds its own reference
	opts.Cache = cache
	opts.MemTableSize = memTableBytes
	opts.FormatMajorVersion = format
	opts.Logger = logger{log}
	opts.Merger = firstCounts
	for i := range opts.Levels {
		opts.Levels[i].FilterPolicy = bloom.FilterPolicy(10)
	}
	db, err := pebble.Open(dir, opts)
	if err != nil {
		return nil, fmt.Errorf("open the projections; they can be made again from the log by deleting %s: %w", dir, err)
	}
	return &Store{db: db}, nil
}

// Close closes the store; no batch or scan may be under way.
func (s *Store) Close() error { return s.db.Close() }

// Stats are the state of the store.
type Stats struct {
	DiskBytes, MemTableBytes, CacheBytes uint64
	CacheHits, CacheMisses, Compactions  int64
	CompactionDebtBytes                  uint64
	// ReadAmplification is how many places a read has to look at.
	ReadAmplification int
}

// Stats looks at the store as it is now.
func (s *Store) Stats() Stats {
	m := s.db.Metrics()
	return Stats{
		DiskBytes: m.DiskSpaceUsage(), MemTableBytes: m.MemTable.Size, CacheBytes: uint64(m.BlockCache.Size),
		CacheHits: m.BlockCache.Hits, CacheMisses: m.BlockCache.Misses, Compactions: m.Compact.Count,
		CompactionDebtBytes: m.Compact.EstimatedDebt, ReadAmplification: m.ReadAmp(),
	}
}

// Get gives a copy of a row.
func (s *Store) Get(key []byte) ([]byte, bool, error) { return get(s.db, key) }

// Scan calls visit for each row whose key begins with prefix, in order, from the
// key after `after` on (nil: from the first), until visit returns false. Key and
// value are valid only during the call.
func (s *Store) Scan(prefix, after []byte, visit func(key, value []byte) bool) error {
	lower := prefix
	if after != nil {
		lower = append(bytes.Clone(after), 0)
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upperBound(prefix)})
	if err != nil {
		return err
	}
	for ok := it.First(); ok; ok = it.Next() {
		if !visit(it.Key(), it.Value()) {
			break
		}
	}
	return it.Close()
}

// Last gives a copy of the last row whose key begins with prefix.
func (s *Store) Last(prefix []byte) (key, value []byte, ok bool, err error) {
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: upperBound(prefix)})
	if err != nil {
		return nil, nil, false, err
	}
	if ok = it.Last(); ok {
		key, value = bytes.Clone(it.Key()), bytes.Clone(it.Value())
	}
	return key, value, ok, it.Close()
}

// ScanBack is Scan from the last row to the first, from the key before `before` on
// (nil: from the last).
func (s *Store) ScanBack(prefix, before []byte, visit func(key, value []byte) bool) error {
	upper := before
	if before == nil {
		upper = upperBound(prefix)
	}
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: upper})
	if err != nil {
		return err
	}
	for ok := it.Last(); ok; ok = it.Prev() {
		if !visit(it.Key(), it.Value()) {
			break
		}
	}
	return it.Close()
}

// Dump writes every row in order, for comparing two stores.
func (s *Store) Dump(w io.Writer) error {
	var failed error
	err := s.Scan(nil, nil, func(key, value []byte) bool {
		_, failed = fmt.Fprintf(w, "%q = %q\n", key, value)
		return failed == nil
	})
	return errors.Join(err, failed)
}

// NewBatch begins a batch; it must be committed or closed.
func (s *Store) NewBatch() *Batch { return &Batch{b: s.db.NewIndexedBatch()} }

// Batch collects changes and sees its own.
type Batch struct {
	b *pebble.Batch
}

// Get gives a copy of a row, with the changes of this batch.
func (b *Batch) Get(key []byte) ([]byte, bool, error) { return get(b.b, key) }

// Last gives a copy of the last row whose key begins with prefix and is not behind
// upTo, with the changes of this batch.
func (b *Batch) Last(prefix, upTo []byte) (value []byte, found bool, err error) {
	it, err := b.b.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: append(bytes.Clone(upTo), 0)})
	if err != nil {
		return nil, false, err
	}
	if found = it.Last(); found {
		value = bytes.Clone(it.Value())
	}
	return value, found, it.Close()
}

// Set writes a row.
func (b *Batch) Set(key, value []byte) error { return b.b.Set(key, value, nil) }

// Add writes a row unless there is one. It does not look: which of the two
// counts is found out when the row is read.
func (b *Batch) Add(key, value []byte) error { return b.b.Merge(key, value, nil) }

// Delete removes a row.
func (b *Batch) Delete(key []byte) error { return b.b.Delete(key, nil) }

// DeleteRange removes the rows from one key on, before the other.
func (b *Batch) DeleteRange(from, before []byte) error { return b.b.DeleteRange(from, before, nil) }

// Commit makes the changes visible, all at once.
func (b *Batch) Commit() error { return b.b.Commit(pebble.NoSync) }

// Close releases the batch, also after a commit.
func (b *Batch) Close() error { return b.b.Close() }

func get(r pebble.Reader, key []byte) ([]byte, bool, error) {
	value, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return bytes.Clone(value), true, closer.Close()
}

// upperBound is the first key behind all that begin with prefix; nil is no bound.
func upperBound(prefix []byte) []byte {
	end := bytes.Clone(prefix)
	for i := len(end) - 1; i >= 0; i-- {
		if end[i]++; end[i] != 0 {
			return end[:i+1]
		}
	}
	return nil
}

// logger passes on what Pebble finds wrong; its chatter about compactions is not
// for operators.
type logger struct{ log *slog.Logger }

func (logger) Infof(string, ...any) {}

func (l logger) Errorf(f string, args ...any) {
	l.log.Error("Pebble reports an error", "error", fmt.Sprintf(f, args...))
}

// Fatalf must not return: Pebble's state is unusable, and the log has everything.
func (l logger) Fatalf(f string, args ...any) {
	l.log.Error("Pebble cannot go on", "error", fmt.Sprintf(f, args...))
	panic("pebble: " + fmt.Sprintf(f, args...))
}
