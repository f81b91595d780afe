package registry_test

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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

// The golden files are record values as they lie on logs that exist: a reader of
// today must read them for ever, and writes the same bytes.
func TestCommandRecordsStayForEver(t *testing.T) {
	for file, c := range goldenCommands() {
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
		m := folded(initialise("i", "check"), create("c", 1, "webhook.orders"))
		registry.Fold(m, c)
		if diff := cmp.Diff(m.dump(t), restored(t, m.dump(t)).dump(t)); diff != "" {
			t.Fatalf("the folded state changes in the store:\n%s", diff)
		}
	})
}
