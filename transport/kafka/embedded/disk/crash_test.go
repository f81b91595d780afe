package disk_test

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"hooklog/transport/kafka/embedded"
	"hooklog/transport/kafka/embedded/disk"
)

// The length of an index entry, and about that of one of build's batches.
const (
	entrySize = 15
	batchSize = 200
)

// crashes are states that a crash leaves, made from a log that was left by a
// kill; lost is how many of event A's records, never confirmed, are not there.
var crashes = map[string]struct {
	do   func(*damager)
	lost int
}{
	"nothing was on its way":                           {func(*damager) {}, 0},
	"a batch was written, and not yet its index entry": {func(d *damager) { d.shorten(idx(eventA, d.last), entrySize) }, 0},
	"an index entry was torn":                          {func(d *damager) { d.shorten(idx(eventA, d.last), 4) }, 0},
	"an index entry has no bytes yet": {func(d *damager) {
		d.shorten(idx(eventA, d.last), entrySize)
		d.extend(idx(eventA, d.last), make([]byte, entrySize))
	}, 0},
	"an index got stray bytes on a full disk": {func(d *damager) {
		raw, err := os.ReadFile(d.path(idx(eventA, d.last)))
		d.must(err)
		d.must(os.WriteFile(d.path(idx(eventA, d.last)), slices.Insert(raw, entrySize, 1, 7), 0o600))
	}, 0},
	"a batch was torn in its records": {func(d *damager) { d.tear(3) }, 1},
	"a batch was torn in its header":  {func(d *damager) { d.tear(batchSize - 30) }, 1},
	"a batch was torn in its length":  {func(d *damager) { d.tear(batchSize - 9) }, 1},
	"a batch has no bytes yet":        {func(d *damager) { d.extend(dat(eventA, d.last), make([]byte, 300)) }, 0},
	"a segment was just made":         {func(d *damager) { d.extend(dat(eventA, 60), nil) }, 0},
	"a segment was made with its index": {func(d *damager) {
		d.extend(dat(eventA, 60), nil)
		d.extend(idx(eventA, 60), nil)
	}, 0},
	"the first batch of a segment was torn": {func(d *damager) {
		raw, err := os.ReadFile(d.path(dat(eventA, d.last)))
		d.must(err)
		raw[7] = 60 // its first offset
		d.extend(dat(eventA, 60), raw[:90])
		d.extend(idx(eventA, 60), nil)
	}, 0},
	"a snapshot was being written":  {func(d *damager) { d.extend(partition(eventA, "snapshot.json.tmp"), []byte(`{"vers`)) }, 0},
	"the topics were being written": {func(d *damager) { d.extend("log/topics.json.tmp", []byte(`{"vers`)) }, 0},
	"the groups were being written": {func(d *damager) { d.extend("log/groups.log.tmp", []byte{9, 0}) }, 0},
	"a commit was torn": {func(d *damager) {
		d.extend("log/groups.log", []byte("\x40\x00\x00\x00abcd\x01\x00{\"type\":\"commit\",\"g"))
	}, 0},
	"a commit has no bytes yet":   {func(d *damager) { d.extend("log/groups.log", make([]byte, 40)) }, 0},
	"a line of the list was torn": {func(d *damager) { d.extend("topics", []byte(`00000000 {"topic":{"na`)) }, 0},
	"the list was being written":  {func(d *damager) { d.extend("topics.tmp", []byte(`00000000 {"topic":{"na`)) }, 0},
	"a new topic is not listed yet": {func(d *damager) {
		dropLine(d, `"topic":{"name":"`+unused)
		d.remove(partition(unused, ""))
	}, 0},
}

