package disk

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/record"
)

const (
	// runBytes is about how much is read before its records are handed on.
	runBytes = 1 << 20
	// compression are the bits of a batch's attributes that name one.
	compression = 0x07
	// leastRecord is the size of a record without key, value and headers.
	leastRecord = 7
)

// Flaw says from which record on a partition cannot be read.
type Flaw struct {
	At     record.Position
	Reason string
}

func (f *Flaw) Error() string { return fmt.Sprintf("%s cannot be read: %s", f.At, f.Reason) }

// Reader reads the records of a folder whose broker is stopped. Unlike Check it
// believes the records alone: lists, indexes and snapshots are left aside, because
// whoever changes records can change these too. It writes nothing.
type Reader struct {
	dir      string
	maxBatch int64
}

// NewReader reads the log in a folder; no batch in it is larger than maxBatch.
func NewReader(dir string, maxBatch int64) *Reader { return &Reader{dir: dir, maxBatch: maxBatch} }

// Topics are those that have a folder, in order.
func (r *Reader) Topics() ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(r.dir, LogFolder, partitionsFolder))
	if err != nil {
		return nil, err
	}
	var topics []string
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), folderOf(""))
		topic, err := url.PathUnescape(name)
		if is && err == nil && e.IsDir() {
			topics = append(topics, topic)
		}
	}
	slices.Sort(topics)
	return topics, nil
}

// End is the offset behind the last record of a topic's partition; only the
// frames of the last segment are read. A write that was torn does not count.
func (r *Reader) End(topic string) (int64, error) {
	bases, err := r.bases(topic)
	if err != nil || len(bases) == 0 {
		return 0, err
	}
	next := bases[len(bases)-1]
	f, err := os.Open(r.path(topic, next))
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	var header [batchHeader]byte
	for pos := int64(0); pos+batchHeader <= info.Size(); {
		if _, err := f.ReadAt(header[:], pos); err != nil {
			return 0, err
		}
		size := sizeOf(header[:])
		if offsetOf(header[:]) != next || !r.possible(header[:]) || pos+size > info.Size() {
			break
		}
		pos += size
		next += recordsOf(header[:])
	}
	return next, nil
}

// Read hands on the records from one offset up to another, in runs that hold
// during the call only. It is a *Flaw that the files hold something else.
func (r *Reader) Read(topic string, from, to int64, visit func([]record.Record) error) error {
	bases, err := r.bases(topic)
	if err != nil {
		return err
	}
	s := stream{reader: r, at: record.Position{Topic: topic}, from: from, to: to, visit: visit}
	for i, base := range bases {
		last := i == len(bases)-1
		if !last && bases[i+1] <= from || s.at.Offset >= to {
			continue
		}
		if base != s.at.Offset && s.at.Offset >= from {
			return s.flaw("the segment with it is missing")
		}
		s.at.Offset = base
		if err := s.segment(r.path(topic, base), last); err != nil {
			return err
		}
	}
	if s.at.Offset < to {
		return s.flaw("the log ends before it")
	}
	return nil
}

func (r *Reader) path(topic string, base int64) string {
	return filepath.Join(r.dir, LogFolder, partitionsFolder, folderOf(topic), fileOf(base, recordsSuffix))
}

// bases are those of a topic's segments, in order.
func (r *Reader) bases(topic string) (bases []int64, err error) {
	entries, err := os.ReadDir(filepath.Join(r.dir, LogFolder, partitionsFolder, folderOf(topic)))
	for _, e := range entries {
		if base, is := baseOf(e.Name(), recordsSuffix); is {
			bases = append(bases, base)
		}
	}
	slices.Sort(bases)
	return bases, err
}

// stream is one Read.
type stream struct {
	reader   *Reader
	at       record.Position // what comes next
	from, to int64
	visit    func([]record.Record) error

	batches []byte // whole ones, up to at
	first   int64  // the offset of the first of them
	run     []record.Record
	headers []record.Header
}

func (s *stream) flaw(reason string) *Flaw { return &Flaw{At: s.at, Reason: reason} }

