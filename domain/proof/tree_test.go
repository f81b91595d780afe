package proof_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"hooklog/domain/proof"
	"hooklog/domain/record"
)

func recordAt(offset int64) record.Record {
	return record.Record{
		Position: record.Position{Topic: record.TopicCall, Partition: 2, Offset: offset},
		Time:     time.Date(2026, 3, 4, 5, 6, 7, 890_000_000, time.UTC),
		Key:      []byte("key"),
		Headers:  []record.Header{{Key: record.HeaderType, Value: []byte("call.accepted/1")}},
		Value:    []byte(strconv.FormatInt(offset, 10)),
	}
}

// stored is a list of stored hashes as another implementation reads them.
type stored []proof.Hash

func (s stored) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		hashes[i] = tlog.Hash(s[index])
	}
	return hashes, nil
}

func TestATreeIsThatOfTheCertificateLogs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(0, 300).Draw(t, "size")
		var tree proof.Tree
		var hashes stored
		for i := range size {
			r := recordAt(i)
			if got, want := proof.LeafHash(&r), proof.Hash(tlog.RecordHash(record.Leaf(&r))); got != want {
				t.Fatalf("leaf %d is %x, want %x", i, got, want)
			}
			want, err := tlog.StoredHashes(i, record.Leaf(&r), hashes)
			if err != nil {
				t.Fatal(err)
			}
			got := tree.Append(proof.LeafHash(&r))
			if !slices.EqualFunc(got, want, func(a proof.Hash, b tlog.Hash) bool { return a == proof.Hash(b) }) {
				t.Fatalf("leaf %d completed %x, want %x", i, got, want)
			}
			hashes = append(hashes, got...)
		}
		root, err := tlog.TreeHash(size, hashes)
		if err != nil {
			t.Fatal(err)
		}
		if tree.Size() != size || tree.Root() != proof.Hash(root) {
			t.Fatalf("size %d and root %x, want %d and %x", tree.Size(), tree.Root(), size, root)
		}
		resumed, err := proof.Resume(proof.HeadOf(record.TopicCall, 2, &tree))
		if err != nil {
			t.Fatal(err)
		}
		for i := range int64(9) {
			r := recordAt(size + i)
			resumed.Append(proof.LeafHash(&r))
			tree.Append(proof.LeafHash(&r))
		}
		if resumed.Root() != tree.Root() {
			t.Fatal("a tree that went on from its head has another root")
		}
	})
}

func TestATreeMayBeBegunLater(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		begun := rapid.Int64Range(0, 200).Draw(t, "begun")
		var whole proof.Tree
		for range begun {
			whole.Append(proof.Hash(tlog.RecordHash(nil)))
		}
		tree := proof.Begin(begun)
		if tree.Begun() != begun || tree.Size() != begun {
			t.Fatalf("begun at %d with size %d, want %d", tree.Begun(), tree.Size(), begun)
		}
		for i := range rapid.Int64Range(0, 50).Draw(t, "more") {
			r := recordAt(begun + i)
			whole.Append(proof.LeafHash(&r))
			tree.Append(proof.LeafHash(&r))
		}
		if tree.Root() != whole.Root() {
			t.Fatal("it is not the tree of absent leaves and those that came")
		}
		resumed, err := proof.Resume(proof.HeadOf("t", 0, &tree))
		if err != nil || resumed.Begun() != begun {
			t.Fatalf("resumed as begun at %d: %v", resumed.Begun(), err)
		}
	})
}

func TestResumeRefusesAHeadThatIsNone(t *testing.T) {
	for name, spoil := range map[string]func(*proof.Head){
		"with another root":            func(h *proof.Head) { h.Root[0]++ },
		"with another edge":            func(h *proof.Head) { h.Edge[0][0]++ },
		"with a hash more":             func(h *proof.Head) { h.Edge = append(h.Edge, proof.Hash{}) },
		"with a hash less":             func(h *proof.Head) { h.Edge = h.Edge[1:] },
		"of another size":              func(h *proof.Head) { h.Size = 8 },
		"of a negative size":           func(h *proof.Head) { h.Size = -5 },
		"that was begun behind itself": func(h *proof.Head) { h.Begun = h.Size + 1 },
		"that was begun before 0":      func(h *proof.Head) { h.Begun = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			h := grown(0, 7)
			spoil(&h)
			if _, err := proof.Resume(h); err == nil {
				t.Errorf("%+v was taken", h)
			}
		})
	}
}

// grown is the head of a tree of that size that was begun at an offset.
func grown(begun, size int64) proof.Head {
	tree := proof.Begin(begun)
	for i := begun; i < size; i++ {
		r := recordAt(i)
		tree.Append(proof.LeafHash(&r))
	}
	return proof.HeadOf(record.TopicCall, 2, &tree)
}

func BenchmarkAppend(b *testing.B) {
	var tree proof.Tree
	r := recordAt(0)
	r.Value = make([]byte, 500)
	b.ReportAllocs()
	for b.Loop() {
		r.Offset = tree.Size()
		tree.Append(proof.LeafHash(&r))
	}
}
