package proof_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	domain "hooklog/domain/proof"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/proof"
	"hooklog/projections/store"
)

func looked(partition int32, n int) record.Record {
	return record.Record{
		Position: record.Position{Topic: record.TopicAccess, Partition: partition},
		Time:     time.UnixMilli(int64(n)),
		Key:      []byte("key"),
		Headers:  []record.Header{{Key: record.HeaderType, Value: []byte("access.look/1")}},
		Value:    []byte(strconv.Itoa(n)),
	}
}

func history(n int) []record.Record {
	records := make([]record.Record, n)
	for i := range records {
		records[i] = looked(int32(i%3/2), i)
	}
	return records
}

func TestTheTreesAreAProjection(t *testing.T) {
	projectiontest.Run(t, projectiontest.Contract{
		New:            func(s *store.Store) (fold.Projection, error) { return proof.New(s, record.TopicAccess) },
		History:        history(50),
		DecodesNothing: true,
	})
}

// tree is the tree of the log's partition from an offset on, made in another way.
func tree(t testing.TB, log *projectiontest.Log, partition int32, tree domain.Tree, size int64) domain.Head {
	t.Helper()
	for offset := tree.Size(); offset < size; offset++ {
		r, err := log.ReadAt(t.Context(), record.Position{Topic: record.TopicAccess, Partition: partition, Offset: offset})
		if err != nil {
			t.Fatal(err)
		}
		tree.Append(domain.LeafHash(&r))
	}
	return domain.HeadOf(record.TopicAccess, partition, &tree)
}

func folded(t *testing.T, s *store.Store, log *projectiontest.Log) (*proof.Trees, *fold.Runner) {
	t.Helper()
	trees, err := proof.New(s, record.TopicAccess)
	if err != nil {
		t.Fatal(err)
	}
	r := projectiontest.Start(t, trees, s, log)
	if err := r.Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	return trees, r
}

func sameHead(t *testing.T, got, want domain.Head) {
	t.Helper()
	if got.Root != want.Root || got.Size != want.Size || got.Begun != want.Begun || !slices.Equal(got.Edge, want.Edge) {
		t.Errorf("head %d of size %d begun at %d with root %x, want size %d begun at %d with root %x",
			got.Partition, got.Size, got.Begun, got.Root, want.Size, want.Begun, want.Root)
	}
}

func TestEveryRecordCanBeProvedInEveryLaterTree(t *testing.T) {
	const size = 90
	s, log := projectiontest.OpenStore(t), projectiontest.NewLog(record.TopicAccess, 2)
	log.Append(history(size * 3 / 2)...)
	trees, _ := folded(t, s, log)
	heads := trees.Heads()
	if len(heads) != 2 || heads[0].Partition != 0 || heads[1].Partition != 1 {
		t.Fatalf("heads %+v, want those of two partitions in their order", heads)
	}
	sameHead(t, heads[0], tree(t, log, 0, domain.Tree{}, size))
	rapid.Check(t, func(rt *rapid.T) {
		at := rapid.Int64Range(1, size).Draw(rt, "size")
		offset := rapid.Int64Range(0, at-1).Draw(rt, "offset")
		proved(t, trees, log, offset, tree(t, log, 0, domain.Tree{}, at))
	})
	if _, err := trees.Prove(0, size, size+1); !errors.Is(err, domain.ErrUnknown) {
		t.Errorf("a record that is not folded is proved: %v", err)
	}
	if _, err := trees.Prove(0, 5, 5); err == nil {
		t.Error("a record is proved to lie in a tree that ends before it")
	}
}

