package verify_test

import (
	"os"
	"path/filepath"
	"testing"

	"hooklog/cmd/verify"
	"hooklog/domain/record"
)

// Whoever deletes the folder of a topic must not turn what is missing into what
// cannot be told.
func TestATopicWhoseFolderIsGoneIsAnEmptyOne(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "log", "partitions"), 0o700); err != nil {
		t.Fatal(err)
	}
	log, err := verify.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	w := busy(t, 2)
	opts := w.options()
	opts.Outside, opts.Leaves = w.newest, nil
	report, err := verify.Run(t.Context(), log, opts)
	if err != nil {
		t.Fatal(err)
	}
	if got := first(t, report); got != record.TopicCommand+"/0@0" {
		t.Errorf("found %s", got)
	}
}
