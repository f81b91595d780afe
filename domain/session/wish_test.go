package session_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/record"
	"hooklog/domain/session"
)

// wishes are those of the golden files.
func wishes() map[string]session.Wish {
	m, _ := folded(open("o"), rotate("a", 0, 1, time.Second), rotate("b", 0, 2, 2*time.Second))
	rotation, ending := rotate("c", 1, 3, time.Minute), end("d", 2*time.Minute)
	rotation.Family, ending.Family = m.family(), m.family()
	late := by("other", rotate("e", 1, 4, time.Hour))
	late.Family = session.Fold(m, ending).Family
	return map[string]session.Wish{"open.json": open("o"), "rotate.json": rotation, "end.json": ending, "late.json": late}
}

// The golden files are record values as they lie on logs that exist: a reader of
// today must read them for ever, and writes the same bytes.
func TestTheRecordsOfFamiliesStayForEver(t *testing.T) {
	for file, wish := range wishes() {
		t.Run(file+" is written and read", func(t *testing.T) {
			golden, err := os.ReadFile("testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			want := record.Record{
				Position: record.Position{Topic: "svc.session"},
				Time:     wish.Time,
				Key:      []byte(token(0).Family().String()),
				Headers:  []record.Header{{Key: "svc-type", Value: []byte("session.refresh/1")}},
				Value:    []byte(strings.TrimSuffix(string(golden), "\n")),
			}
			written, err := wish.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, written); diff != "" {
				t.Errorf("record differs (-want +got):\n%s", diff)
			}
			read, err := session.DecodeWish(&want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(wish, read); diff != "" {
				t.Errorf("wish differs (-want +got):\n%s", diff)
			}
		})
	}
}

// The names of outcomes lie in rows that are not folded again.
func TestTheNamesOfOutcomesStay(t *testing.T) {
	names := []session.Outcome{
		session.Opened, session.Rotated, session.Ended, session.Reused, session.Over,
		session.Expired, session.Foreign, session.Crowded, session.Taken,
	}
	want := []session.Outcome{"opened", "rotated", "ended", "reused", "over", "expired", "foreign", "crowded", "taken"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("names differ (-want +got):\n%s", diff)
	}
}

func TestDecodeRefuses(t *testing.T) {
	key := token(0).Family().String()
	family := `"family":{"id":"` + key + `","user":"kim","current":["` + hash(0).String() + `"]}`
	many := strings.Repeat(`"`+hash(0).String()+`",`, session.MaxCurrent) + `"` + hash(0).String() + `"`
	tests := []struct {
		name, typ, key, value string
	}{
		{"a record without a type", "", key, `{"id":"w","kind":"open",` + family + `}`},
		{"a type of another topic", "command/1", key, `{"id":"w","kind":"open",` + family + `}`},
		{"a version to come", "session.refresh/2", key, `{"id":"w","kind":"open",` + family + `}`},
		{"a value that is no JSON", session.RefreshType, key, `{`},
		{"an empty value", session.RefreshType, key, ``},
		{"a value of another shape", session.RefreshType, key, `[]`},
		{"a wish without an id", session.RefreshType, key, `{"kind":"open",` + family + `}`},
		{"a wish under another key", session.RefreshType, hash(0).String(), `{"id":"w","kind":"open",` + family + `}`},
		{"a wish without a key", session.RefreshType, "", `{"id":"w","kind":"open",` + family + `}`},
		{"a wish about no family", session.RefreshType, session.Hash{}.String(), `{"id":"w","kind":"end"}`},
		{"a family of nobody", session.RefreshType, key, `{"id":"w","kind":"end","family":{"id":"` + key + `"}}`},
		{"a hash that is none", session.RefreshType, key, `{"id":"w","kind":"end","token":"abc",` + family + `}`},
		{"a wish for nothing", session.RefreshType, key, `{"id":"w",` + family + `}`},
		{"a wish that nobody knows", session.RefreshType, key, `{"id":"w","kind":"revive",` + family + `}`},
		{"a family that is opened without a token", session.RefreshType, key, `{"id":"w","kind":"open","family":{"id":"` + key + `","user":"kim"}}`},
		{"a family that is opened as ended", session.RefreshType, key, strings.Replace(`{"id":"w","kind":"open",`+family+`}`, `"user"`, `"ended":true,"user"`, 1)},
		{"more tokens than a family has", session.RefreshType, key, `{"id":"w","kind":"end","family":{"id":"` + key + `","user":"kim","current":[` + many + `]}}`},
		{"a rotation of no token", session.RefreshType, key, `{"id":"w","kind":"rotate","successor":"` + hash(1).String() + `",` + family + `}`},
		{"a rotation without a successor", session.RefreshType, key, `{"id":"w","kind":"rotate","token":"` + hash(1).String() + `",` + family + `}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRecord(tt.typ, tt.key, []byte(tt.value))
			if w, err := session.DecodeWish(&r); err == nil {
				t.Errorf("it was read as %+v", w)
			}
		})
	}
	t.Run("nothing of the same form without these faults", func(t *testing.T) {
		r := newRecord(session.RefreshType, key, []byte(`{"id":"w","kind":"open",`+family+`}`))
		if _, err := session.DecodeWish(&r); err != nil {
			t.Error(err)
		}
	})
}

func newRecord(typ, key string, value []byte) record.Record {
	return record.Record{Key: []byte(key), Headers: []record.Header{{Key: record.HeaderType, Value: []byte(typ)}}, Value: value}
}

// FuzzDecodeWish holds that whatever lies on the topic is refused or read, that
// what was read can be folded, and that it is written and read again as the same.
func FuzzDecodeWish(f *testing.F) {
	for file := range wishes() {
		golden, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(token(0).Family().String(), golden)
	}
	f.Add("", []byte(`{"id":"w","kind":"end","time":"9999-12-31T23:59:59-23:59"}`))
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		r := newRecord(session.RefreshType, key, value)
		read, err := session.DecodeWish(&r)
		if err != nil {
			return
		}
		again, err := read.Encode()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		back, err := session.DecodeWish(&again)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if third, err := back.Encode(); err != nil || !bytes.Equal(third.Value, again.Value) {
			t.Fatalf("the record changes: %s, then %s, err %v", again.Value, third.Value, err)
		}
		m, _ := folded(read, rotate("a", 0, 1, time.Second))
		m.dump(t)
	})
}