// proved proves the record of partition 0 and checks the proof, also as others do.
func proved(t *testing.T, trees *proof.Trees, log *projectiontest.Log, offset int64, head domain.Head) {
	t.Helper()
	siblings, err := trees.Prove(0, offset, head.Size)
	if err != nil {
		t.Fatalf("offset %d in size %d: %v", offset, head.Size, err)
	}
	r, err := log.ReadAt(t.Context(), record.Position{Topic: record.TopicAccess, Offset: offset})
	if err != nil {
		t.Fatal(err)
	}
	if err := (domain.Receipt{Record: r, Proof: siblings}).Check(domain.Checkpoint{Heads: []domain.Head{head}}); err != nil {
		t.Errorf("offset %d in size %d: %v", offset, head.Size, err)
	}
	outside := make(tlog.RecordProof, len(siblings))
	for i, h := range siblings {
		outside[i] = tlog.Hash(h)
	}
	if err := tlog.CheckRecord(outside, head.Size, tlog.Hash(head.Root), offset, tlog.Hash(domain.LeafHash(&r))); err != nil {
		t.Errorf("offset %d in size %d: %v", offset, head.Size, err)
	}
	root, err := trees.Root(0, head.Size)
	if err != nil || root != head.Root {
		t.Errorf("root at size %d is %x: %v", head.Size, root, err)
	}
}

func TestATreeWhoseBeginningHasExpiredIsBegunAtTheFirstRecordThatIsLeft(t *testing.T) {
	s, log := projectiontest.OpenStore(t), projectiontest.NewLog(record.TopicAccess, 2)
	log.Append(history(60)...)
	log.DeleteBefore(0, 13)
	trees, _ := folded(t, s, log)
	head := tree(t, log, 0, domain.Begin(13), 40)
	sameHead(t, trees.Heads()[0], head)
	for offset := int64(13); offset < 40; offset++ {
		proved(t, trees, log, offset, head)
	}
}

func TestAdopt(t *testing.T) {
	for _, signedAt := range []int64{13, 14, 16, 27, 40, 45} {
		t.Run("from size "+strconv.FormatInt(signedAt, 10), func(t *testing.T) {
			s, log := projectiontest.OpenStore(t), projectiontest.NewLog(record.TopicAccess, 2)
			log.Append(history(90)...) // 60 of partition 0
			signed, whole := tree(t, log, 0, domain.Tree{}, signedAt), tree(t, log, 0, domain.Tree{}, 60)
			log.Truncate(0, 40)
			log.DeleteBefore(0, 13)
			trees, r := folded(t, s, log)
			if err := trees.Adopt(signed); err != nil {
				t.Fatal(err)
			}
			var last record.Position
			for i, h := range history(90) {
				if h.Partition == 0 && i >= 60 {
					last = log.Append(h)
				}
			}
			if err := r.Wait(t.Context(), last); err != nil {
				t.Fatal(err)
			}
			sameHead(t, trees.Heads()[0], whole)
			for offset := signedAt; offset < 60; offset++ {
				proved(t, trees, log, offset, whole)
			}
			again, err := proof.New(s, record.TopicAccess)
			if err != nil {
				t.Fatal(err)
			}
			sameHead(t, again.Heads()[0], whole)
		})
	}
	t.Run("waits for the batch that is under way", func(t *testing.T) {
		s, log := projectiontest.OpenStore(t), projectiontest.NewLog(record.TopicAccess, 1)
		for n := range 9 {
			log.Append(looked(0, n))
		}
		signed, whole := tree(t, log, 0, domain.Tree{}, 6), tree(t, log, 0, domain.Tree{}, 9)
		trees, err := proof.New(s, record.TopicAccess)
		if err != nil {
			t.Fatal(err)
		}
		var records []record.Record
		for offset := int64(4); offset < 9; offset++ {
			r, _ := log.ReadAt(t.Context(), record.Position{Topic: record.TopicAccess, Offset: offset})
			records = append(records, r)
		}
		batch := &fold.Batch{Batch: s.NewBatch()}
		committed, err := trees.Fold(batch, records)
		if err != nil {
			t.Fatal(err)
		}
		if err := trees.Adopt(signed); err != nil {
			t.Fatal(err)
		}
		if heads := trees.Heads(); len(heads) != 0 {
			t.Errorf("heads before the commit: %+v", heads)
		}
		if err := errors.Join(batch.Commit(), batch.Close()); err != nil {
			t.Fatal(err)
		}
		committed()
		sameHead(t, trees.Heads()[0], whole)
	})
	t.Run("refuses a head that ends before the tree begins", func(t *testing.T) {
		s, log := projectiontest.OpenStore(t), projectiontest.NewLog(record.TopicAccess, 2)
		log.Append(history(60)...)
		signed := tree(t, log, 0, domain.Tree{}, 12)
		log.DeleteBefore(0, 13)
		trees, _ := folded(t, s, log)
		before := trees.Heads()[0]
		if err := trees.Adopt(signed); err == nil {
			t.Error("it was adopted")
		}
		sameHead(t, trees.Heads()[0], before)
	})
}

