package disk

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
)

// A batch stands on disk as on the wire, big-endian: first offset, length of
// what follows, leader epoch, magic, checksum of what follows, attributes, last
// offset's distance, first and greatest time, producer (id, epoch, sequence),
// number of records, records.
const (
	batchHeader    = 61
	lengthFrom     = 12 // the length counts from here
	sumFrom        = 21
	batchMagic     = 2
	readBufferSize = 256 << 10
)

// scanner reads the batches of one partition after the other.
type scanner struct {
	maxBatch int64
	reader   *bufio.Reader
	bytes    int64 // of all that was read

	// Of the partition at hand:
	next    int64 // the offset that must come
	started bool
	latest  int64 // the greatest time so far
}

func newScanner(maxBatch int64) *scanner {
	return &scanner{maxBatch: maxBatch, reader: bufio.NewReaderSize(nil, readBufferSize)}
}

// begin turns to another partition; every log begins at 0, since nothing is ever
// deleted from it.
func (s *scanner) begin() { s.next, s.started, s.latest = 0, false, 0 }

// scanned is what was found in a segment.
type scanned struct {
	base    int64
	size    int64 // of the file
	whole   int64 // the part of it that is in order
	batches int
	next    int64  // the offset after its last whole batch
	head    uint32 // see segment
	index   []byte // what its index must be
	flaw    string // of what follows the whole part
	short   bool   // the flaw: the file ends inside a batch
}

// segment reads one file; boundary is called after every batch with the bytes
// and the next offset so far.
func (s *scanner) segment(path string, base int64, boundary func(size, next int64)) (*scanned, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	found := &scanned{base: base, size: info.Size()}
	s.reader.Reset(f)
	for found.whole < found.size {
		n, flaw, err := s.batch(found)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if found.flaw = flaw; flaw != "" {
			break
		}
		found.whole += n
		found.batches++
		boundary(found.whole, s.next)
	}
	found.next = s.next
	s.bytes += found.size
	return found, nil
}

// batch reads the next batch and gives its size, or what is wrong with it.
func (s *scanner) batch(found *scanned) (size int64, flaw string, err error) {
	left := found.size - found.whole
	header, err := s.reader.Peek(int(min(left, batchHeader)))
	if err != nil {
		return 0, "", err
	}
	size, flaw = s.frame(header)
	if flaw != "" {
		return 0, flaw, nil
	}
	if size > left || left < batchHeader {
		found.short = true
		return 0, "the file ends inside a batch", nil
	}
	head := crc32.Checksum(header, castagnoli)
	sum := binary.BigEndian.Uint32(header[17:])
	distance := int64(int32(binary.BigEndian.Uint32(header[23:])))
	latest := int64(binary.BigEndian.Uint64(header[35:]))
	records := int64(int32(binary.BigEndian.Uint32(header[57:])))
	have, err := s.sum(size)
	switch {
	case err != nil:
		return 0, "", err
	case have != sum:
		return 0, "the checksum of the batch does not fit", nil
	case records < 1 || distance != records-1:
		return 0, "the batch has an impossible number of records", nil
	}
	if found.batches == 0 {
		found.head = head
	}
	if !s.started || latest > s.latest {
		s.started, s.latest = true, latest
	}
	s.next += records
	found.index = appendIndex(found.index, s.latest)
	return size, "", nil
}

// frame checks as much as there is of a header, and gives the batch's size, 0
// where even that is not there.
func (s *scanner) frame(header []byte) (size int64, flaw string) {
	if len(header) < lengthFrom {
		return 0, ""
	}
	offset := int64(binary.BigEndian.Uint64(header))
	size = sizeOf(header)
	switch {
	case offset != s.next:
		return 0, fmt.Sprintf("a batch has offset %d where %d is next", offset, s.next)
	case size < batchHeader || size > s.maxBatch:
		return 0, "the batch has an impossible length"
	case len(header) >= 16 && binary.BigEndian.Uint32(header[12:]) != 0:
		return 0, "the batch has an impossible leader epoch"
	case len(header) >= 17 && header[16] != batchMagic:
		return 0, "the batch has an unknown format"
	}
	return size, ""
}

// sizeOf reads a batch's size from its header.
func sizeOf(header []byte) int64 {
	return lengthFrom + int64(int32(binary.BigEndian.Uint32(header[8:])))
}

// sum computes the checksum of the batch that comes next, and passes it.
func (s *scanner) sum(size int64) (sum uint32, err error) {
	if _, err := s.reader.Discard(sumFrom); err != nil {
		return 0, err
	}
	for left := size - sumFrom; left > 0; {
		part, err := s.reader.Peek(int(min(left, readBufferSize)))
		if len(part) == 0 {
			return 0, errors.Join(err, io.ErrUnexpectedEOF)
		}
		sum = crc32.Update(sum, castagnoli, part)
		n, _ := s.reader.Discard(len(part))
		left -= int64(n)
	}
	return sum, nil
}
