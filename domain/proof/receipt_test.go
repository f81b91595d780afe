package proof_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"hooklog/domain/proof"
)

// receipt is that of record 8 in the tree of the golden checkpoint.
func receipt(t interface {
	Helper()
	Fatal(...any)
}, offset int64, head proof.Head,
) proof.Receipt {
	t.Helper()
	var hashes stored
	var tree proof.Tree
	for range head.Begun {
		absent := proof.Hash(tlog.RecordHash(nil))
		hashes = append(hashes, tree.Append(absent)...)
	}
	for i := head.Begun; i < head.Size; i++ {
		r := recordAt(i)
		hashes = append(hashes, tree.Append(proof.LeafHash(&r))...)
	}
	siblings, err := tlog.ProveRecord(head.Size, offset, hashes)
	if err != nil {
		t.Fatal(err)
	}
	out := proof.Receipt{Record: recordAt(offset), Checkpoint: checkpoint().Text() + "\n— signature\n"}
	for _, h := range siblings {
		out.Proof = append(out.Proof, proof.Hash(h))
	}
	return out
}

func TestTheJSONOfAReceiptStaysForEver(t *testing.T) {
	want := golden(t, "receipt.json")
	r := receipt(t, 8, grown(6, 11))
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := json.Indent(&got, data, "", "  "); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got.String()+"\n"); diff != "" {
		t.Errorf("the receipt changed (-want +got):\n%s", diff)
	}
	var back proof.Receipt
	if err := json.Unmarshal([]byte(want), &back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, back); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if err := back.Check(checkpoint()); err != nil {
		t.Errorf("the golden receipt is refused: %v", err)
	}
}

func TestAReceiptLeadsToTheRoot(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		begun := rapid.Int64Range(0, 100).Draw(t, "begun")
		size := begun + rapid.Int64Range(1, 100).Draw(t, "records")
		offset := rapid.Int64Range(begun, size-1).Draw(t, "offset")
		head := grown(begun, size)
		r := receipt(t, offset, head)
		if err := r.Check(proof.Checkpoint{Heads: []proof.Head{head}}); err != nil {
			t.Fatal(err)
		}
		if len(r.Proof) > 0 {
			r.Proof[rapid.IntRange(0, len(r.Proof)-1).Draw(t, "hash")][0]++
			if err := r.Check(proof.Checkpoint{Heads: []proof.Head{head}}); err == nil {
				t.Fatal("another proof was taken")
			}
		}
	})
}

func TestCheckRefusesAReceiptOfAnythingElse(t *testing.T) {
	for name, spoil := range map[string]func(*proof.Receipt){
		"another value":           func(r *proof.Receipt) { r.Record.Value = []byte("9") },
		"another key":             func(r *proof.Receipt) { r.Record.Key = nil },
		"another header":          func(r *proof.Receipt) { r.Record.Headers[0].Value = []byte("x") },
		"another time":            func(r *proof.Receipt) { r.Record.Time = r.Record.Time.Add(time.Millisecond) },
		"another offset":          func(r *proof.Receipt) { r.Record.Offset = 9 },
		"an offset not covered":   func(r *proof.Receipt) { r.Record.Offset = 11 },
		"an offset before it all": func(r *proof.Receipt) { r.Record.Offset = 5 },
		"another partition":       func(r *proof.Receipt) { r.Record.Partition = 1 },
		"another topic":           func(r *proof.Receipt) { r.Record.Topic = "svc.command" },
		"a hash more":             func(r *proof.Receipt) { r.Proof = append(r.Proof, proof.Hash{}) },
		"a hash less":             func(r *proof.Receipt) { r.Proof = r.Proof[1:] },
		"no proof":                func(r *proof.Receipt) { r.Proof = nil },
	} {
		t.Run(name, func(t *testing.T) {
			r := receipt(t, 8, grown(6, 11))
			spoil(&r)
			if err := r.Check(checkpoint()); err == nil {
				t.Error("it was taken")
			}
		})
	}
}

func TestTheJSONOfAReceiptIsReadStrictly(t *testing.T) {
	text := golden(t, "receipt.json")
	for name, spoilt := range map[string]string{
		"another form":               strings.Replace(text, "receipt/1", "receipt/2", 1),
		"a member that is not known": strings.Replace(text, `"form"`, `"more": 1, "form"`, 1),
		"a hash that is too short":   strings.Replace(text, `"proof": [`, `"proof": ["AAAA",`, 1),
		"a finer time":               strings.Replace(text, "07.89Z", "07.8900001Z", 1),
		"a member twice":             strings.Replace(text, `"offset"`, `"value": "AAAA", "offset"`, 1),
		"a member in another case":   strings.Replace(text, `"key"`, `"KEY"`, 1),
		"a second record":            strings.Replace(text, `"proof": [`, `"record": {}, "proof": [`, 1),
		"no object":                  "[]",
	} {
		t.Run(name, func(t *testing.T) {
			if spoilt == text {
				t.Fatal("nothing was spoilt")
			}
			if err := json.Unmarshal([]byte(spoilt), new(proof.Receipt)); err == nil {
				t.Error("it was read")
			}
		})
	}
}