func TestARowThatWasChangedIsNoTree(t *testing.T) {
	key := store.Key("proof", "head", record.TopicAccess, store.Ordered(0))
	for name, row := range map[string][]byte{
		"too short":            {1, 2, 3},
		"with another edge":    bytes.Repeat([]byte{1}, 16+32),
		"of a size without it": binary.BigEndian.AppendUint64(make([]byte, 8), 7),
	} {
		t.Run(name, func(t *testing.T) {
			s := projectiontest.OpenStore(t)
			b := s.NewBatch()
			if err := errors.Join(b.Set(key, row), b.Commit(), b.Close()); err != nil {
				t.Fatal(err)
			}
			if _, err := proof.New(s, record.TopicAccess); err == nil {
				t.Error("it was taken")
			}
		})
	}
}

func TestAForestFindsTheTreesOfATopic(t *testing.T) {
	s := projectiontest.OpenStore(t)
	var forest proof.Forest
	for _, topic := range []string{record.TopicCall, record.TopicAccess} {
		trees, err := proof.New(s, topic)
		if err != nil {
			t.Fatal(err)
		}
		forest = append(forest, trees)
	}
	log := projectiontest.NewLog(record.TopicAccess, 1)
	log.Append(looked(0, 1), looked(0, 2))
	head := tree(t, log, 0, domain.Tree{}, 2)
	if err := forest.Adopt(head); err != nil {
		t.Fatal(err)
	}
	if heads := forest.Heads(); len(heads) != 1 || heads[0].Root != head.Root || heads[0].Topic != record.TopicAccess {
		t.Errorf("heads %+v", heads)
	}
	if root, err := forest.Root(record.TopicAccess, 0, 2); err != nil || root != head.Root {
		t.Errorf("root %x: %v", root, err)
	}
	if _, err := forest.Root("svc.other", 0, 2); err == nil {
		t.Error("a topic without trees has a root")
	}
	if _, err := forest.Prove(record.Position{Topic: record.TopicAccess}, 2); !errors.Is(err, domain.ErrUnknown) {
		t.Errorf("a record of before is proved: %v", err)
	}
}

// BenchmarkFold is the projection's own work, without the runner's.
func BenchmarkFold(b *testing.B) {
	const batch = 1000
	s := projectiontest.OpenStore(b)
	trees, err := proof.New(s, record.TopicCall)
	if err != nil {
		b.Fatal(err)
	}
	records := make([]record.Record, batch)
	for i := range records {
		records[i] = looked(0, i)
		records[i].Topic, records[i].Value = record.TopicCall, make([]byte, 600)
	}
	var folded int64
	b.ReportAllocs()
	for b.Loop() {
		for i := range records {
			records[i].Offset = folded
			folded++
		}
		rows := &fold.Batch{Batch: s.NewBatch()}
		committed, err := trees.Fold(rows, records)
		if err := errors.Join(err, rows.Commit(), rows.Close()); err != nil {
			b.Fatal(err)
		}
		committed()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(folded), "ns/record")
}
