package checkpoints_test

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"hooklog/domain/proof"
	"hooklog/domain/record"
	"hooklog/transport/checkpoints"
	"hooklog/transport/keyring"
)

// world is a log of one proved topic beside svc.checkpoint, as instances share it.
type world struct {
	t    testing.TB
	key  proof.Key
	ring *keyring.Ring

	mu     sync.Mutex
	topics map[string][]record.Record
	broken error
}

func newWorld(t testing.TB) *world {
	t.Helper()
	path := filepath.Join(t.TempDir(), "ring")
	if err := keyring.Create(path); err != nil {
		t.Fatal(err)
	}
	ring, err := keyring.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	key, err := checkpoints.NewKey(ring, "c1")
	if err != nil {
		t.Fatal(err)
	}
	return &world{t: t, key: key, ring: ring, topics: map[string][]record.Record{}}
}

func (w *world) breakLog(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.broken = err
}

func (w *world) Bounds(_ context.Context, topic string) ([]record.Bounds, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return []record.Bounds{{End: int64(len(w.topics[topic]))}}, w.broken
}

func (w *world) ReadAt(_ context.Context, at record.Position) (record.Record, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if records := w.topics[at.Topic]; at.Offset < int64(len(records)) {
		return records[at.Offset], w.broken
	}
	return record.Record{}, errors.New("there is no such record")
}

func (w *world) AppendWait(_ context.Context, r *record.Record) (record.Position, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.broken != nil {
		return record.Position{}, w.broken
	}
	r.Offset = int64(len(w.topics[r.Topic]))
	w.topics[r.Topic] = append(w.topics[r.Topic], *r)
	return r.Position, nil
}

// grow appends records to the proved topic.
func (w *world) grow(n int) {
	w.t.Helper()
	for range n {
		r := record.Record{Position: record.Position{Topic: record.TopicCall}, Time: time.UnixMilli(5), Value: []byte("x")}
		if _, err := w.AppendWait(context.Background(), &r); err != nil {
			w.t.Fatal(err)
		}
	}
}

// cut takes from a topic all but the first records.
func (w *world) cut(topic string, left int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.topics[topic] = slices.Clone(w.topics[topic][:left])
}

// signed are the checkpoints on the log, each opened with the public key.
func (w *world) signed() (all []proof.Checkpoint) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.topics[record.TopicCheckpoint] {
		all = append(all, w.open(string(r.Value)))
	}
	return all
}

func (w *world) open(signed string) proof.Checkpoint {
	w.t.Helper()
	verifier, err := note.NewVerifier(w.key.Public)
	if err != nil {
		w.t.Fatal(err)
	}
	opened, err := note.Open([]byte(signed), note.VerifierList(verifier))
	if err != nil {
		w.t.Fatal(err)
	}
	c, err := proof.ParseCheckpoint(opened.Text)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

// lines are log lines that may be read while more come.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// instance is one that folds the proved topic.
type instance struct {
	*checkpoints.Signer
	*trees
	lines *lines
}

func (w *world) instance(interval time.Duration, begun int64, sink checkpoints.Sink) *instance {
	w.t.Helper()
	i := &instance{trees: &trees{world: w, tree: proof.Begin(begun)}, lines: new(lines)}
	s, err := checkpoints.New(w.key, w.ring, interval, checkpoints.Deps{
		Log: slog.New(slog.NewTextHandler(i.lines, nil)), Now: time.Now,
		Trees: i.trees, Journal: w, Current: i.current, Sink: sink,
	})
	if err != nil {
		w.t.Fatal(err)
	}
	i.Signer = s
	return i
}

// trees is the tree of the proved topic, made anew for each question.
type trees struct {
	world   *world
	tree    proof.Tree
	adopted []proof.Head
	stuck   bool
}

// current folds all there is.
func (t *trees) current(context.Context) error {
	if !t.stuck {
		t.tree = t.upTo(int64(len(t.records())))
	}
	return nil
}

func (t *trees) records() []record.Record {
	t.world.mu.Lock()
	defer t.world.mu.Unlock()
	return t.world.topics[record.TopicCall]
}

func (t *trees) upTo(size int64) proof.Tree {
	tree := proof.Begin(t.tree.Begun())
	for _, r := range t.records()[min(tree.Begun(), size):size] {
		tree.Append(proof.LeafHash(&r))
	}
	return tree
}

func (t *trees) Heads() []proof.Head {
	return []proof.Head{proof.HeadOf(record.TopicCall, 0, &t.tree)}
}

func (t *trees) Adopt(h proof.Head) error {
	t.adopted = append(t.adopted, h)
	t.tree = proof.Begin(h.Begun)
	t.tree = t.upTo(int64(len(t.records())))
	return nil
}

func (t *trees) Root(_ string, _ int32, size int64) (proof.Hash, error) {
	tree := t.upTo(size)
	return tree.Root(), nil
}

// Prove knows the proof of the last record alone: its siblings are the edge of the
// tree before it, from right to left.
func (t *trees) Prove(at record.Position, size int64) ([]proof.Hash, error) {
	if at.Offset != size-1 {
		return nil, proof.ErrUnknown
	}
	tree := t.upTo(size - 1)
	siblings := tree.Edge()
	slices.Reverse(siblings)
	return siblings, nil
}
