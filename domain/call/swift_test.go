package call_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hooklog/domain/call"
	"hooklog/domain/record"
)

// anyAccepted draws accepted records of the usual form and of every other.
var anyAccepted = rapid.Custom(func(t *rapid.T) call.Accepted {
	text := rapid.OneOf(rapid.StringMatching(`[a-z0-9.:-]{0,12}`), rapid.String())
	return call.Accepted{
		CorrelationID: rapid.OneOf(rapid.Just(correlationID), rapid.StringN(1, 8, -1)).Draw(t, "id"),
		TraceID:       text.Draw(t, "trace"),
		EventKey:      text.Draw(t, "key"),
		Last6:         text.Draw(t, "last6"),
		Received:      time.UnixMilli(rapid.Int64Range(0, 4e12).Draw(t, "received")).UTC(),
		Method:        text.Draw(t, "method"),
		Size:          rapid.Int().Draw(t, "size"),
		Address:       text.Draw(t, "address"),
		Event: call.Event{
			Topic: text.Draw(t, "topic"), Partition: rapid.Int32().Draw(t, "partition"),
			Offset: rapid.Int64().Draw(t, "offset"), SHA256: text.Draw(t, "digest"),
		},
		Listeners: rapid.SliceOfN(text, 0, 2).Draw(t, "listeners"),
	}
})

func TestTheSwiftFormIsThatOfEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := anyAccepted.Draw(t, "accepted")
		want, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		got, err := a.Encode(0)
		if err != nil || !bytes.Equal(got.Value, want) {
			t.Fatalf("got %s, %v\nwant %s", got.Value, err, want)
		}
		s := call.Begin(a)
		wantRow, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		if row, err := s.EncodeRow(); err != nil || !bytes.Equal(row, wantRow) {
			t.Fatalf("got row %s, %v\nwant %s", row, err, wantRow)
		}
	})
}

// decodeSlowly is Decode by encoding/json alone.
func decodeSlowly(value []byte) (a call.Accepted, ok bool) {
	err := json.Unmarshal(value, &a)
	return a, err == nil && a.CorrelationID == correlationID
}

func FuzzTheSwiftWayReadsAsEncodingJSONDoes(f *testing.F) {
	a := accepted()
	a.Listeners = nil
	usual, err := a.Encode(0)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(usual.Value)
	a.Listeners = []string{"a@1", "b@7"}
	heard, err := a.Encode(0)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(heard.Value)
	f.Add(bytes.Replace(heard.Value, []byte(`["a@1","b@7"]`), []byte(`[]`), 1))
	f.Add(bytes.Replace(heard.Value, []byte(`["a@1","b@7"]`), []byte(`["a@1",]`), 1))
	f.Add([]byte(`{"correlationId":"` + correlationID + `","traceId":"a","eventKey":"b","last6":"c","received":"2026-01-02T03:04:05Z","method":"GET","size":+1,"event":{"topic":"t","partition":01,"offset":1e3,"sha256":""}}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		want, ok := decodeSlowly(value)
		got, err := call.Decode(&record.Record{
			Key: []byte(correlationID), Value: value,
			Headers: []record.Header{{Key: record.HeaderType, Value: []byte(call.AcceptedType)}},
		})
		if ok != (err == nil) {
			t.Fatalf("%q: %v, encoding/json says %v", value, err, ok)
		}
		if ok {
			if diff := cmp.Diff(want, got); diff != "" {
				t.Fatalf("%q: %s", value, diff)
			}
		}
	})
}

func BenchmarkAccepted(b *testing.B) {
	a := accepted()
	a.Listeners = nil
	b.Run("encode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := a.Encode(0); err != nil {
				b.Fatal(err)
			}
		}
	})
	r, err := a.Encode(0)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("decode", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := call.Decode(&r); err != nil {
				b.Fatal(err)
			}
		}
	})
}
