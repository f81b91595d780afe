package verify_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"hooklog/cmd/verify"
	"hooklog/domain/proof"
	"hooklog/domain/record"
)

// receipt is that of the call at an offset of svc.call/0.
func (w *world) receipt(offset int64) proof.Receipt {
	w.t.Helper()
	var hashes []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		found := make([]tlog.Hash, len(indexes))
		for i, index := range indexes {
			found[i] = hashes[index]
		}
		return found, nil
	})
	size := int64(10) // of which the newest checkpoint knows
	for i, leaf := range w.leaves[calls0][:size] {
		more, err := tlog.StoredHashesForRecordHash(int64(i), tlog.Hash(leaf), reader)
		if err != nil {
			w.t.Fatal(err)
		}
		hashes = append(hashes, more...)
	}
	path, err := tlog.ProveRecord(size, offset, reader)
	if err != nil {
		w.t.Fatal(err)
	}
	r := proof.Receipt{Record: w.records[calls0][offset], Checkpoint: string(w.newest)}
	r.Record.Headers = slices.Clone(r.Record.Headers)
	for _, h := range path {
		r.Proof = append(r.Proof, proof.Hash(h))
	}
	return r
}

func TestReceipts(t *testing.T) {
	w := busy(t, 5)
	check := func(t *testing.T, change func(*proof.Receipt)) (verify.Proved, error) {
		t.Helper()
		r := w.receipt(7)
		change(&r)
		encoded, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return verify.CheckReceipt(encoded, w.key)
	}
	t.Run("a good one proves its record", func(t *testing.T) {
		proved, err := check(t, func(*proof.Receipt) {})
		if err != nil || proved.Topic != record.TopicCall || proved.Offset != 7 || proved.Signed.IsZero() {
			t.Fatal(proved, err)
		}
		var out strings.Builder
		if err := proved.Write(&out); err != nil || !strings.HasPrefix(out.String(), "Proved: svc.call/0@7 of ") {
			t.Error(out.String(), err)
		}
	})
	other, _ := newSigner(t, w.key.Name())
	for name, change := range map[string]func(*proof.Receipt){
		"another value":    func(r *proof.Receipt) { r.Record.Value = []byte("{}") },
		"another header":   func(r *proof.Receipt) { r.Record.Headers[0].Value = []byte("call.completed/1") },
		"another time":     func(r *proof.Receipt) { r.Record.Time = r.Record.Time.AddDate(0, 0, 1) },
		"another offset":   func(r *proof.Receipt) { r.Record.Offset = 6 },
		"an offset beyond": func(r *proof.Receipt) { r.Record.Offset = 10 },
		"another topic":    func(r *proof.Receipt) { r.Record.Topic = record.TopicSession },
		"another proof":    func(r *proof.Receipt) { r.Proof[1][0] ^= 1 },
		"a shorter proof":  func(r *proof.Receipt) { r.Proof = r.Proof[1:] },
		"another checkpoint": func(r *proof.Receipt) {
			r.Checkpoint = strings.Replace(r.Checkpoint, "\nsvc.call 0 10 ", "\nsvc.call 0 12 ", 1)
		},
		"a checkpoint of another key": func(r *proof.Receipt) { r.Checkpoint = string(w.sign(other)) },
		"no checkpoint":               func(r *proof.Receipt) { r.Checkpoint = "" },
	} {
		t.Run(name+" proves nothing", func(t *testing.T) {
			if proved, err := check(t, change); err == nil {
				t.Errorf("it proves %+v", proved)
			}
		})
	}
	for _, text := range []string{"", "{}", "null", `{"form":"hooklog-receipt/1"}`} {
		if _, err := verify.CheckReceipt([]byte(text), w.key); err == nil {
			t.Errorf("%q proves something", text)
		}
	}
}
