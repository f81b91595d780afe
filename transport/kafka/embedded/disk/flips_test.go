package disk_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/transport/kafka/embedded/disk"
)

// The kinds of files that bits are flipped in, and how often among sixteen.
const (
	records  = "records"
	index    = "index"
	removed  = "removed at the start"
	snapshot = "snapshot.json"
	topics   = "topics.json"
	groups   = "groups.log"
	meta     = "meta.json"
	list     = "topics"
)

var shares = map[string]int{records: 6, index: 1, removed: 1, snapshot: 2, topics: 2, groups: 1, meta: 1, list: 2}

// kinds sorts the files that are not empty by what they are for.
func kinds(all map[string]string) map[string][]string {
	sorted := make(map[string][]string)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if len(all[name]) == 0 || all[name] == "folder" {
			continue
		}
		kind := filepath.Base(name)
		switch {
		case filepath.Ext(name) == ".dat":
			kind = records
		case filepath.Ext(name) == ".idx":
			kind = index
		case shares[kind] == 0:
			kind = removed
		}
		sorted[kind] = append(sorted[kind], name)
	}
	return sorted
}

// isRefused reports a damage, and checks that nothing was changed.
func isRefused(t *testing.T, dir string, err error, before map[string]string) bool {
	t.Helper()
	var damage *disk.Damage
	if err == nil || !errors.As(err, &damage) {
		if err != nil {
			t.Errorf("the broker itself failed: %v", err)
		}
		return false
	}
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("files were changed though the log was refused: %v\n%s", err, diff)
	}
	if damage.File == "" || damage.Reason == "" {
		t.Errorf("%q names no file or no reason", err)
	}
	return true
}

func TestNoFlippedBitPassesUnnoticed(t *testing.T) {
	t.Parallel()
	for name, orderly := range map[string]bool{"after an orderly end": true, "after a kill": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			flipBits(t, build(t, orderly), 100)
		})
	}
}

// flipBits flips bits in copies of a log, as many in each kind of file.
func flipBits(t *testing.T, origin string, flips int) {
	want, err := read(t, copied(t, origin))
	if err != nil {
		t.Fatal(err)
	}
	chance := rand.New(rand.NewPCG(1, 2))
	before := files(t, origin)
	sorted := kinds(before)
	var turns []string
	for _, kind := range slices.Sorted(maps.Keys(shares)) {
		turns = append(turns, slices.Repeat([]string{kind}, shares[kind])...)
	}
	outcomes := make(map[string]int)
	dir := copied(t, origin)
	for i := range flips {
		kind := turns[i%len(turns)]
		file := sorted[kind][chance.IntN(len(sorted[kind]))]
		raw := []byte(before[file])
		bit := chance.IntN(len(raw) * 8)
		raw[bit/8] ^= 1 << (bit % 8)
		write(t, dir, file, raw)
		damaged := maps.Clone(before)
		damaged[file] = string(raw)

		have, err := read(t, dir)
		if isRefused(t, dir, err, damaged) {
			outcomes["refused "+kind]++
			write(t, dir, file, []byte(before[file]))
			continue
		}
		if !same(t, want, have) {
			t.Errorf("bit %d of %s was flipped", bit, file)
		}
		outcomes["harmless "+kind]++
		dir = copied(t, origin)
	}
	for _, outcome := range slices.Sorted(maps.Keys(outcomes)) {
		t.Logf("%3d %s", outcomes[outcome], outcome)
	}
	if outcomes["harmless "+records] > 0 || outcomes["refused "+records] == 0 {
		t.Error("a flipped bit in records was taken for harmless")
	}
}

// The last batch is where a flipped length looks like a torn write.
func TestEveryByteOfARecordCounts(t *testing.T) {
	t.Parallel()
	for name, orderly := range map[string]bool{"after an orderly end": true, "after a kill": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			r := mustOpen(t, dir)
			if err := r.create(t.Context(), eventA); err != nil {
				t.Fatal(err)
			}
			r.append(t, 2, eventA)
			if !orderly {
				dir = copied(t, dir)
			}
			r.stop()

			file := partition(eventA, "0.dat")
			raw := []byte(files(t, dir)[file])
			for i := range raw {
				bit := byte(1 << (i % 8))
				raw[i] ^= bit
				write(t, dir, file, raw)
				if _, err := check(dir); err == nil {
					t.Errorf("byte %d was changed and taken", i)
				}
				raw[i] ^= bit
			}
			write(t, dir, file, raw)
			if _, err := check(dir); err != nil {
				t.Errorf("unchanged: %v", err)
			}
		})
	}
}

func check(dir string) (*disk.Checked, error) {
	return disk.Check(dir, disk.Options{MaxBatchBytes: 10 << 20})
}

func write(t testing.TB, dir, name string, raw []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
		t.Fatal(fmt.Errorf("write %s: %w", name, err))
	}
}
