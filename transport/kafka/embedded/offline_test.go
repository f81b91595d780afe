package embedded_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"hooklog/domain/record"
	"hooklog/transport/kafka"
	"hooklog/transport/kafka/embedded"
)

func TestOfflineKeepsServicesAwayAndChangesNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	if _, err := embedded.OpenOffline(dir); err == nil {
		t.Fatal("a folder that is not there was opened")
	}
	lock, err := embedded.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	r := start(t, dir, false)
	if _, err := r.log.EnsureTopic(t.Context(), kafka.TopicSpec{Name: event, Partitions: 1, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	one := record.Record{Position: record.Position{Topic: event}, Time: time.Now(), Value: []byte("v")}
	if _, err := r.log.AppendWait(t.Context(), &one); err != nil {
		t.Fatal(err)
	}
	r.stop()
	if _, err := embedded.OpenOffline(dir); !errors.Is(err, embedded.ErrLocked) {
		t.Fatalf("a folder in use: %v", err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}

	reading, err := embedded.OpenOffline(dir)
	if err != nil {
		t.Fatal(err)
	}
	end, err := reading.End(event)
	if err != nil || end != 1 {
		t.Error(end, err)
	}
	if _, err := embedded.Lock(dir); !errors.Is(err, embedded.ErrLocked) {
		t.Errorf("a folder that is read was taken: %v", err)
	}
	also, err := embedded.OpenOffline(dir)
	if err != nil {
		t.Fatalf("a second reader: %v", err)
	}
	if err := errors.Join(also.Close(), reading.Close()); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "lock")); err != nil { // as in a copy of the log alone
		t.Fatal(err)
	}
	copied, err := embedded.OpenOffline(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := copied.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "lock")); !errors.Is(err, os.ErrNotExist) {
		t.Error("a lock was made")
	}
}
