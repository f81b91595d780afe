package call_test

import (
	"bytes"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/domain/refused"
)

const correlationID = "0b5e7f0a-8f5e-4a57-9a63-2f1c34b0d9e1"

var noon = time.Date(2026, 3, 4, 12, 0, 0, 250_000_000, time.UTC)

func accepted() call.Accepted {
	digest := record.ContentDigest([]record.Header{{Key: "ce_id", Value: []byte(correlationID)}}, []byte(`{}`))
	return call.Accepted{
		CorrelationID: correlationID,
		TraceID:       "6789ab:abcdefghij",
		EventKey:      "webhook.orders",
		Last6:         "6789ab",
		Received:      noon,
		Method:        "POST",
		Size:          2,
		Address:       "192.0.2.7",
		Event:         call.EventAt(record.Position{Topic: "svc.event.webhook.orders", Partition: 1, Offset: 42}, digest),
		Listeners:     []string{"a@1", "b@7"},
	}
}

func completed() call.Completed {
	return call.Completed{CorrelationID: correlationID, Listener: "a@1", Attempt: 1, Status: call.OK, Value: "sealed-value", Finished: noon.Add(time.Second)}
}

// detailed is a completion with all that a runner says of it.
func detailed() call.Completed {
	c := completed()
	c.Detail, c.Principal, c.Effective, c.Owner = "sealed-detail", "anonymousUser", "stock", "corp:7f3a"
	c.Started = noon.Add(10 * time.Millisecond)
	return c
}

func retried() call.Retried {
	return call.Retried{CorrelationID: correlationID, Listener: "a@1", Attempt: 2, By: "ann", CommandID: "c7", Time: noon.Add(time.Hour)}
}

const instance = "5d0c7a52-6f0e-4a37-8a55-0a4f0c2f6b11"

func rejected() call.Rejected {
	return call.Rejected{
		Instance: instance,
		From:     noon,
		To:       noon.Add(time.Minute),
		Networks: []refused.Network{
			{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Reasons: map[string]int64{"too-many": 7, "not-found": 120}},
			{Prefix: netip.MustParsePrefix("2001:db8:7::/48"), Reasons: map[string]int64{"unavailable": 1}},
		},
		Rest: map[string]int64{"not-found": 999_999},
	}
}

