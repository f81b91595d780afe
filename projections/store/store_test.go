package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hooklog/projections/store"
)

var quiet = slog.New(slog.DiscardHandler)

func open(t *testing.T, fs vfs.FS) *store.Store {
	t.Helper()
	s, err := store.Open("state", fs, quiet)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// write commits the rows, each of which is "key=value" or "key", to delete it.
func write(t *testing.T, s *store.Store, rows ...string) {
	t.Helper()
	b := s.NewBatch()
	if err := errors.Join(fill(b, rows...), b.Commit(), b.Close()); err != nil {
		t.Fatal(err)
	}
}

func fill(b *store.Batch, rows ...string) error {
	for _, row := range rows {
		key, value, set := strings.Cut(row, "=")
		change := func() error { return b.Delete([]byte(key)) }
		if set {
			change = func() error { return b.Set([]byte(key), []byte(value)) }
		}
		if err := change(); err != nil {
			return err
		}
	}
	return nil
}

func dump(t *testing.T, s *store.Store) string {
	t.Helper()
	var text bytes.Buffer
	if err := s.Dump(&text); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

func TestABatchIsSeenWholeOrNotAtAll(t *testing.T) {
	s := open(t, vfs.NewMem())
	write(t, s, "a=1", "b=2")
	b := s.NewBatch()
	if err := fill(b, "a=3", "b", "c=4"); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"a": "3", "b": "", "c": "4", "d": ""} {
		value, ok, err := b.Get([]byte(key))
		if string(value) != want || ok != (want != "") || err != nil {
			t.Errorf("the batch sees %s = %q, %v, %v, want %q", key, value, ok, err, want)
		}
	}
	if diff := cmp.Diff("\"a\" = \"1\"\n\"b\" = \"2\"\n", dump(t, s)); diff != "" {
		t.Errorf("before the commit (-want +got):\n%s", diff)
	}
	if err := errors.Join(b.Commit(), b.Close()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("\"a\" = \"3\"\n\"c\" = \"4\"\n", dump(t, s)); diff != "" {
		t.Errorf("after the commit (-want +got):\n%s", diff)
	}
	dropped := s.NewBatch()
	if err := errors.Join(fill(dropped, "a=5"), dropped.Close()); err != nil {
		t.Fatal(err)
	}
	if value, _, _ := s.Get([]byte("a")); string(value) != "3" {
		t.Errorf("a batch that was dropped wrote %q", value)
	}
}

func TestRowsAreScannedBackwards(t *testing.T) {
	s := open(t, vfs.NewMem())
	write(t, s, "a=1", "b1=2", "b2=3", "b3=4", "c=5")
	for _, tt := range []struct {
		before string
		most   int
		want   string
	}{
		{"", 9, "b3=4 b2=3 b1=2"},
		{"", 1, "b3=4"},
		{"b3", 9, "b2=3 b1=2"},
		{"b25", 9, "b2=3 b1=2"}, // a key that nobody has
		{"b1", 9, ""},
	} {
		var before []byte
		if tt.before != "" {
			before = []byte(tt.before)
		}
		var got []string
		err := s.ScanBack([]byte("b"), before, func(key, value []byte) bool {
			got = append(got, string(key)+"="+string(value))
			return len(got) < tt.most
		})
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" || err != nil {
			t.Errorf("before %q, at most %d (-want +got):\n%s %v", tt.before, tt.most, diff, err)
		}
	}
}

func TestABatchFindsTheLastRowUpToAKey(t *testing.T) {
	s := open(t, vfs.NewMem())
	write(t, s, "a=1", "b1=2", "b3=3", "c=4")
	b := s.NewBatch()
	if err := fill(b, "b2=5", "b3"); err != nil {
		t.Fatal(err)
	}
	for upTo, want := range map[string]string{"b": "", "b0": "", "b1": "2", "b15": "2", "b2": "5", "b3": "5", "b9": "5"} {
		value, found, err := b.Last([]byte("b"), []byte(upTo))
		if string(value) != want || found != (want != "") || err != nil {
			t.Errorf("up to %s: %q, %v, %v, want %q", upTo, value, found, err, want)
		}
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestARowIsACopy(t *testing.T) {
	s := open(t, vfs.NewMem())
	write(t, s, "a=1")
	value, _, err := s.Get([]byte("a"))
	if err != nil {
		t.Fatal(err)
	}
	value[0] = 'x'
	if again, _, _ := s.Get([]byte("a")); string(again) != "1" {
		t.Errorf("the row became %q", again)
	}
}

func TestScanVisitsTheRowsOfAPrefixInOrder(t *testing.T) {
	s := open(t, vfs.NewMem())
	write(t, s, "a=0", "p=1", "p\x00=2", "p\x00\xff=3", "pb=4", "p\xff=5", "p\xff\xff=6", "q=7", "\xff\xff=8", "\xff=9")
	tests := []struct {
		name          string
		prefix, after string
		limit         int
		want          string
	}{
		{"all of a prefix", "p", "", 0, "123456"},
		{"all behind a key", "p", "p\x00", 0, "3456"},
		{"all behind a key that does not exist", "p", "pa", 0, "456"},
		{"nothing behind the last", "p", "p\xff\xff", 0, ""},
		{"the first ones, when it is told to stop", "p", "", 2, "12"},
		{"a prefix that ends with the last byte there is", "p\xff", "", 0, "56"},
		{"a prefix of nothing but last bytes", "\xff", "", 0, "98"},
		{"every row", "", "", 0, "0123456798"},
		{"no row", "x", "", 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got string
			err := s.Scan(orNil(tt.prefix), orNil(tt.after), func(_, value []byte) bool {
				got += string(value)
				return len(got) != tt.limit
			})
			if err != nil || got != tt.want {
				t.Errorf("visited %q, %v, want %q", got, err, tt.want)
			}
		})
	}
}

func orNil(s string) []byte {
	if s == "" {
		return nil
	}
	return []byte(s)
}

func TestADumpTellsAWriterThatFails(t *testing.T) {
	s := open(t, vfs.NewMem())
	write(t, s, "a=1")
	full := errors.New("full")
	if err := s.Dump(failing{full}); !errors.Is(err, full) {
		t.Errorf("the dump ended with %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestRowsOutliveARestartOnDisk(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "not", "yet", "there")
	for n := range 3 {
		s, err := store.Open(dir, nil, quiet)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Count(dump(t, s), "\n"); got != n {
			t.Errorf("start %d finds %d rows", n, got)
		}
		write(t, s, fmt.Sprintf("row %d=x", n))
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, %v, want 0700", info.Mode(), err)
	}
}

func TestAStoreThatIsOnlyReadStaysAsItIs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	if _, err := store.OpenReadOnly(dir, quiet); err == nil {
		t.Error("a store that is not there was opened")
	}
	s, err := store.Open(dir, nil, quiet)
	if err != nil {
		t.Fatal(err)
	}
	write(t, s, "a=1")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	files := func() (names []string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, fmt.Sprint(e.Name(), info.Size(), info.ModTime()))
		}
		return names
	}
	before := files()
	read, err := store.OpenReadOnly(dir, quiet)
	if err != nil {
		t.Fatal(err)
	}
	if got := dump(t, read); got != "\"a\" = \"1\"\n" {
		t.Errorf("it holds %s", got)
	}
	if err := read.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, files()); diff != "" {
		t.Errorf("the files changed (-before +after):\n%s", diff)
	}
}

func TestAStoreThatCannotBeOpenedSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	first, err := store.Open(dir, nil, quiet)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Close()
	if _, err := store.Open(dir, nil, quiet); err == nil || !strings.Contains(err.Error(), "deleting "+dir) {
		t.Errorf("a second opening gives %v, without the way out", err)
	}
}

// Keys of different parts differ, none of one kind begins with all of another,
// and numbers sort like numbers.
func TestKeys(t *testing.T) {
	if diff := cmp.Diff([]byte("a\x00b\x00c\x00d"), store.Key("a", "b", "c\x00d")); diff != "" {
		t.Errorf("key (-want +got):\n%s", diff)
	}
	part := rapid.StringOfN(rapid.SampledFrom([]rune("ab\x01")), 0, 3, -1)
	rapid.Check(t, func(rt *rapid.T) {
		a, b := rapid.SliceOfN(part, 2, 2).Draw(rt, "a"), rapid.SliceOfN(part, 2, 2).Draw(rt, "b")
		if same := cmp.Equal(a, b); bytes.Equal(store.Key(a...), store.Key(b...)) != same {
			rt.Fatalf("keys of %q and %q are equal: %v", a, b, !same)
		}
		if a[0] != b[0] && bytes.HasPrefix(store.Key(a...), store.Key(b[0], "")) {
			rt.Fatalf("a key of kind %q lies among those of kind %q", a[0], b[0])
		}
		m, n := rapid.Uint64().Draw(rt, "m"), rapid.Uint64().Draw(rt, "n")
		if (m < n) != (store.Ordered(m) < store.Ordered(n)) {
			rt.Fatalf("%d and %d sort otherwise as keys", m, n)
		}
	})
}

func TestStatsFollowTheRows(t *testing.T) {
	s := open(t, vfs.NewMem())
	before := s.Stats()
	for n := range 100 {
		write(t, s, fmt.Sprintf("%d=%s", n, strings.Repeat("x", 10_000)))
	}
	after := s.Stats()
	if after.MemTableBytes <= before.MemTableBytes || after.DiskBytes <= before.DiskBytes {
		t.Errorf("a megabyte of rows made %+v of %+v", after, before)
	}
}