func (s *stream) segment(path string, last bool) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	in := bufio.NewReaderSize(f, readBufferSize)
	s.first = s.at.Offset
	for s.at.Offset < s.to {
		more, err := s.batch(in, last)
		if err != nil {
			return errors.Join(s.hand(), err)
		}
		if !more {
			break
		}
		if len(s.batches) >= runBytes {
			if err := s.hand(); err != nil {
				return err
			}
		}
	}
	return s.hand()
}

// batch takes the next batch, and reports false at the end. The last segment may
// end with a write that was torn.
func (s *stream) batch(in *bufio.Reader, last bool) (bool, error) {
	header, err := in.Peek(batchHeader)
	switch {
	case errors.Is(err, io.EOF) && (len(header) == 0 || last):
		return false, nil
	case errors.Is(err, io.EOF):
		return false, s.flaw("its segment ends inside a batch")
	case err != nil:
		return false, err
	}
	size, records := sizeOf(header), recordsOf(header)
	switch {
	case last && len(bytes.Trim(header, "\x00")) == 0:
		return false, nil
	case offsetOf(header) != s.at.Offset:
		return false, s.flaw(fmt.Sprintf("a batch has offset %d in its place", offsetOf(header)))
	case !s.reader.possible(header):
		return false, s.flaw("its batch has an impossible form")
	}
	begin := len(s.batches)
	s.batches = slices.Grow(s.batches, int(size))[:begin+int(size)]
	_, err = io.ReadFull(in, s.batches[begin:])
	if errors.Is(err, io.ErrUnexpectedEOF) {
		s.batches = s.batches[:begin]
		if last {
			return false, nil
		}
		return false, s.flaw("its segment ends inside a batch")
	}
	s.at.Offset += records
	return true, err
}

// possible reports that a header is such as the broker writes: also in what no
// checksum covers, without compression, and with no more records than fit.
func (r *Reader) possible(header []byte) bool {
	size, records := sizeOf(header), recordsOf(header)
	plain := binary.BigEndian.Uint32(header[12:]) == 0 && header[16] == batchMagic && header[22]&compression == 0
	return plain && size >= batchHeader && size <= r.maxBatch && records >= 1 && records <= (size-batchHeader)/leastRecord
}

func offsetOf(header []byte) int64 { return int64(binary.BigEndian.Uint64(header)) }

// recordsOf is the number of records of a batch.
func recordsOf(header []byte) int64 { return int64(int32(binary.BigEndian.Uint32(header[57:]))) }

// hand decodes the batches and hands their records on.
func (s *stream) hand() error {
	first, next, taken := s.first, s.at.Offset, s.batches
	s.first, s.batches = next, s.batches[:0]
	if first == next || next <= s.from {
		return nil
	}
	fetched, _ := kgo.ProcessFetchPartition(
		kgo.ProcessFetchPartitionOpts{Topic: s.at.Topic, Offset: first},
		&kmsg.FetchResponseTopicPartition{RecordBatches: taken}, nil, nil,
	)
	s.run, s.headers = s.run[:0], s.headers[:0]
	got := first
	for _, r := range fetched.Records {
		if r.Offset != got {
			break
		}
		if got >= s.from && got < s.to {
			s.take(r)
		}
		got++
	}
	if len(s.run) > 0 {
		if err := s.visit(s.run); err != nil {
			return err
		}
	}
	if got < next && got < s.to {
		reason := "its batch does not hold the records that it says"
		if fetched.Err != nil {
			reason = fetched.Err.Error()
		}
		return &Flaw{At: record.Position{Topic: s.at.Topic, Offset: got}, Reason: reason}
	}
	return nil
}

func (s *stream) take(r *kgo.Record) {
	begin := len(s.headers)
	for _, h := range r.Headers {
		s.headers = append(s.headers, record.Header(h))
	}
	s.run = append(s.run, record.Record{
		Position:    record.Position{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset},
		LeaderEpoch: r.LeaderEpoch,
		Time:        r.Timestamp.UTC(),
		Key:         r.Key,
		Headers:     s.headers[begin:len(s.headers):len(s.headers)],
		Value:       r.Value,
	})
}
