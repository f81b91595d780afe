package verify_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"hooklog/cmd/verify"
	"hooklog/domain/call"
	"hooklog/domain/proof"
	"hooklog/domain/record"
)

const eventKey = "webhook.orders"

var eventTopic = record.EventTopic(eventKey)

// part names a partition.
type part struct {
	topic string
	index int32
}

// world is a log in memory whose checkpoints are signed as a service does.
type world struct {
	t      *testing.T
	signer note.Signer
	key    note.Verifier
	now    time.Time
	// records are those of each partition that are left, from starts on.
	records map[part][]record.Record
	starts  map[part]int64
	trees   map[part]*proof.Tree
	leaves  map[part][]proof.Hash
	newest  []byte // signed
}

func newSigner(t *testing.T, name string) (note.Signer, note.Verifier) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	key, err := note.NewVerifier(public)
	if err != nil {
		t.Fatal(err)
	}
	return signer, key
}

func newWorld(t *testing.T) *world {
	w := &world{
		t: t, now: time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC),
		records: map[part][]record.Record{}, starts: map[part]int64{}, trees: map[part]*proof.Tree{}, leaves: map[part][]proof.Hash{},
	}
	w.signer, w.key = newSigner(t, "hooklog-0a1b2c3d")
	for _, p := range []part{
		{record.TopicCommand, 0},
		{record.TopicCall, 0},
		{record.TopicCall, 1},
		{record.TopicAccess, 0},
		{record.TopicCheckpoint, 0},
		{eventTopic, 0},
		{eventTopic, 1},
	} {
		w.records[p] = nil
	}
	return w
}

// busy is a world with some of everything: rounds of commands, calls and looks,
// each with a checkpoint a minute later, and records that are newer.
func busy(t *testing.T, rounds int) *world {
	w := newWorld(t)
	for round := range rounds {
		w.round(round)
		w.pass(time.Minute)
		w.checkpoint()
	}
	w.round(rounds)
	return w
}

func (w *world) pass(d time.Duration) { w.now = w.now.Add(d) }

func (w *world) round(n int) {
	for i := range 4 {
		w.append(part{record.TopicCommand, 0}, fmt.Appendf(nil, "command %d.%d", n, i))
		w.append(part{record.TopicAccess, 0}, fmt.Appendf(nil, "look %d.%d", n, i))
		w.call(int32(i % 2))
	}
}

func (w *world) append(p part, value []byte, headers ...record.Header) record.Record {
	w.pass(time.Millisecond)
	r := record.Record{
		Position: record.Position{Topic: p.topic, Partition: p.index, Offset: w.starts[p] + int64(len(w.records[p]))},
		Time:     w.now, Key: []byte("key"), Headers: headers, Value: value,
	}
	w.put(p, r)
	return r
}

func (w *world) put(p part, r record.Record) {
	w.records[p] = append(w.records[p], r)
	switch p.topic {
	case record.TopicCommand, record.TopicCall, record.TopicAccess:
		if w.trees[p] == nil {
			w.trees[p] = new(proof.Tree)
		}
		leaf := proof.LeafHash(&r)
		w.trees[p].Append(leaf)
		w.leaves[p] = append(w.leaves[p], leaf)
	}
}

// event appends an event that nobody accepts.
func (w *world) event(partition int32) record.Record {
	return w.append(part{eventTopic, partition}, []byte(`{"payload":"`+rand.Text()+`"}`), record.Header{Key: "ce_type", Value: []byte(eventKey)})
}

// call appends an event and its accepted record.
func (w *world) call(partition int32) {
	w.t.Helper()
	e := w.event(partition)
	p := part{record.TopicCall, partition}
	accepted, err := call.Accepted{
		CorrelationID: uuid.NewString(), TraceID: "abcdef:abcdefghij", EventKey: eventKey, Last6: "abcdef", Received: e.Time,
		Method: "POST", Event: call.EventAt(e.Position, record.ContentDigest(e.Headers, e.Value)),
	}.Encode(partition)
	if err != nil {
		w.t.Fatal(err)
	}
	accepted.Offset, accepted.Time = int64(len(w.records[p])), e.Time
	w.put(p, accepted)
}

func (w *world) checkpoint() {
	w.t.Helper()
	w.newest = w.sign(w.signer)
	w.append(part{record.TopicCheckpoint, 0}, w.newest)
}

func (w *world) sign(signer note.Signer) []byte {
	w.t.Helper()
	c := proof.Checkpoint{Origin: signer.Name(), Time: w.now}
	for _, topic := range []string{record.TopicAccess, record.TopicCall, record.TopicCommand} {
		for index := range int32(2) {
			if tree := w.trees[part{topic, index}]; tree != nil {
				c.Heads = append(c.Heads, proof.HeadOf(topic, index, tree))
			}
		}
	}
	signed, err := note.Sign(&note.Note{Text: c.Text()}, signer)
	if err != nil {
		w.t.Fatal(err)
	}
	return signed
}

// remove lets the first records of a partition go.
func (w *world) remove(p part, n int) {
	w.records[p] = w.records[p][n:]
	w.starts[p] += int64(n)
}

func (w *world) options() verify.Options {
	return verify.Options{Key: w.key, Leaves: w, Retention: func(string) time.Duration { return 0 }, Now: w.now}
}

func (w *world) verify(opts verify.Options) verify.Report {
	w.t.Helper()
	report, err := verify.Run(w.t.Context(), w, opts)
	if err != nil {
		w.t.Fatal(err)
	}
	return report
}

// Topics, Bounds, Read and Leaves are for verify.

func (w *world) Topics(context.Context) ([]string, error) {
	names := map[string]bool{}
	for p := range w.records {
		names[p.topic] = true
	}
	return slices.Collect(maps.Keys(names)), nil
}

func (w *world) Bounds(_ context.Context, topics ...string) (map[string][]record.Bounds, error) {
	all := map[string][]record.Bounds{}
	for _, topic := range topics {
		for index := int32(0); ; index++ {
			p := part{topic, index}
			records, there := w.records[p]
			if !there {
				break
			}
			all[topic] = append(all[topic], record.Bounds{Start: w.starts[p], End: w.starts[p] + int64(len(records))})
		}
	}
	return all, nil
}

func (w *world) Read(_ context.Context, topics map[string][]record.Bounds, visit func([]record.Record) error) (flaws []verify.Flaw, err error) {
	for topic, bounds := range topics {
		for i, b := range bounds {
			p := part{topic, int32(i)}
			for offset := b.Start; offset < b.End; offset += 3 {
				from, to := offset-w.starts[p], min(offset+3, b.End)-w.starts[p]
				run := slices.Clone(w.records[p][from:to])
				if err := visit(run); err != nil {
					return nil, err
				}
				clear(run) // it holds during the call only
			}
		}
	}
	return nil, nil
}

func (w *world) Leaves(topic string, partition int32, from, to int64) ([]proof.Hash, error) {
	return w.leaves[part{topic, partition}][from:to], nil
}
