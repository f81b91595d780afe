package pipeline_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/pipeline"
)

// The golden files lie on logs and in stores that exist: a reader of today must
// read them for ever, and writes the same bytes.
func TestTheWireFormsStayForEver(t *testing.T) {
	after, err := pipeline.Delete{Name: "orders"}.Decide(new(stored()), pipeline.Author{Name: "pat", At: tuesday})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		file  string
		value any
		read  func([]byte) (any, error)
	}{
		{"pipeline.json", stored(), read[pipeline.Pipeline]},
		{"outside.json", outside(), read[pipeline.Pipeline]},
		{"deleted.json", after.After, read[pipeline.Pipeline]},
		{"put.json", pipeline.Put{Name: "orders", Source: source("sealed-text"), Version: new(4)}, read[pipeline.Put]},
		{"delete.json", pipeline.Delete{Name: "orders"}, read[pipeline.Delete]},
	}
	for _, tt := range tests {
		t.Run(tt.file+" is written and read", func(t *testing.T) {
			golden, err := os.ReadFile("testdata/" + tt.file)
			if err != nil {
				t.Fatal(err)
			}
			written, err := json.Marshal(tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(strings.TrimSuffix(string(golden), "\n"), string(written)); diff != "" {
				t.Errorf("bytes differ (-want +got):\n%s", diff)
			}
			got, err := tt.read(golden)
			if diff := cmp.Diff(tt.value, got, bySealedText); diff != "" || err != nil {
				t.Errorf("err %v, value differs (-want +got):\n%s", err, diff)
			}
		})
	}
}

// outside is a pipeline whose owner is a user of an outside issuer.
func outside() pipeline.Pipeline {
	p := stored()
	p.UpdatedBy, p.OwnerRoles = "corp:5d", []string{"shopper"}
	return p
}

func read[T any](data []byte) (any, error) {
	var v T
	err := json.Unmarshal(data, &v)
	return v, err
}

func TestAWireFormWithoutANameIsRefused(t *testing.T) {
	for _, text := range []string{`{}`, `{"name":""}`, `{"name":7}`, `[]`} {
		for _, into := range []any{new(pipeline.Pipeline), new(pipeline.Put)} {
			if err := json.Unmarshal([]byte(text), into); err == nil {
				t.Errorf("%s was read into a %T", text, into)
			}
		}
	}
}

func TestASealedSourceIsNeverPrinted(t *testing.T) {
	p := stored()
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, p); strings.Contains(text, "sealed-text") {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}

func TestCommandIDs(t *testing.T) {
	step := pipeline.Step{Call: "5eedc0de-1234-4abc-8def-0123456789ab", Pipeline: "orders", Version: 4, Path: "2", Attempt: 1, Try: 1}
	// Commands on logs that exist have this id: it must never be made otherwise.
	const golden = "b345a0f826b0ef93f7d3a10e27d5161a4a54919fc744cea0428786c854814352"
	if got := step.CommandID(); got != golden {
		t.Errorf("the id is %s, want %s", got, golden)
	}
	seen := map[string]pipeline.Step{step.CommandID(): step}
	for _, change := range []func(*pipeline.Step){
		func(s *pipeline.Step) { s.Call = "other" },
		func(s *pipeline.Step) { s.Pipeline = "order" },
		func(s *pipeline.Step) { s.Pipeline, s.Path = "order", "s2" },
		func(s *pipeline.Step) { s.Version = 5 },
		func(s *pipeline.Step) { s.Path = "3" },
		func(s *pipeline.Step) { s.Attempt = 2 },
		func(s *pipeline.Step) { s.Try = 2 },
	} {
		other := step
		change(&other)
		if same, ok := seen[other.CommandID()]; ok {
			t.Errorf("%v and %v have the same id", other, same)
		}
		seen[other.CommandID()] = other
	}
}
