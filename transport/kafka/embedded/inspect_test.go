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

func TestWhoHoldsAFolder(t *testing.T) {
	dir := t.TempDir()
	held := func(want bool) {
		t.Helper()
		if got, err := embedded.Held(dir); err != nil || got != want {
			t.Errorf("held is %v, %v", got, err)
		}
	}
	held(false)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("the look has left %v, %v", entries, err)
	}
	lock, err := embedded.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	held(true)
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	held(false)
	again, err := embedded.Lock(dir)
	if err != nil {
		t.Fatalf("the look has kept the lock: %v", err)
	}
	_ = again.Close()
}

func TestALogIsLookedAtFromOutside(t *testing.T) {
	dir := t.TempDir()
	if first, err := embedded.FirstRecords(dir, event); err != nil || len(first) != 0 {
		t.Errorf("an empty folder has %v, %v", first, err)
	}
	r := start(t, dir, false)
	defer r.stop()
	if _, err := r.log.EnsureTopic(t.Context(), kafka.TopicSpec{Name: event, Partitions: 1, Replication: 1}); err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"one", "two"} {
		_, err := r.log.AppendWait(t.Context(), &record.Record{
			Position: record.Position{Topic: event}, Time: time.UnixMilli(1_700_000_000_000),
			Headers: []record.Header{{Key: "h", Value: []byte("v")}}, Value: []byte(value),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	first, err := embedded.FirstRecords(dir, event)
	if err != nil || len(first) != 2 || string(first[1].Value) != "two" || first[1].Header("h") != "v" || first[1].Offset != 1 {
		t.Errorf("a running broker's log begins with %v, %v", first, err)
	}
	room, err := embedded.MeasureRoom(dir, 100<<20)
	if err != nil || room.EventTopics != 1 || room.Bytes == 0 || room.MaxBytes != 100<<20 || room.TopicLimit == 0 {
		t.Errorf("its room is %+v, %v", room, err)
	}

	r.stop()
	if torn, err := embedded.Scan(dir); err != nil || torn != 0 {
		t.Errorf("a log in order has %d bytes torn, %v", torn, err)
	}
	segment := filepath.Join(dir, "log", "partitions", event+"-0", "0.dat")
	if err := os.WriteFile(segment, []byte("no batch, and long enough for the header of one, or a little longer"), 0o600); err != nil {
		t.Fatal(err)
	}
	var damage *embedded.Damage
	if _, err := embedded.Scan(dir); !errors.As(err, &damage) || damage.Remedy() == "" {
		t.Errorf("a log in disorder is told as %v", err)
	}
	if first, err := embedded.FirstRecords(dir, event); err == nil {
		t.Errorf("a log in disorder begins with %v", first)
	}
}
