package registry_test

import (
	"bytes"
	"maps"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/pipeline"
	"hooklog/domain/record"
	"hooklog/domain/registry"
)

// goldenCommands are the commands that lie in testdata, by file.
func goldenCommands() map[string]registry.Command {
	put := create("c1", 1, "webhook.orders")
	put.Fingerprint, put.Client, put.Address = "5f0c", "hooklog", "192.0.2.7"
	put.Time = monday.Add(1234567 * time.Microsecond)
	get := command("g1", "webhook.get", nil)
	get.Fingerprint, get.Roles = "", nil
	return map[string]registry.Command{
		"webhook_put.json":  put,
		"webhook_get.json":  get,
		"cluster_init.json": initialise("i1", "sealed-check"),
		"admin_reset.json":  reset("r1", passwordHash),
	}
}

// laterCommands lie there too; the first releases did not have them.
func laterCommands() map[string]registry.Command {
	outside := by(command("o1", "user.get", nil), "corp:7f3a", "reader")
	outside.PrincipalName = "Kim"
	step := by(remove("p1", 1), access.Anonymous)
	step.Effective = "batch"
	owned := step
	owned.Owner, owned.Via, owned.Call = "kim", "orders.clean-up@3", "7c9e6679-7425-40de-944b-e07fc1f90ae7"
	whole := source("webhook.orders")
	whole.MessageKeys, whole.RunAs = []string{"svc.event.webhook.#"}, []string{"batch"}
	return map[string]registry.Command{
		"pipeline_put.json":       command("l1", "pipeline.put", pipeline.Put{Name: "orders.to-stock", Source: whole, Version: new(1)}),
		"pipeline_get.json":       getPipeline("l2", "orders.to-stock", 2),
		"pipeline_delete.json":    removePipeline("l3", "orders.to-stock"),
		"pipeline_run.json":       runPipeline("l4", "orders.to-stock"),
		"pipeline_run_adhoc.json": command("l5", "pipeline.run", registry.RunParams{SHA256: "e3b0c442"}),
		"run_retry.json":          retry("l6", "orders.to-stock", "orders.log"),
		"user_put.json":           putUser("u1", "ann", passwordHash, "reader"),
		"user_delete.json":        naming("u2", "user.delete", "ann"),
		"user_get.json":           outside,
		"client_put.json":         putClient("k1", access.ClientPut{ID: "shop", SecretHash: "5f0c"}),
		"policy_put.json":         putRule("p1", access.Rule{Name: "orders", Users: []string{"ann"}, Commands: []string{"webhook.*"}, Keys: []string{"webhook.orders.*"}}),
		"key_init.json":           initKey("s1", "kid"),
		"key_rotate.json":         rotate("s2", "kid"),
		"by_a_pipeline.json":      step,
		"by_an_owners.json":       owned,
		"webhook_get_at.json":     getAt("g2", 1, "4711", 0),
	}
}

// The first records name no effective user: it was always the principal.
func TestTheFirstRecordsComeToWhatTheyCameTo(t *testing.T) {
	first, now := newMemory(), newMemory()
	for _, file := range []string{"cluster_init.json", "webhook_put.json", "webhook_get.json", "admin_reset.json"} {
		value, err := os.ReadFile("testdata/first/" + file)
		if err != nil {
			t.Fatal(err)
		}
		read, err := registry.DecodeCommand(commandRecord("command/1", value))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(goldenCommands()[file], read); diff != "" {
			t.Errorf("%s is read as another (-want +got):\n%s", file, diff)
		}
		registry.Fold(first, read)
		registry.Fold(now, goldenCommands()[file])
	}
	if diff := cmp.Diff(now.dump(t), first.dump(t)); diff != "" {
		t.Errorf("state differs (-want +got):\n%s", diff)
	}
	want := map[string]string{"i1": "", "c1": "", "g1": "forbidden", "r1": ""}
	for id, fault := range want {
		if got, ok := first.Outcomes[id]; !ok || got.Fault != fault {
			t.Errorf("%s came to %+v, want %q", id, got, fault)
		}
	}
}

