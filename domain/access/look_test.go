package access_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/record"
)

// The golden file is a record value as it lies on logs that exist.
func TestTheRecordOfALookStaysForEver(t *testing.T) {
	first := access.Look{
		ID: "l1", Name: "webhook.list", Principal: "kim", Roles: []string{access.RoleAdministrator},
		Client: "hooklog", Address: "192.0.2.7", Outcome: "ok", Time: monday,
	}
	outside := first
	outside.Principal, outside.PrincipalName, outside.Effective = "corp:7f3a", "Kim", "corp:7f3a"
	at := first
	at.EventKey, at.Last6, at.Params = "webhook.orders", "e1f3a9", map[string]any{"limit": "…"}
	t.Run("with what was looked at", func(t *testing.T) { lookStays(t, "look_at.json", at) })
	t.Run("as the first ones were", func(t *testing.T) { lookStays(t, "look.json", first) })
	t.Run("with the effective user and the name of an outside one", func(t *testing.T) { lookStays(t, "look_outside.json", outside) })
}

func lookStays(t *testing.T, file string, look access.Look) {
	golden, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
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
	read, err := access.Decode(&want)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(any(look), read); diff != "" {
		t.Errorf("look differs (-want +got):\n%s", diff)
	}
}
