package record_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hooklog/domain/record"
)

func sample() record.Record {
	return record.Record{
		Position:    record.Position{Topic: "svc.call", Partition: 3, Offset: 4294967298},
		LeaderEpoch: 9,
		Time:        time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC),
		Key:         []byte("k1"),
		Headers: []record.Header{
			{Key: "svc-type", Value: []byte("call.accepted/1")},
			{Key: "svc-type", Value: nil},
		},
		Value: []byte(`{"a":1}`),
	}
}

func TestWireNamesStayForEver(t *testing.T) {
	want := []string{"svc.command", "svc.call", "svc.access", "svc.checkpoint", "svc.event.webhook.a", "svc-type", "svc-min-reader", "svc-trace-id", "svc-last6", "svc-event-key", "svc-depth", "traceparent", "tracestate"}
	got := []string{
		record.TopicCommand, record.TopicCall, record.TopicAccess, record.TopicCheckpoint, record.EventTopic("webhook.a"),
		record.HeaderType, record.HeaderMinReader, record.HeaderTraceID, record.HeaderLast6, record.HeaderEventKey, record.HeaderDepth, record.HeaderTraceparent, record.HeaderTracestate,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("wire names changed (-want +got):\n%s", diff)
	}
}

func TestHeaderGivesTheFirstOfItsKey(t *testing.T) {
	r := record.Record{Headers: []record.Header{
		{Key: "a", Value: []byte("1")}, {Key: "b", Value: []byte("2")}, {Key: "a", Value: []byte("3")},
	}}
	for key, want := range map[string]string{"a": "1", "b": "2", "A": "", "c": ""} {
		if got := r.Header(key); got != want {
			t.Errorf("header %q = %q, want %q", key, got, want)
		}
	}
}

func TestPositionIsReadable(t *testing.T) {
	if got, want := sample().Position.String(), "svc.call/3@4294967298"; got != want {
		t.Errorf("position = %q, want %q", got, want)
	}
}

// The golden file is one part of the leaf a line, in hex. Every proof that was
// ever given out depends on it.
func TestTheLeafEncodingStaysForEver(t *testing.T) {
	text, err := os.ReadFile("testdata/leaf.hex")
	if err != nil {
		t.Fatal(err)
	}
	want, err := hex.DecodeString(strings.Join(strings.Fields(string(text)), ""))
	if err != nil {
		t.Fatal(err)
	}
	r := sample()
	if diff := cmp.Diff(hex.Dump(want), hex.Dump(record.Leaf(&r))); diff != "" {
		t.Errorf("the leaf changed (-want +got):\n%s", diff)
	}
	if got := record.LeafDigest(&r); got != sha256.Sum256(want) {
		t.Errorf("the leaf's digest is not the SHA-256 of the golden leaf: %x", got)
	}
	t.Run("where it was read from and by which leader is no part of it", func(t *testing.T) {
		r.LeaderEpoch++
		r.Time = r.Time.In(time.FixedZone("elsewhere", 3600))
		if !bytes.Equal(record.Leaf(&r), want) {
			t.Error("the leaf depends on leader epoch or time zone")
		}
	})
}

func TestTheContentDigestIsOfTheLeafsEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := records().Draw(t, "record")
		leaf := record.Leaf(&r)
		// Topic, partition, offset, time and key stand before the content.
		before := 8 + len(r.Topic) + 4 + 8 + 8 + 8 + len(r.Key)
		if got := record.ContentDigest(r.Headers, r.Value); got != sha256.Sum256(leaf[before:]) {
			t.Fatalf("content digest %x is not the SHA-256 of headers and value in the leaf", got)
		}
	})
}

func TestDifferentRecordsHaveDifferentLeaves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := records().Draw(t, "a"), records().Draw(t, "b")
		same := cmp.Equal(a, b, cmp.Comparer(bytes.Equal))
		if equal := bytes.Equal(record.Leaf(&a), record.Leaf(&b)); equal != same {
			t.Fatalf("leaves equal: %v, records equal: %v", equal, same)
		}
	})
}

// records draws from so few parts that bytes often wander from one part to its
// neighbour, and that equal records occur.
func records() *rapid.Generator[record.Record] {
	text := rapid.SampledFrom([]string{"", "a", "aa", "\x00", "\x00\x00\x00\x00\x00\x00\x00\x01a"})
	return rapid.Custom(func(t *rapid.T) record.Record {
		r := record.Record{
			Position: record.Position{
				Topic:     text.Draw(t, "topic"),
				Partition: rapid.Int32Range(0, 1).Draw(t, "partition"),
				Offset:    rapid.Int64Range(0, 1).Draw(t, "offset"),
			},
			Time:  time.UnixMilli(rapid.Int64Range(0, 1).Draw(t, "time")),
			Key:   []byte(text.Draw(t, "key")),
			Value: []byte(text.Draw(t, "value")),
		}
		for range rapid.IntRange(0, 2).Draw(t, "headers") {
			r.Headers = append(r.Headers, record.Header{Key: text.Draw(t, "header"), Value: []byte(text.Draw(t, "header value"))})
		}
		return r
	})
}
