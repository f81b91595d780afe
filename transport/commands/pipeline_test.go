package commands_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
	"hooklog/transport/commands"
)

// compile stands for the compiler: a source is words, of which some are facts.
func compile(source []byte) (s pipeline.Source, err error) {
	for word := range strings.FieldsSeq(string(source)) {
		switch what, name, _ := strings.Cut(word, "="); what {
		case "listen":
			s.EventKeys = append(s.EventKeys, name)
		case "receive":
			s.MessageKeys = append(s.MessageKeys, name)
		case "as":
			s.RunAs = append(s.RunAs, name)
		case "broken":
			return s, fault.New(fault.Invalid, "The pipeline cannot be taken:\n1:1: it is broken")
		}
	}
	return s, nil
}

// runPipeline stands for the interpreter: the final body tells what was run.
func runPipeline(_ context.Context, run commands.PipelineRun) (any, error) {
	return fmt.Sprintf("%s@%d of %q as %s on %s: %s", run.Name, run.Version, run.Owner, run.Caller.Principal, run.Body, run.Source), nil
}

// listens is a source with something that must not be seen.
const listens = "listen=webhook.a receive=svc.event.webhook.* as=batch canary"

func TestPipelines(t *testing.T) {
	r := startRealm(t)
	made := into[commands.Pipeline](t, r.text("", "pipeline.put", "name=orders", "body="+listens))
	want := commands.Pipeline{
		Name: "orders", Version: 1, EventKeys: []string{"webhook.a"}, MessageKeys: []string{"svc.event.webhook.*"}, RunAs: []string{"batch"},
		Created: made.Created, CreatedBy: "ann", Updated: made.Created, UpdatedBy: "ann",
	}
	if diff := cmp.Diff(want, made); diff != "" || made.Created.IsZero() {
		t.Errorf("made (-want +got):\n%s", diff)
	}
	changed := into[commands.Pipeline](t, r.text("", "pipeline.put", "name=orders", "body=other words", "version=1"))
	if changed.Version != 2 || changed.EventKeys == nil || len(changed.EventKeys) != 0 {
		t.Errorf("changed to %+v", changed)
	}
	r.refused(fault.Conflict, "", "pipeline.put", "name=orders", "body=x", "version=1")
	for params, body := range map[string]string{"name=orders": "other words", "name=orders version=1": listens, "name=orders version=2": "other words"} {
		if got := into[commands.Pipeline](t, r.text("", "pipeline.get", strings.Fields(params)...)); got.Body != body {
			t.Errorf("%s gives %+v", params, got)
		}
	}
	r.refused(fault.NotFound, "", "pipeline.get", "name=orders", "version=3")
	if gone := into[commands.Pipeline](t, r.text("", "pipeline.delete", "name=orders")); gone.Version != 2 || gone.Body != "" {
		t.Errorf("deleted %+v", gone)
	}
	r.refused(fault.NotFound, "", "pipeline.get", "name=orders")
	r.refused(fault.NotFound, "", "pipeline.delete", "name=orders")
	if got := into[commands.Pipeline](t, r.text("", "pipeline.get", "name=orders", "version=1")); got.Body != listens {
		t.Errorf("a version of a deleted pipeline is %+v", got)
	}
}

func TestPipelinesAreListedPageByPage(t *testing.T) {
	r := startRealm(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		r.text("", "pipeline.put", "name="+name, "body=canary")
	}
	r.text("", "policy.put", "name=r", "roles=reader", "commands=pipeline.get", "keys=a,c,d")
	var names []string
	params := []string{"limit=2"}
	for pages := 1; ; pages++ {
		text := r.run(request(t, "pipeline.get", []string{"reader"}, params...))
		if strings.Contains(text, "canary") || strings.Contains(text, `"body"`) {
			t.Errorf("a source is listed: %s", text)
		}
		page := into[commands.Page[commands.Pipeline]](t, text)
		for _, p := range page.Items {
			names = append(names, p.Name)
		}
		if page.Next == "" {
			if pages != 2 {
				t.Errorf("%d pages", pages)
			}
			break
		}
		params = []string{"limit=2", "cursor=" + page.Next}
	}
	if !slices.Equal(names, []string{"a", "c", "d"}) {
		t.Errorf("a reader reads %v", names)
	}
}

func TestWhatIsWrongWithAPipelineIsNotAppended(t *testing.T) {
	r := startRealm(t)
	for _, bad := range [][]string{
		{"pipeline.put", "name=orders", "body=broken"},
		{"pipeline.put", "name=Orders", "body=fine"},
		{"pipeline.put", "name=orders", "body=listen=web..hook"},
		{"pipeline.get", "name="},
		{"pipeline.get", "name=orders", "version=0"},
		{"pipeline.get", "version=1"},
		{"pipeline.get", "limit=0"},
		{"pipeline.get", "limit=1001"},
		{"pipeline.get", "cursor=%%"},
		{"pipeline.delete", "name=a b"},
		{"pipeline.run", "name="},
		{"pipeline.run", "name=A"},
		{"pipeline.run", "name=orders", "body={"},
		{"pipeline.run", "name=orders", "body="},
	} {
		detail := r.refused(fault.Invalid, "", bad[0], bad[1:]...)
		if slices.Contains(bad, "body=broken") && !strings.Contains(detail, "1:1: it is broken") {
			t.Errorf("the fault of the source is told as %s", detail)
		}
	}
	if len(r.appended) != 0 {
		t.Errorf("%d records were appended", len(r.appended))
	}
}

func TestTheSourceOfAPipelineIsAPartOfTheRequest(t *testing.T) {
	r := startRealm(t)
	first := r.text("k", "pipeline.put", "name=orders", "body=one")
	if again := r.text("k", "pipeline.put", "name=orders", "body=one"); again != first {
		t.Errorf("a repeat answers %s after %s", again, first)
	}
	r.refused(fault.Conflict, "k", "pipeline.put", "name=orders", "body=two")
	if p := r.state.pipelines["orders"]; p.Version != 1 {
		t.Errorf("the pipeline is %+v", p)
	}
}

// Every record, outcome and answer but that of the get is searched for what the
// source says.
func TestASourceIsSealed(t *testing.T) {
	r := startRealm(t)
	shown := []string{
		r.text("", "pipeline.put", "name=orders", "body="+listens),
		r.text("", "pipeline.get"),
		r.text("", "pipeline.delete", "name=orders"),
	}
	if got := r.text("", "pipeline.get", "name=orders", "version=1"); !strings.Contains(got, "canary") {
		t.Fatalf("the search would find nothing in %s", got)
	}
	if _, err := r.d.RunSource(t.Context(), adHoc(administrator), []byte(listens)); err != nil {
		t.Fatal(err)
	}
	for _, rec := range r.appended {
		shown = append(shown, string(rec.Value))
	}
	outcomes, err := json.Marshal(r.state.outcomes)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range append(shown, string(outcomes)) {
		if strings.Contains(text, "canary") {
			t.Errorf("the source stands in %s", text)
		}
	}
	if sealed := r.state.pipelines["orders@1"].Body.Reveal(); strings.Contains(string(outcomes), sealed) {
		t.Error("outcomes keep sources")
	}
}