func (d *damager) extend(name string, with []byte) {
	f, err := os.OpenFile(d.path(name), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	d.must(err)
	_, err = f.Write(with)
	d.must(err)
	d.must(f.Close())
}

// tear takes bytes off the last batch, which has no index entry yet.
func (d *damager) tear(bytes int64) {
	d.shorten(dat(eventA, d.last), bytes)
	d.shorten(idx(eventA, d.last), entrySize)
}

func TestWhatACrashLeavesIsOpenedAndGoesOn(t *testing.T) {
	t.Parallel()
	origin := build(t, false)
	want, err := read(t, copied(t, origin))
	if err != nil {
		t.Fatal(err)
	}
	bases := segments(t, origin, eventA)
	if last := len(want.Records[eventA]); last != 60 {
		t.Fatalf("the log of event A ends at %d", last)
	}
	for name, tt := range crashes {
		t.Run(name, func(t *testing.T) {
			d := &damager{t, copied(t, origin), bases[0], bases[1], bases[len(bases)-1]}
			tt.do(d)
			r := mustOpen(t, d.dir)
			have := r.read(t)
			expected := want.Records[eventA][:60-tt.lost]
			if !slices.Equal(expected, have.Records[eventA]) {
				t.Errorf("event A has %d records", len(have.Records[eventA]))
			}
			have.Records[eventA] = want.Records[eventA]
			same(t, want, have)

			r.append(t, 12, eventA, unused)
			r.commit(t, "readers", eventA, 11)
			after := r.read(t)
			if n := len(after.Records[eventA]); n != 72-tt.lost {
				t.Errorf("after appending, event A has %d records", n)
			}
			if _, err := check(copied(t, d.dir)); err != nil {
				t.Errorf("a second crash: %v", err)
			}
			r.stop()
			again, err := read(t, d.dir)
			if err != nil {
				t.Fatal(err)
			}
			same(t, after, again)
		})
	}
}

func TestACutIsTold(t *testing.T) {
	t.Parallel()
	dir := build(t, false)
	bases := segments(t, dir, eventA)
	d := &damager{t, dir, bases[0], bases[1], bases[len(bases)-1]}
	d.tear(3)
	var lines bytes.Buffer
	r, err := open(embedded.Config{Dir: dir, Log: slog.New(slog.NewTextHandler(&lines, nil))})
	if err != nil {
		t.Fatal(err)
	}
	r.stop()
	said := lines.String()
	if !strings.Contains(said, "Cut a torn write") || !strings.Contains(said, dat(eventA, d.last)) || !strings.Contains(said, "bytes=2") {
		t.Errorf("the log says:\n%s", said)
	}
}

// On a full disk the broker begins a segment that stays empty, and names it in
// its snapshot.
func TestASegmentThatFoundNoRoomIsNoDamage(t *testing.T) {
	t.Parallel()
	origin := build(t, true)
	want, err := read(t, copied(t, origin))
	if err != nil {
		t.Fatal(err)
	}
	d := &damager{t: t, dir: origin}
	d.edit(partition(eventA, "snapshot.json"), "}]}", `},{"base_offset":60,"size":0}]}`)
	have, err := read(t, origin)
	if err != nil {
		t.Fatal(err)
	}
	same(t, want, have)
}

// The list cannot be written on a full disk, and the broker has run by then.
func TestAStartThatFailsChangesNothingForTheNext(t *testing.T) {
	t.Parallel()
	dir := build(t, true)
	want, err := read(t, copied(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	obstacle := filepath.Join(dir, "topics.tmp")
	if err := os.Mkdir(obstacle, 0o700); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if _, err := open(embedded.Config{Dir: dir}); err == nil || !strings.Contains(err.Error(), obstacle) {
			t.Fatalf("error %v", err)
		}
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	have, err := read(t, dir)
	if err != nil {
		t.Fatal(err)
	}
	same(t, want, have)
}

// The broker writes its files one by one at its first start; our list comes
// last.
func TestAFirstStartCanCrashAnywhere(t *testing.T) {
	t.Parallel()
	origin := t.TempDir()
	mustOpen(t, origin).stop()
	order := []string{
		"log/meta.json", "log/topics.json", "log/acls.json", "log/sasl.json", "log/broker_configs.json",
		"log/quotas.json", "log/groups.log", "log/pids.log", "log/seq_windows.json", "topics",
	}
	for written := range len(order) + 1 {
		dir := copied(t, origin)
		for _, name := range order[written:] {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if written < len(order) {
			write(t, dir, order[written]+".tmp", []byte("{"))
		}
		r := mustOpen(t, dir)
		if err := r.create(t.Context(), eventA); err != nil {
			t.Fatal(err)
		}
		r.append(t, 1, eventA)
		r.stop()
		if have, err := read(t, dir); err != nil || len(have.Records[eventA]) != 1 {
			t.Errorf("after %d files: %v", written, err)
		}
	}
}

func TestATopicIsListedBeforeItsFirstRecord(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := mustOpen(t, dir)
	defer r.stop()
	if err := r.create(t.Context(), eventA, eventB); err != nil {
		t.Fatal(err)
	}
	if _, err := check(copied(t, dir)); err != nil {
		t.Errorf("before a record: %v", err)
	}
	r.append(t, 1, eventB)
	killed := copied(t, dir)
	for _, topic := range []string{eventA, eventB} {
		if !strings.Contains(files(t, killed)["topics"], topic) {
			t.Errorf("%s is not listed", topic)
		}
	}
	if _, err := check(killed); err != nil {
		t.Error(err)
	}
}

// BenchmarkCheck is how fast a log is read before it is opened.
func BenchmarkCheck(b *testing.B) {
	dir := b.TempDir()
	r := mustOpen(b, dir)
	if _, err := r.admin.CreateTopics(b.Context(), 1, 1, nil, eventA, eventB); err != nil {
		b.Fatal(err)
	}
	fill(b, r, 256<<20)
	r.stop()
	for b.Loop() {
		checked, err := disk.Check(dir, disk.Options{MaxBatchBytes: 10 << 20})
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(checked.Bytes)
	}
}
