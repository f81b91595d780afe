package disk_test

import (
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/transport/kafka/embedded/disk"
)

// FuzzCheck writes over a part of one file of a log, or over all that follows:
// that is refused as damage, with every file left as it is, or accepted, and
// then what Mend leaves is accepted too.
func FuzzCheck(f *testing.F) {
	log := f.TempDir()
	r := mustOpen(f, log)
	if err := r.create(f.Context(), eventA, unused); err != nil {
		f.Fatal(err)
	}
	r.append(f, 12, eventA) // in two segments
	r.commit(f, "readers", eventA, 7)
	r.stop()
	original := files(f, log)
	names := slices.DeleteFunc(slices.Sorted(maps.Keys(original)), func(name string) bool {
		return original[name] == "folder"
	})
	for i := range names {
		f.Add(uint(i), uint(0), []byte{}, true)
		f.Add(uint(i), uint(8), []byte{0xff}, false)
		f.Add(uint(i), uint(1)<<20, []byte("{}\n"), false)
	}
	f.Fuzz(func(t *testing.T, place, from uint, patch []byte, cut bool) {
		name := names[place%uint(len(names))]
		path := filepath.Join(log, name)
		data := patched(original[name], from, patch, cut)
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		defer func() { restore(t, log, original) }()
		want := maps.Clone(original)
		want[name] = string(data)

		checked, err := disk.Check(log, fuzzOptions)
		if diff := cmp.Diff(want, files(t, log)); diff != "" {
			t.Fatalf("the check of %s changed files: %s", name, diff)
		}
		if err != nil {
			if !errors.As(err, new(*disk.Damage)) {
				t.Fatalf("%s is refused, but not as damage: %v", name, err)
			}
			return
		}
		if err := checked.Mend(quiet); err != nil {
			t.Fatalf("%s was accepted and cannot be mended: %v", name, err)
		}
		if _, err := disk.Check(log, fuzzOptions); err != nil {
			t.Fatalf("%s was accepted, and what is mended is not: %v", name, err)
		}
	})
}

// patched puts the patch into content; with cut, it is the end.
func patched(content string, from uint, patch []byte, cut bool) []byte {
	from = min(from, uint(len(content)))
	data := append([]byte(content[:from]), patch...)
	if !cut && len(data) < len(content) {
		data = append(data, content[len(data):]...)
	}
	return data
}

var fuzzOptions = disk.Options{MaxBatchBytes: 10 << 20}

// restore gives every file its content back.
func restore(t testing.TB, dir string, original map[string]string) {
	t.Helper()
	for name, have := range files(t, dir) {
		want, known := original[name]
		if known && want == have {
			continue
		}
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(original)) {
		path := filepath.Join(dir, name)
		if _, err := os.Stat(path); err == nil || original[name] == "folder" {
			continue
		}
		if err := os.WriteFile(path, []byte(original[name]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
