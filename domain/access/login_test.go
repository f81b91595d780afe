package access_test

import (
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"hooklog/domain/access"
	"hooklog/domain/record"
	"hooklog/domain/refused"
)

// The golden files are record values as they lie on logs that exist.
func TestTheRecordsOfLogInsStayForEver(t *testing.T) {
	at := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	t.Run("a log-in", func(t *testing.T) {
		given := access.Login{
			ID: "g1", Principal: "kim", Client: "hooklog", Grant: "password", Scope: "profile roles",
			Address: "192.0.2.7", Time: at,
		}
		written, err := given.Encode(6)
		sameAsGolden(t, "login", "g1", "access.login/1", at, given, written, err)
	})
	t.Run("the failed ones of a minute", func(t *testing.T) {
		given := access.Failures{
			Instance: "i1", From: at.Add(-time.Minute), To: at,
			Networks: []refused.Network{
				{Prefix: netip.MustParsePrefix("192.0.2.0/24"), Reasons: map[string]int64{"unauthenticated": 20, "too-many": 480}},
				{Prefix: netip.MustParsePrefix("2001:db8:1::/48"), Reasons: map[string]int64{"unauthenticated": 1}},
			},
			Rest: map[string]int64{"unauthenticated": 7},
		}
		written, err := given.Encode(6)
		sameAsGolden(t, "failures", "i1", "access.failures/1", at, given, written, err)
	})
}

func sameAsGolden[T any](t *testing.T, file, key, kind string, at time.Time, given T, written record.Record, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	golden, err := os.ReadFile("testdata/" + file + ".json")
	if err != nil {
		t.Fatal(err)
	}
	want := record.Record{
		Position: record.Position{Topic: "svc.access", Partition: record.Spread(key, 6)},
		Time:     at,
		Key:      []byte(key),
		Headers:  []record.Header{{Key: "svc-type", Value: []byte(kind)}},
		Value:    []byte(strings.TrimSuffix(string(golden), "\n")),
	}
	if diff := cmp.Diff(want, written); diff != "" {
		t.Errorf("record differs (-want +got):\n%s", diff)
	}
	read, err := access.Decode(&want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(given), read, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("what is read differs (-want +got):\n%s", diff)
	}
}

func TestWhatIsNoRecordOfAnAccessIsRefused(t *testing.T) {
	for _, tt := range []struct{ kind, value string }{
		{"", `{}`},
		{"command/1", `{"id":"x"}`},
		{access.LookType, `{`},
		{access.LookType, `{"id":"l","name":"webhook.list","principal":"kim"}`},                   // no time
		{access.LookType, `{"id":"l","principal":"kim","time":"2026-03-02T08:00:00Z"}`},           // no command
		{access.LoginType, `{"id":"l","time":"2026-03-02T08:00:00Z"}`},                            // nobody
		{access.LoginType, `{"id":"l","principal":"kim","time":"yesterday"}`},                     // no time
		{access.FailuresType, `{"from":"2026-03-02T08:00:00Z","to":"2026-03-02T08:00:00Z"}`},      // nowhere
		{access.FailuresType, `{"instance":"i","to":"2026-03-02T08:00:00Z","networks":[{"p":1}]`}, // broken
	} {
		r := record.Record{Headers: []record.Header{{Key: record.HeaderType, Value: []byte(tt.kind)}}, Value: []byte(tt.value)}
		if got, err := access.Decode(&r); err == nil {
			t.Errorf("%s %s is %+v", tt.kind, tt.value, got)
		}
	}
}
