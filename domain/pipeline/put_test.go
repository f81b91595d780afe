package pipeline_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
	"hooklog/domain/secret"
)

var (
	monday  = time.Date(2026, 3, 2, 8, 0, 0, 123_456_789, time.UTC)
	tuesday = monday.AddDate(0, 0, 1)

	bySealedText = cmp.Comparer(func(a, b secret.Sealed) bool { return a.Reveal() == b.Reveal() })
)

func source(text string) pipeline.Source {
	return pipeline.Source{
		Body: secret.NewSealed(text), SealedFor: "c1",
		EventKeys: []string{"webhook.orders"}, MessageKeys: []string{"svc.event.webhook.#"}, RunAs: []string{"stock"},
	}
}

// stored is a pipeline that kim put on monday.
func stored() pipeline.Pipeline {
	return pipeline.Pipeline{
		Name: "orders", Version: 4, Source: source("sealed-text"),
		Created: monday, CreatedBy: "kim", Updated: monday, UpdatedBy: "kim",
	}
}

func TestNames(t *testing.T) {
	longest := strings.Repeat("a", pipeline.MaxNameLength)
	for _, valid := range []string{"a", "7", "orders", "orders.to-stock", "a-b-c.d", longest} {
		if err := pipeline.CheckName(valid); err != nil {
			t.Errorf("%s is refused: %v", valid, err)
		}
	}
	for _, invalid := range []string{"", "Orders", "a@1", "a b", "a_b", ".a", "a.", "-a", "a-", "a..b", "a\n", "ü", "*", longest + "a"} {
		if err := pipeline.CheckName(invalid); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is taken: %v", invalid, err)
		}
	}
}

func TestCheckPut(t *testing.T) {
	tests := []struct {
		name   string
		change func(*pipeline.Put)
		valid  bool
	}{
		{"a whole put is taken", func(*pipeline.Put) {}, true},
		{"a pipeline may listen to nothing", func(p *pipeline.Put) { p.EventKeys, p.MessageKeys, p.RunAs = nil, nil, nil }, true},
		{"a name is needed", func(p *pipeline.Put) { p.Name = "" }, false},
		{"a body is needed", func(p *pipeline.Put) { p.Body = secret.Sealed{} }, false},
		{"a body is bound to a command", func(p *pipeline.Put) { p.SealedFor = "" }, false},
		{"an event key is a pattern", func(p *pipeline.Put) { p.EventKeys = []string{"a", "a b"} }, false},
		{"a message key is a pattern", func(p *pipeline.Put) { p.MessageKeys = []string{""} }, false},
		{"there may be a hundred keys", func(p *pipeline.Put) { p.EventKeys = slices.Repeat([]string{"a"}, 100) }, true},
		{"there may not be more", func(p *pipeline.Put) { p.EventKeys = slices.Repeat([]string{"a"}, 101) }, false},
		{"a user has a name", func(p *pipeline.Put) { p.RunAs = []string{""} }, false},
		{"there may not be more users", func(p *pipeline.Put) { p.RunAs = slices.Repeat([]string{"a"}, 101) }, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			put := pipeline.Put{Name: "orders", Source: source("sealed-text")}
			tt.change(&put)
			err := put.Check()
			if tt.valid && err != nil {
				t.Errorf("refused: %v", err)
			}
			if !tt.valid && !fault.Is(err, fault.Invalid) {
				t.Errorf("taken: %v", err)
			}
		})
	}
}

func TestDecidePut(t *testing.T) {
	living := stored()
	deleted := pipeline.Pipeline{Name: "orders", Version: 4, Deleted: true, Created: monday, CreatedBy: "kim", Updated: monday, UpdatedBy: "kim"}
	// after is what a put by pat on tuesday leaves.
	after := func(version int, created time.Time, createdBy string) *pipeline.Pipeline {
		return &pipeline.Pipeline{
			Name: "orders", Version: version, Source: source("new-text"),
			Created: created, CreatedBy: createdBy, Updated: tuesday, UpdatedBy: "pat",
		}
	}
	tests := []struct {
		name    string
		given   *pipeline.Pipeline
		version *int
		then    *pipeline.Pipeline
		fails   fault.Kind
	}{
		{name: "the first put makes version 1", then: after(1, tuesday, "pat")},
		{name: "the next keeps who made it, and has a new owner", given: &living, then: after(5, monday, "kim")},
		{name: "a put after a deletion makes another one, and never an old version again", given: &deleted, then: after(5, tuesday, "pat")},
		{name: "a put in place of the expected version is done", given: &living, version: new(4), then: after(5, monday, "kim")},
		{name: "a put in place of an older version is a conflict", given: &living, version: new(3), fails: fault.Conflict},
		{name: "a put in place of a version to come is a conflict", given: &living, version: new(5), fails: fault.Conflict},
		{name: "what does not exist has no version to replace", version: new(1), fails: fault.NotFound},
		{name: "nor has what was deleted", given: &deleted, version: new(4), fails: fault.NotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			put := pipeline.Put{Name: "orders", Source: source("new-text"), Version: tt.version}
			got, err := put.Decide(tt.given, pipeline.Author{Name: "pat", At: tuesday})
			if tt.then == nil {
				if !fault.Is(err, tt.fails) {
					t.Fatalf("err %v, want the fault %v", err, tt.fails)
				}
				return
			}
			if diff := cmp.Diff(pipeline.Stored{Pipeline: *tt.then}, got, bySealedText); diff != "" || err != nil {
				t.Errorf("err %v, event differs (-want +got):\n%s", err, diff)
			}
			if got.Pipeline.Owner() != "pat" {
				t.Errorf("the owner is %s", got.Pipeline.Owner())
			}
		})
	}
}

func TestDecideDelete(t *testing.T) {
	living, by := stored(), pipeline.Author{Name: "pat", At: tuesday}
	got, err := pipeline.Delete{Name: "orders"}.Decide(&living, by)
	want := pipeline.Deleted{
		Before: stored(),
		After: pipeline.Pipeline{
			Name: "orders", Version: 4, Deleted: true, Created: monday, CreatedBy: "kim", Updated: tuesday, UpdatedBy: "pat",
		},
	}
	if diff := cmp.Diff(want, got, bySealedText); diff != "" || err != nil {
		t.Errorf("err %v, event differs (-want +got):\n%s", err, diff)
	}
	for name, current := range map[string]*pipeline.Pipeline{"unknown": nil, "deleted": &got.After} {
		if _, err := (pipeline.Delete{Name: "orders"}).Decide(current, by); !fault.Is(err, fault.NotFound) {
			t.Errorf("an %s pipeline: %v", name, err)
		}
	}
	if err := (pipeline.Delete{Name: "@"}).Check(); !fault.Is(err, fault.Invalid) {
		t.Errorf("a bad name: %v", err)
	}
}
