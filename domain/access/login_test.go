package access_test

import (
	"encoding/json"
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
	var read T
	if err := json.Unmarshal(golden, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(given, read, cmpopts.EquateComparable(netip.Prefix{})); diff != "" {
		t.Errorf("what is read differs (-want +got):\n%s", diff)
	}
}
