package disk

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// partitions checks the folder of every topic's partition, and that there are no
// others.
func (c *check) partitions(topics []Topic) error {
	folder := filepath.Join(c.dir, LogFolder, partitionsFolder)
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	owners := make(map[string]bool, len(topics))
	for i := range topics {
		owners[folderOf(topics[i].Name)] = true
	}
	for _, e := range entries {
		if !owners[e.Name()] {
			return whole(filepath.Join(folder, e.Name()), "it belongs to no topic")
		}
	}
	for i := range topics {
		p := partition{check: c, topic: topics[i].Name, folder: filepath.Join(folder, folderOf(topics[i].Name))}
		if err := p.run(); err != nil {
			return err
		}
	}
	return nil
}

// partition is the check of one partition's folder.
type partition struct {
	*check
	topic  string
	folder string

	bases   []int64        // of the segments, in order
	indexes map[int64]bool // by base
	known   map[int64]uint32
	snap    snapshot
	ends    map[int64]int64 // by base, the next offset where it has the snapshot's size
}

func (p *partition) run() error {
	isListed := false
	if p.list != nil {
		_, isListed = p.list.topics[p.topic]
		p.known = p.list.segments[p.topic]
	}
	err := p.names()
	if errors.Is(err, os.ErrNotExist) && isListed {
		return p.accept(whole(p.folder, "the folder of topic %s is missing", p.topic).shorter())
	}
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if p.snap, err = readSnapshot(filepath.Join(p.folder, snapshotFile)); err != nil {
		return err
	}
	if err := p.segments(); err != nil {
		return err
	}
	if err := p.complete(); err != nil {
		return err
	}
	if p.list != nil && !isListed && p.scan.next > 0 {
		return whole(p.folder, "topic %s has records, and is not in the list of topics", p.topic)
	}
	return nil
}

func (p *partition) names() error {
	entries, err := os.ReadDir(p.folder)
	if err != nil {
		return err
	}
	p.indexes = make(map[int64]bool)
	for _, e := range entries {
		base, isRecords := baseOf(e.Name(), recordsSuffix)
		ofIndex, isIndex := baseOf(strings.TrimSuffix(e.Name(), temporarySuffix), indexSuffix)
		switch {
		case isRecords:
			p.bases = append(p.bases, base)
		case isIndex && strings.HasSuffix(e.Name(), temporarySuffix):
		case isIndex:
			p.indexes[ofIndex] = true
		case strings.TrimSuffix(e.Name(), temporarySuffix) == snapshotFile:
		default:
			return foreign(filepath.Join(p.folder, e.Name()))
		}
	}
	slices.Sort(p.bases)
	return nil
}

// segments reads all segments in order.
func (p *partition) segments() error {
	p.scan.begin()
	p.ends = make(map[int64]int64)
	for i, base := range p.bases {
		path := filepath.Join(p.folder, fileOf(base, recordsSuffix))
		if base != p.scan.next {
			return whole(path, "the segment begins at offset %d where %d is next", base, p.scan.next)
		}
		was := p.snap.sizeOf(base)
		found, err := p.scan.segment(path, base, func(size, next int64) {
			if size == was {
				p.ends[base] = next
			}
		})
		if err != nil {
			return err
		}
		if err := p.judge(path, found, i == len(p.bases)-1); err != nil {
			return err
		}
		delete(p.indexes, base)
	}
	return nil
}

// complete looks for what is missing: segments of which an index, the list or
// the last snapshot knows.
func (p *partition) complete() error {
	for base := range p.indexes {
		path := filepath.Join(p.folder, fileOf(base, indexSuffix))
		if err := p.accept(whole(path, "the records of this index are missing").shorter()); err != nil {
			return err
		}
		p.remove(path)
	}
	for base := range p.known {
		if _, there := slices.BinarySearch(p.bases, base); !there {
			path := filepath.Join(p.folder, fileOf(base, recordsSuffix))
			if err := p.accept(whole(path, "the segment is missing").shorter()); err != nil {
				return err
			}
		}
	}
	if p.snap.fits(p.ends) {
		return nil
	}
	path := filepath.Join(p.folder, snapshotFile)
	if p.scan.next >= p.snap.End {
		return whole(path, "it does not fit the records")
	}
	p.remove(path)
	return p.accept(whole(path, "it knows of records up to offset %d, and the log ends at %d", p.snap.End, p.scan.next).shorter())
}

// judge decides what a segment's flaw means.
func (p *partition) judge(path string, found *scanned, last bool) error {
	indexPath := filepath.Join(p.folder, fileOf(found.base, indexSuffix))
	index, err := os.ReadFile(indexPath)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	confirmed := goesBeyond(index, found.batches)
	err = nil
	switch {
	case found.flaw == "" && !confirmed:
	case found.flaw == "":
		err = p.accept(at(path, found.whole, "the file ends here, and its index knows of more").shorter())
	case last && found.short && confirmed:
		err = p.accept(at(path, found.whole, "%s, and its index says that it was whole", found.flaw).shorter())
	case last && !confirmed && (found.short || p.zeros(path, found)):
		// The broker was at writing this batch, and has not confirmed it.
	default:
		err = at(path, found.whole, "%s", found.flaw)
	}
	if err != nil {
		return err
	}
	if err := p.identify(path, found); err != nil {
		return err
	}
	// The index goes first: without its word, a crash in between leaves a torn
	// write.
	if !bytes.Equal(index, found.index) {
		p.rewrite(indexPath, found.index)
	}
	if found.whole < found.size {
		p.cut(path, found.whole, found.size)
	}
	return nil
}

// identify tells the segment from another one that would fit in its place.
func (p *partition) identify(path string, found *scanned) error {
	head, known := p.known[found.base]
	switch {
	case known && found.batches == 0:
		return p.accept(at(path, 0, "the segment had records and has none").shorter())
	case known && head != found.head:
		return at(path, 0, "the segment holds other records than before")
	case found.batches > 0:
		p.found.add(segment{Topic: p.topic, Base: found.base, Head: found.head})
	}
	return nil
}

// zeros reports that nothing but zeros follows the whole part, as a power cut
// may leave it; no more than one batch can be on its way.
func (p *partition) zeros(path string, found *scanned) bool {
	if found.size-found.whole > p.opts.MaxBatchBytes {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	rest, err := io.ReadAll(io.NewSectionReader(f, found.whole, found.size-found.whole))
	return err == nil && len(bytes.Trim(rest, "\x00")) == 0
}
