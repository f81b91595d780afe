//go:build faults

package faults_test

import (
	"encoding/binary"
	"hash/crc32"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/record"
	"hooklog/transport/kafka/embedded"
)

// recordsOf reads all records of a topic from the files of a stopped service.
func (f folder) recordsOf(t *testing.T, topic string) (all []record.Record) {
	t.Helper()
	offline, err := embedded.OpenOffline(string(f))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = offline.Close() }()
	end, err := offline.End(topic)
	if err == nil {
		err = offline.Read(topic, 0, end, func(run []record.Record) error {
			for _, r := range run { // which hold during the call only
				r.Key, r.Value, r.Headers = slices.Clone(r.Key), slices.Clone(r.Value), slices.Clone(r.Headers)
				for i := range r.Headers {
					r.Headers[i].Value = slices.Clone(r.Headers[i].Value)
				}
				all = append(all, r)
			}
			return nil
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// rewrite puts other records in the place of a topic's, as one would who knows the
// broker's files: offsets, lengths and checksums are right.
func (f folder) rewrite(t *testing.T, topic string, records []record.Record) {
	t.Helper()
	dir := f.partition(topic)
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	var raw []byte
	for i := range records {
		raw = append(raw, encodeBatch(&records[i], int64(i))...)
	}
	if err := os.WriteFile(filepath.Join(dir, "0.dat"), raw, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (f folder) partition(topic string) string {
	return filepath.Join(string(f), "log", "partitions", url.PathEscape(topic)+"-0")
}

// encodeBatch gives a batch of the one record at an offset.
func encodeBatch(r *record.Record, offset int64) []byte {
	one := kmsg.Record{Key: r.Key, Value: r.Value}
	for _, h := range r.Headers {
		one.Headers = append(one.Headers, kmsg.Header(h))
	}
	one.Length = int32(len(one.AppendTo(nil)) - 1) // the length itself was one byte
	batch := kmsg.RecordBatch{
		FirstOffset: offset, Magic: 2, NumRecords: 1,
		FirstTimestamp: r.Time.UnixMilli(), MaxTimestamp: r.Time.UnixMilli(),
		ProducerID: -1, ProducerEpoch: -1, FirstSequence: -1,
		Records: one.AppendTo(nil),
	}
	raw := batch.AppendTo(nil)
	binary.BigEndian.PutUint32(raw[8:], uint32(len(raw)-12))
	binary.BigEndian.PutUint32(raw[17:], crc32.Checksum(raw[21:], crc32.MakeTable(crc32.Castagnoli)))
	return raw
}
