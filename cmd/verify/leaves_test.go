package verify_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"hooklog/cmd/verify"
	"hooklog/domain/proof"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	views "hooklog/projections/proof"
	"hooklog/projections/store"
)

// storedTrees is the folder of projections of a stopped service that has folded
// some calls, and their leaves.
func storedTrees(t *testing.T) (dir string, leaves []proof.Hash) {
	t.Helper()
	dir = t.TempDir()
	rows, err := store.Open(dir, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	trees, err := views.New(rows, record.TopicCall)
	if err != nil {
		t.Fatal(err)
	}
	var calls []record.Record
	for offset := range int64(1000) {
		r := record.Record{Position: record.Position{Topic: record.TopicCall, Offset: offset}, Value: []byte("call")}
		calls, leaves = append(calls, r), append(leaves, proof.LeafHash(&r))
	}
	b := &fold.Batch{Batch: rows.NewBatch()}
	if _, err := trees.Fold(b, calls); err != nil {
		t.Fatal(err)
	}
	if err := b.Commit(); err != nil {
		t.Fatal(err)
	}
	if err := rows.Close(); err != nil {
		t.Fatal(err)
	}
	rows, err = store.Open(dir, nil, slog.New(slog.DiscardHandler)) // which makes a table of them
	if err == nil {
		err = rows.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, leaves
}

// Whoever changes the log can damage what was stored beside it: that must not end
// the check.
func TestStoredLeavesThatAreDamagedAreOfNoHelp(t *testing.T) {
	dir, want := storedTrees(t)
	read := func() ([]proof.Hash, error) {
		stored, err := verify.OpenStored(dir, slog.New(slog.DiscardHandler))
		if err != nil {
			return nil, err
		}
		defer func() { _ = stored.Close() }()
		return stored.Leaves(record.TopicCall, 0, 0, int64(len(want)))
	}
	if got, err := read(); err != nil || !slices.Equal(got, want) {
		t.Fatalf("%d leaves: %v", len(got), err)
	}
	tables, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	failed := 0
	for _, table := range tables {
		whole, err := os.ReadFile(table)
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			damaged := slices.Clone(whole)
			damaged[i*len(damaged)/10] ^= 1
			if err := os.WriteFile(table, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := read(); err != nil {
				failed++
			}
		}
		if err := os.WriteFile(table, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if failed == 0 {
		t.Error("no damage was noticed")
	}
}