// The golden files are record values as they lie on logs that exist: a reader of
// today must read them for ever, and writes the same bytes.
func TestCommandRecordsStayForEver(t *testing.T) {
	all := goldenCommands()
	maps.Copy(all, laterCommands())
	for file, c := range all {
		t.Run(file+" is written and read", func(t *testing.T) {
			golden, err := os.ReadFile("testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			want := record.Record{
				Position: record.Position{Topic: "svc.command"},
				Time:     c.Time,
				Key:      []byte(c.ID),
				Headers:  []record.Header{{Key: "svc-type", Value: []byte("command/1")}},
				Value:    []byte(strings.TrimSuffix(string(golden), "\n")),
			}
			written, err := c.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, written); diff != "" {
				t.Errorf("record differs (-want +got):\n%s", diff)
			}
			read, err := registry.DecodeCommand(&want)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c, read); diff != "" {
				t.Errorf("command differs (-want +got):\n%s", diff)
			}
		})
	}
}

func commandRecord(typ string, value []byte) *record.Record {
	return &record.Record{Headers: []record.Header{{Key: record.HeaderType, Value: []byte(typ)}}, Value: value}
}

func TestDecodeCommandRefuses(t *testing.T) {
	tests := []struct{ name, typ, value string }{
		{"a record without a type", "", `{"id":"a","name":"b","principal":"c"}`},
		{"a type of another topic", "call.accepted/1", `{"id":"a","name":"b","principal":"c"}`},
		{"a version to come", "command/2", `{"id":"a","name":"b","principal":"c"}`},
		{"a value that is no JSON", "command/1", `{`},
		{"an empty value", "command/1", ``},
		{"a value of another shape", "command/1", `"command"`},
		{"a command without id", "command/1", `{"name":"b","principal":"c"}`},
		{"a command without name", "command/1", `{"id":"a","principal":"c"}`},
		{"a command without principal", "command/1", `{"id":"a","name":"b"}`},
		{"a time of another form", "command/1", `{"id":"a","name":"b","principal":"c","time":"yesterday"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if c, err := registry.DecodeCommand(commandRecord(tt.typ, []byte(tt.value))); err == nil {
				t.Errorf("it was read as %+v", c)
			}
		})
	}
	t.Run("and takes fields that a later writer added", func(t *testing.T) {
		c, err := registry.DecodeCommand(commandRecord("command/1", []byte(`{"id":"a","name":"b","principal":"c","later":[1]}`)))
		if err != nil || c.ID != "a" {
			t.Errorf("read %+v, err %v", c, err)
		}
	})
}

// FuzzDecodeCommand holds that whatever lies on the topic is refused or read,
// that what was read is written and read as the same, and that it can be folded.
func FuzzDecodeCommand(f *testing.F) {
	for file := range goldenCommands() {
		golden, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(golden)
	}
	for file := range laterCommands() {
		later, err := os.ReadFile("testdata/" + file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(later)
	}
	f.Add([]byte(`{"id":"a","name":"webhook.put","principal":"c","roles":["administrator"],"params":null}`))
	f.Add([]byte(`{"id":"a","name":"webhook.get","principal":"c","roles":["administrator"],"params":[]}`))
	f.Add([]byte(`{"id":"a","name":"cluster.init","principal":"svc:system","params":{"admin":null}}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		c, err := registry.DecodeCommand(commandRecord(registry.CommandType, value))
		if err != nil {
			return
		}
		once, err := c.Encode()
		if err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		back, err := registry.DecodeCommand(&once)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if twice, err := back.Encode(); err != nil || !bytes.Equal(twice.Value, once.Value) {
			t.Fatalf("the record changes: %s, then %s, err %v", once.Value, twice.Value, err)
		}
		m := folded(initialise("i", "check"), initKey("k", "kid"), create("c", 1, "webhook.orders"), putUser("u", "ann", passwordHash), putPipeline("p", "orders", source()))
		registry.Fold(m, c)
		if diff := cmp.Diff(m.dump(t), restored(t, m.dump(t)).dump(t)); diff != "" {
			t.Fatalf("the folded state changes in the store:\n%s", diff)
		}
	})
}
