package access_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/record"
)

// The golden file is a record value as it lies on logs that exist.
func TestTheRecordOfALookStaysForEver(t *testing.T) {
	golden, err := os.ReadFile("testdata/look.json")
	if err != nil {
		t.Fatal(err)
	}
	look := access.Look{
		ID: "l1", Name: "webhook.list", Principal: "kim", Roles: []string{access.RoleAdministrator},
		Client: "hooklog", Address: "192.0.2.7", Outcome: "ok", Time: time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC),
	}
	want := record.Record{
		Position: record.Position{Topic: "svc.access", Partition: record.Spread("l1", 6)},
		Time:     look.Time,
		Key:      []byte("l1"),
		Headers:  []record.Header{{Key: "svc-type", Value: []byte("access.look/1")}},
		Value:    []byte(strings.TrimSuffix(string(golden), "\n")),
	}
	written, err := look.Encode(6)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, written); diff != "" {
		t.Errorf("record differs (-want +got):\n%s", diff)
	}
	var read access.Look
	if err := json.Unmarshal(golden, &read); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(look, read); diff != "" {
		t.Errorf("look differs (-want +got):\n%s", diff)
	}
}
