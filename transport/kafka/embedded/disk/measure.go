package disk

import (
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Measure gives the size of everything in the log's folder, and lists the
// segments that are new since the last time: from then on it is known when they
// are missing.
func (l *List) Measure() (int64, error) {
	// A segment counts from its second batch on: only then is it sure that the
	// first one was synced, and survives a power cut.
	return l.measure(func(size, first int64) bool { return size > first })
}

func (l *List) measure(counts func(size, first int64) bool) (total int64, err error) {
	if total, err = filesIn(filepath.Join(l.dir, LogFolder), func(string, int64) {}); err != nil {
		return 0, err
	}
	l.mu.Lock()
	topics := slices.Collect(maps.Keys(l.known.topics))
	l.mu.Unlock()
	var fresh []segment
	for _, topic := range topics {
		bytes, err := filesIn(l.folder(topic), func(name string, size int64) {
			base, is := baseOf(name, recordsSuffix)
			if !is || l.hasSegment(topic, base) {
				return
			}
			if head, first := headOf(filepath.Join(l.folder(topic), name)); first > 0 && counts(size, first) {
				fresh = append(fresh, segment{Topic: topic, Base: base, Head: head})
			}
		})
		if err != nil {
			return 0, err
		}
		total += bytes
	}
	return total, l.mark(fresh)
}

func (l *List) hasSegment(topic string, base int64) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, there := l.known.segments[topic][base]
	return there
}

func (l *List) mark(fresh []segment) error {
	lines := make([]line, 0, len(fresh))
	for i := range fresh {
		lines = append(lines, line{Segment: &fresh[i]})
	}
	if err := l.append(lines); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range fresh {
		l.known.add(s)
	}
	return nil
}

// filesIn visits the files of a folder and adds their sizes up. The broker goes
// on meanwhile, so that a file may be gone by now.
func filesIn(folder string, visit func(name string, size int64)) (total int64, err error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return 0, err
		}
		total += info.Size()
		visit(e.Name(), info.Size())
	}
	return total, nil
}

// headOf gives a segment's head and the size of its first batch, 0 where that is
// not there yet.
func headOf(path string) (head uint32, first int64) {
	f, err := os.Open(path)
	if err != nil {
		return 0, 0
	}
	defer func() { _ = f.Close() }()
	var header [batchHeader]byte
	if _, err := io.ReadFull(f, header[:]); err != nil {
		return 0, 0
	}
	return crc32.Checksum(header[:], castagnoli), sizeOf(header[:])
}
