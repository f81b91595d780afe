package disk_test

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"hooklog/domain/record"
	"hooklog/transport/kafka/embedded/disk"
)

const maxBatch = 10 << 20

// readOffline reads a range of a topic as read would give it.
func readOffline(dir, topic string, from, to int64) (got []string, err error) {
	err = disk.NewReader(dir, maxBatch).Read(topic, from, to, func(run []record.Record) error {
		for i := range run {
			got = append(got, fmt.Sprint(run[i].Offset, " ", string(run[i].Value), run[i].Time.UnixMilli()))
		}
		return nil
	})
	return got, err
}

func TestAReaderReadsWhatTheBrokerWould(t *testing.T) {
	for _, orderly := range []bool{true, false} {
		t.Run(fmt.Sprintf("after an orderly end: %t", orderly), func(t *testing.T) {
			dir := build(t, orderly)
			before := files(t, dir)
			r := disk.NewReader(dir, maxBatch)
			topics, err := r.Topics()
			if want := []string{command, eventA, eventB, unused}; err != nil || !gocmp.Equal(want, topics) {
				t.Fatal(topics, err)
			}
			got := map[string][]string{}
			for _, topic := range topics {
				end, err := r.End(topic)
				if err != nil {
					t.Fatal(err)
				}
				if got[topic], err = readOffline(dir, topic, 0, end); err != nil {
					t.Fatal(err)
				}
			}
			if !gocmp.Equal(before, files(t, dir)) {
				t.Error("reading changed the folder")
			}
			want, err := read(t, dir)
			if err != nil {
				t.Fatal(err)
			}
			delete(got, unused)
			if diff := gocmp.Diff(want.Records, got); diff != "" {
				t.Errorf("(-broker +reader):\n%s", diff)
			}
			for _, span := range [][2]int64{{0, 1}, {7, 8}, {13, 44}, {59, 60}, {20, 20}} {
				part, err := readOffline(dir, eventA, span[0], span[1])
				if err != nil || !slices.Equal(part, want.Records[eventA][span[0]:span[1]]) {
					t.Errorf("from %d to %d: %q, %v", span[0], span[1], part, err)
				}
			}
		})
	}
}

func TestAReaderNamesTheRecordThatItCannotRead(t *testing.T) {
	dir := build(t, true)
	var bases []string
	for name := range files(t, dir) {
		if filepath.Dir(name) == filepath.Dir(partition(eventA, "x")) && strings.HasSuffix(name, ".dat") && filepath.Base(name) != "0.dat" {
			bases = append(bases, filepath.Base(name))
		}
	}
	starts := func(name string) (offset int64) {
		_, _ = fmt.Sscanf(name, "%d.dat", &offset)
		return offset
	}
	slices.SortFunc(bases, func(a, b string) int { return cmp.Compare(starts(a), starts(b)) })
	second, third := bases[0], bases[1]
	change := func(t *testing.T, path string, with func([]byte) []byte) {
		t.Helper()
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, with(raw), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, tc := range map[string]struct {
		do   func(t *testing.T, dir string)
		want int64
	}{
		"a changed byte": {func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, partition(eventA, second)), func(raw []byte) []byte { raw[80] ^= 1; return raw })
		}, starts(second)},
		"a missing segment": {func(t *testing.T, dir string) {
			if err := os.Remove(filepath.Join(dir, partition(eventA, second))); err != nil {
				t.Fatal(err)
			}
		}, starts(second)},
		"a segment that ends too early": {func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, partition(eventA, second)), func(raw []byte) []byte { return raw[:len(raw)-1] })
		}, starts(third) - 1},
		"a batch that claims to be compressed": {func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, partition(eventA, second)), func(raw []byte) []byte { raw[22] |= 2; return raw })
		}, starts(second)},
		"a batch of no records": {func(t *testing.T, dir string) {
			change(t, filepath.Join(dir, partition(eventA, "0.dat")), func(raw []byte) []byte { copy(raw[57:], make([]byte, 4)); return raw })
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			dir := copied(t, dir)
			tc.do(t, dir)
			got, err := readOffline(dir, eventA, 0, 60)
			var flaw *disk.Flaw
			if !errors.As(err, &flaw) || flaw.At != (record.Position{Topic: eventA, Offset: tc.want}) || int64(len(got)) != tc.want {
				t.Errorf("%d records, then %v; want a flaw at %d", len(got), err, tc.want)
			}
		})
	}
	t.Run("but a write that was torn is the end", func(t *testing.T) {
		for name, with := range map[string]func([]byte) []byte{
			"half a batch":  func(raw []byte) []byte { return append(raw, raw[:70]...) },
			"half a header": func(raw []byte) []byte { return append(raw, raw[:20]...) },
			"zeros":         func(raw []byte) []byte { return append(raw, make([]byte, 300)...) },
		} {
			dir := copied(t, dir)
			change(t, filepath.Join(dir, partition(eventA, bases[len(bases)-1])), with)
			end, err := disk.NewReader(dir, maxBatch).End(eventA)
			if err != nil || end != 60 {
				t.Errorf("%s: the end is at %d, %v", name, end, err)
			}
			if got, err := readOffline(dir, eventA, 0, end); err != nil || len(got) != 60 {
				t.Errorf("%s: %d records, %v", name, len(got), err)
			}
		}
	})
}
