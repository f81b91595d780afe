package disk_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"hooklog/transport/kafka/embedded"
	"hooklog/transport/kafka/embedded/disk"
)

// segments gives the bases of a topic's segments in order.
func segments(t testing.TB, dir, topic string) []int {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, partition(topic, "*.dat")))
	if err != nil {
		t.Fatal(err)
	}
	bases := make([]int, 0, len(paths))
	for _, path := range paths {
		base, err := strconv.Atoi(strings.TrimSuffix(filepath.Base(path), ".dat"))
		if err != nil {
			t.Fatal(err)
		}
		bases = append(bases, base)
	}
	slices.Sort(bases)
	return bases
}

func dat(topic string, base int) string { return partition(topic, strconv.Itoa(base)+".dat") }
func idx(topic string, base int) string { return partition(topic, strconv.Itoa(base)+".idx") }

// damages are done to a log by the files' names; first, middle and last are the
// bases of three of event A's segments.
type damager struct {
	t                   *testing.T
	dir                 string
	first, middle, last int
}

func (d *damager) path(name string) string { return filepath.Join(d.dir, name) }

func (d *damager) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *damager) remove(names ...string) {
	for _, name := range names {
		d.must(os.RemoveAll(d.path(name)))
	}
}

func (d *damager) copy(from, to string) {
	raw, err := os.ReadFile(d.path(from))
	d.must(err)
	d.must(os.WriteFile(d.path(to), raw, 0o600))
}

func (d *damager) swap(a, b string) {
	d.must(os.Rename(d.path(a), d.path("aside")))
	d.must(os.Rename(d.path(b), d.path(a)))
	d.must(os.Rename(d.path("aside"), d.path(b)))
}

func (d *damager) shorten(name string, by int64) {
	info, err := os.Stat(d.path(name))
	d.must(err)
	d.must(os.Truncate(d.path(name), info.Size()-by))
}

func (d *damager) edit(name, old, with string) {
	raw, err := os.ReadFile(d.path(name))
	d.must(err)
	if !strings.Contains(string(raw), old) {
		d.t.Fatalf("%s does not hold %q", name, old)
	}
	d.must(os.WriteFile(d.path(name), []byte(strings.Replace(string(raw), old, with, 1)), 0o600))
}

// damage is what is done, what the refusal names, and whether the rest may be
// gone on with.
type damage struct {
	do      func(*damager)
	names   string
	shorter bool
}

const lastSegmentMissing = "the last segment is missing"

var damages = map[string]damage{
	"the last batch is cut short":   {func(d *damager) { d.shorten(dat(eventA, d.last), 5) }, ".dat at byte", true},
	"the last batches are cut off":  {func(d *damager) { d.must(os.Truncate(d.path(dat(eventA, d.last)), 0)) }, ".dat at byte 0", true},
	"a middle segment is cut short": {func(d *damager) { d.shorten(dat(eventA, d.middle), 5) }, ".dat at byte", false},
	"the first segment is missing":  {func(d *damager) { d.remove(dat(eventA, d.first), idx(eventA, d.first)) }, "begins at offset", false},
	"a middle segment is missing":   {func(d *damager) { d.remove(dat(eventA, d.middle), idx(eventA, d.middle)) }, "begins at offset", false},
	lastSegmentMissing:              {func(d *damager) { d.remove(dat(eventA, d.last), idx(eventA, d.last)) }, "the segment is missing", true},
	"the last records are missing":  {func(d *damager) { d.remove(dat(eventA, d.last)) }, ".idx", true},
	"all segments are missing": {func(d *damager) {
		d.remove(partition(eventA, ""))
		d.must(os.Mkdir(d.path(partition(eventA, "")), 0o700))
	}, "the segment is missing", true},
	"a partition's folder is missing":  {func(d *damager) { d.remove(partition(eventA, "")) }, "folder of topic " + eventA, true},
	"an unused topic lost its folder":  {func(d *damager) { d.remove(partition(unused, "")) }, "folder of topic " + unused, true},
	"all folders are missing":          {func(d *damager) { d.remove("log/partitions") }, "is missing", true},
	"a segment stands there twice":     {func(d *damager) { d.copy(dat(eventA, d.first), partition(eventA, "00.dat")) }, "00.dat", false},
	"a segment is repeated at the end": {func(d *damager) { d.copy(dat(eventA, d.last), partition(eventA, "1000.dat")) }, "1000.dat", false},
	"a segment is repeated in between": {func(d *damager) { d.copy(dat(eventA, d.first), partition(eventA, "3.dat")) }, "begins at offset", false},
	"segments of a topic are swapped":  {func(d *damager) { d.swap(dat(eventA, d.first), dat(eventA, d.middle)) }, ".dat at byte 0", false},
	"segments of topics are swapped":   {func(d *damager) { d.swap(dat(eventA, d.middle), dat(eventB, d.middle)) }, "other records", false},
	"partitions are swapped":           {func(d *damager) { d.swap(partition(eventA, ""), partition(eventB, "")) }, "other records", false},
	"a partition of nobody":            {func(d *damager) { d.must(os.Mkdir(d.path(partition("svc.event.webhook.other", "")), 0o700)) }, "belongs to no topic", false},
	"a foreign file in a partition":    {func(d *damager) { d.copy(dat(eventA, d.first), partition(eventA, "0.dat.bak")) }, "0.dat.bak", false},
	"a foreign file in the log":        {func(d *damager) { d.copy("log/meta.json", "log/notes") }, "notes", false},
	"the topics are missing":           {func(d *damager) { d.remove("log/topics.json") }, "topics.json", false},
	"the topics are empty":             {func(d *damager) { d.must(os.Truncate(d.path("log/topics.json"), 0)) }, "topics.json", false},
	"a topic is not in the topics":     {func(d *damager) { d.edit("log/topics.json", eventA, "svc.event.webhook.c") }, eventA, false},
	"a topic has another retention":    {func(d *damager) { d.edit("log/topics.json", `"retention.ms":"-1"`, `"retention.ms":"31"`) }, "other settings", false},
	"a topic has more partitions":      {func(d *damager) { d.edit("log/topics.json", `"partitions":1`, `"partitions":9`) }, "9 partitions", false},
	"the name is missing":              {func(d *damager) { d.remove("log/meta.json") }, "meta.json", false},
	"the whole log is missing":         {func(d *damager) { d.remove("log") }, "meta.json", false},
	"the list is missing":              {func(d *damager) { d.remove("topics") }, "list of topics is missing", true},
	"the list is empty":                {func(d *damager) { d.must(os.Truncate(d.path("topics"), 0)) }, "list of topics is empty", true},
	"a topic is not in the list":       {func(d *damager) { dropLine(d, `"topic":{"name":"`+eventA) }, "not in the list", false},
	"the groups are missing":           {func(d *damager) { d.remove("log/groups.log") }, "groups.log", true},
	"a snapshot of other records": {func(d *damager) {
		d.edit(partition(eventA, "snapshot.json"), `"high_watermark":`, `"high_watermark":1`)
	}, "snapshot.json", false},
	"a snapshot that cannot be read": {func(d *damager) { d.shorten(partition(eventA, "snapshot.json"), 1) }, "snapshot.json", false},
}