// The golden files are record values as they lie on logs that exist: a reader of
// today must read them for ever, and writes the same bytes.
func TestTheRecordsOfACallStayForEver(t *testing.T) {
	quiet := accepted()
	quiet.Method, quiet.Size, quiet.Address, quiet.Listeners = "GET", 0, "", nil
	failed := completed()
	failed.Attempt, failed.Status, failed.Value = 2, call.Failed, ""
	tests := []struct {
		file   string
		value  any
		encode func(int32) (record.Record, error)
		typ    string
		key    string
		at     time.Time
	}{
		{"accepted.json", accepted(), accepted().Encode, "call.accepted/1", correlationID, noon},
		{"accepted_quiet.json", quiet, quiet.Encode, "call.accepted/1", correlationID, noon},
		{"completed.json", completed(), completed().Encode, "call.completed/1", correlationID, noon.Add(time.Second)},
		{"completed_failed.json", failed, failed.Encode, "call.completed/1", correlationID, noon.Add(time.Second)},
		{"completed_detailed.json", detailed(), detailed().Encode, "call.completed/1", correlationID, noon.Add(time.Second)},
		{"retried.json", retried(), retried().Encode, "call.retried/1", correlationID, noon.Add(time.Hour)},
		{"rejected.json", rejected(), rejected().Encode, "call.rejected/1", instance, noon.Add(time.Minute)},
	}
	for _, tt := range tests {
		t.Run(tt.file+" is written and read", func(t *testing.T) {
			golden, err := os.ReadFile("testdata/" + tt.file)
			if err != nil {
				t.Fatal(err)
			}
			want := record.Record{
				Position: record.Position{Topic: "svc.call", Partition: 5},
				Time:     tt.at,
				Key:      []byte(tt.key),
				Headers:  []record.Header{{Key: "svc-type", Value: []byte(tt.typ)}},
				Value:    []byte(strings.TrimSuffix(string(golden), "\n")),
			}
			written, err := tt.encode(5)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, written); diff != "" {
				t.Errorf("record differs (-want +got):\n%s", diff)
			}
			read, err := call.Decode(&want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.value, read, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
				t.Errorf("value differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	const id = `"correlationId":"` + correlationID + `"`
	tests := []struct {
		name, typ, key, value string
	}{
		{"a record without a type", "", correlationID, `{` + id + `}`},
		{"a type of another topic", "command/1", correlationID, `{` + id + `}`},
		{"a version to come", "call.accepted/2", correlationID, `{` + id + `}`},
		{"a value that is no JSON", call.AcceptedType, correlationID, `{`},
		{"an empty value", call.AcceptedType, correlationID, ``},
		{"a value of another shape", call.AcceptedType, correlationID, `[]`},
		{"an accepted record without correlation id", call.AcceptedType, "", `{}`},
		{"an accepted record under another key", call.AcceptedType, "other", `{` + id + `}`},
		{"counts without an instance", call.RejectedType, "", `{}`},
		{"counts under another key", call.RejectedType, "other", `{"instance":"` + instance + `"}`},
		{"counts of what is no network", call.RejectedType, instance, `{"instance":"` + instance + `","networks":[{"prefix":"192.0.2.0"}]}`},
		{"a completed record under another key", call.CompletedType, "other", `{` + id + `,"listener":"a@1","attempt":1,"status":"ok"}`},
		{"a completion that is none yet", call.CompletedType, correlationID, `{` + id + `,"listener":"a@1","attempt":1,"status":"processing"}`},
		{"a completion with an unknown status", call.CompletedType, correlationID, `{` + id + `,"listener":"a@1","attempt":1,"status":"fine"}`},
		{"a completion without a status", call.CompletedType, correlationID, `{` + id + `,"listener":"a@1","attempt":1}`},
		{"a retry under another key", call.RetriedType, "other", `{` + id + `,"listener":"a@1","attempt":2}`},
		{"a retry of no attempt", call.RetriedType, correlationID, `{` + id + `,"listener":"a@1","attempt":1}`},
		{"an id in upper case", call.AcceptedType, strings.ToUpper(correlationID), `{"correlationId":"` + strings.ToUpper(correlationID) + `"}`},
		{"an id in braces", call.AcceptedType, "{" + correlationID + "}", `{"correlationId":"{` + correlationID + `}"}`},
		{"an id that is no UUID", call.AcceptedType, "7", `{"correlationId":"7"}`},
		{"a completion before the first attempt", call.CompletedType, correlationID, `{` + id + `,"listener":"a@1","attempt":0,"status":"ok"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := record.Record{
				Key:     []byte(tt.key),
				Headers: []record.Header{{Key: record.HeaderType, Value: []byte(tt.typ)}},
				Value:   []byte(tt.value),
			}
			if v, err := call.Decode(&r); err == nil {
				t.Errorf("it was read as %+v", v)
			}
		})
	}
}

// FuzzDecode holds that whatever lies on the topic is refused or read, and that
// what was read is written and read again as the same.
func FuzzDecode(f *testing.F) {
	for _, seed := range []struct{ file, typ, key string }{
		{"accepted.json", call.AcceptedType, correlationID},
		{"accepted_quiet.json", call.AcceptedType, correlationID},
		{"completed.json", call.CompletedType, correlationID},
		{"completed_failed.json", call.CompletedType, correlationID},
		{"completed_detailed.json", call.CompletedType, correlationID},
		{"retried.json", call.RetriedType, correlationID},
		{"rejected.json", call.RejectedType, instance},
	} {
		golden, err := os.ReadFile("testdata/" + seed.file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed.typ, seed.key, golden)
	}
	f.Add(call.AcceptedType, "", []byte(`{"listeners":null,"event":[]}`))
	f.Add(call.CompletedType, "\xff", []byte(`{"correlationId":"\ufffd","attempt":1e3}`))
	f.Add(call.RejectedType, "i", []byte(`{"instance":"i","networks":[{"prefix":"","reasons":null}],"rest":{}}`))
	f.Fuzz(func(t *testing.T, typ, key string, value []byte) {
		r := record.Record{Key: []byte(key), Headers: []record.Header{{Key: record.HeaderType, Value: []byte(typ)}}, Value: value}
		read, err := call.Decode(&r)
		if err != nil {
			return
		}
		again, err := reencode(read)
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		back, err := call.Decode(&again)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if third, err := reencode(back); err != nil || !bytes.Equal(third.Value, again.Value) {
			t.Fatalf("the record changes: %s, then %s, err %v", again.Value, third.Value, err)
		}
	})
}

func reencode(v any) (record.Record, error) {
	return v.(interface {
		Encode(partition int32) (record.Record, error)
	}).Encode(0)
}

func TestNetworks(t *testing.T) {
	for address, want := range map[string]string{
		"192.0.2.7":              "192.0.2.0/24",
		"2001:db8:7:1:2:3:4:5":   "2001:db8:7::/48",
		"2001:db8:7:ffff::":      "2001:db8:7::/48",
		"::":                     "::/48",
		"::ffff:192.0.2.7":       "::/48", // callers have their IPv4 address unmapped
		"255.255.255.255":        "255.255.255.0/24",
		"fe80::1234:5678:9abc:1": "fe80::/48",
	} {
		if got := refused.NetworkOf(netip.MustParseAddr(address)).String(); got != want {
			t.Errorf("%s is counted under %s, want %s", address, got, want)
		}
	}
}

func TestValuesAreBoundToTheirCompletion(t *testing.T) {
	c := completed()
	if got, want := c.ValueID(), correlationID+"/a@1/1"; got != want {
		t.Errorf("value id = %q, want %q", got, want)
	}
	if call.ValueField != "call.value" || call.DetailField != "call.detail" {
		t.Errorf("sealed values of existing logs are bound to other fields than %q and %q", call.ValueField, call.DetailField)
	}
}

func TestTheCorrelationIDChoosesThePartition(t *testing.T) {
	for _, partitions := range []int32{0, 1, 6, 100} {
		if got, want := call.Partition(correlationID, partitions), record.Spread(correlationID, partitions); got != want {
			t.Errorf("partition %d of %d, want %d", got, partitions, want)
		}
	}
}