// dropLine takes a line out of the list; each has its own checksum.
func dropLine(d *damager, with string) {
	raw, err := os.ReadFile(d.path("topics"))
	d.must(err)
	lines := slices.DeleteFunc(strings.SplitAfter(string(raw), "\n"), func(l string) bool { return strings.Contains(l, with) })
	d.must(os.WriteFile(d.path("topics"), []byte(strings.Join(lines, "")), 0o600))
}

func TestDamageIsRefusedAndLeftAsItIs(t *testing.T) {
	t.Parallel()
	for end, orderly := range map[string]bool{"after an orderly end": true, "after a kill": false} {
		t.Run(end, func(t *testing.T) {
			t.Parallel()
			origin := build(t, orderly)
			for name, tt := range damages {
				if name == lastSegmentMissing && !orderly {
					continue // it is told when the log was measured since
				}
				t.Run(name, func(t *testing.T) {
					bases := segments(t, origin, eventA)
					d := &damager{t, copied(t, origin), bases[0], bases[1], bases[len(bases)-1]}
					tt.do(d)
					before := files(t, d.dir)
					_, err := open(embedded.Config{Dir: d.dir})
					if !isRefused(t, d.dir, err, before) {
						t.Fatalf("it was not refused: %v", err)
					}
					if !strings.Contains(err.Error(), tt.names) || !strings.Contains(err.Error(), "data folder") {
						t.Errorf("the refusal does not tell enough: %v", err)
					}
					var found *disk.Damage
					errors.As(err, &found)
					if found.Shorter != tt.shorter || strings.Contains(err.Error(), "--accept-truncation") != tt.shorter {
						t.Errorf("shorter = %v: %v", found.Shorter, err)
					}
				})
			}
		})
	}
}

// What may be gone on with holds a beginning of every topic, and takes records.
func TestALossCanBeAccepted(t *testing.T) {
	t.Parallel()
	origin := build(t, true)
	whole, err := read(t, copied(t, origin))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range damages {
		t.Run(name, func(t *testing.T) {
			bases := segments(t, origin, eventA)
			d := &damager{t, copied(t, origin), bases[0], bases[1], bases[len(bases)-1]}
			tt.do(d)
			r, err := open(embedded.Config{Dir: d.dir, AcceptTruncation: true})
			if err != nil {
				if tt.shorter {
					t.Errorf("it is refused all the same: %v", err)
				}
				return
			}
			if !tt.shorter {
				t.Error("a broken log is taken for a shorter one")
			}
			left := r.read(t)
			for topic, records := range whole.Records {
				have := left.Records[topic]
				if len(have) > len(records) || !slices.Equal(have, records[:len(have)]) {
					t.Errorf("topic %s does not hold a beginning of its records", topic)
				}
			}
			r.append(t, 3, eventA)
			after := r.read(t)
			r.stop()
			again, err := read(t, d.dir)
			if err != nil {
				t.Fatalf("it was accepted, and is refused again: %v", err)
			}
			same(t, after, again)
		})
	}
}
