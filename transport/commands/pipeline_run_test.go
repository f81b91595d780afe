package commands_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/registry"
	"hooklog/transport/commands"
)

// adHoc is a request to run what the caller brings.
func adHoc(roles []string) commands.Request {
	run, _ := catalog.Lookup(catalog.PipelineRun)
	return commands.Request{Caller: commands.Caller{Principal: "ann", Roles: roles}, Command: run}
}

// lastCommand is the record that was appended last.
func (r *realm) lastCommand() registry.Command {
	r.t.Helper()
	c, err := registry.DecodeCommand(&r.appended[len(r.appended)-1])
	if err != nil {
		r.t.Fatal(err)
	}
	return c
}

func TestAStoredPipelineIsRunAsTheCaller(t *testing.T) {
	r := startRealm(t)
	put := request(t, "pipeline.put", administrator, "name=orders", "body=words")
	put.Caller.Principal = "zoe"
	stored := into[commands.Pipeline](t, r.run(put))
	run := r.d.RunPipeline
	r.d.RunPipeline = func(ctx context.Context, got commands.PipelineRun) (any, error) {
		if got.Owner == "zoe" && !got.Put.Equal(stored.Updated) {
			t.Errorf("it was put at %v, want %v", got.Put, stored.Updated)
		}
		return run(ctx, got)
	}
	for params, want := range map[string]string{
		"name=orders":                 `orders@1 of "zoe" as ann on null: words`,
		`name=orders body={"a":1}`:    `orders@1 of "zoe" as ann on {"a":1}: words`,
		"name=orders body=\"canary\"": `orders@1 of "zoe" as ann on "canary": words`,
	} {
		if got := into[string](t, r.text("", "pipeline.run", strings.Fields(params)...)); got != want {
			t.Errorf("%s answers %s, want %s", params, got, want)
		}
		if c := r.lastCommand(); c.Name != "pipeline.run" || string(c.Params) != `{"name":"orders"}` {
			t.Errorf("recorded %s with %s", c.Name, c.Params)
		}
	}
	r.text("", "pipeline.put", "name=orders", "body=other words")
	if got := into[string](t, r.text("", "pipeline.run", "name=orders")); got != `orders@2 of "ann" as ann on null: other words` {
		t.Errorf("the new version answers %s", got)
	}
	r.text("", "pipeline.delete", "name=orders")
	r.refused(fault.NotFound, "", "pipeline.run", "name=orders")
}

func TestAPipelineThatTheCallerBringsIsRunAndNotRecorded(t *testing.T) {
	r := startRealm(t)
	answer, err := r.d.RunSource(t.Context(), adHoc(administrator), []byte(listens))
	if want := `@0 of "" as ann on null: ` + listens; err != nil || answer != want {
		t.Errorf("answered %v, %v, want %s", answer, err, want)
	}
	sum := sha256.Sum256([]byte(listens))
	want := `{"sha256":"` + hex.EncodeToString(sum[:]) + `"}`
	if c := r.lastCommand(); c.Name != "pipeline.run" || string(c.Params) != want {
		t.Errorf("recorded %s with %s, want %s", c.Name, c.Params, want)
	}
}

func TestNothingIsRunWithoutTheRight(t *testing.T) {
	r := startRealm(t)
	r.d.RunPipeline = func(context.Context, commands.PipelineRun) (any, error) {
		t.Error("it was run")
		return nil, nil
	}
	r.text("", "pipeline.put", "name=orders", "body=words")
	r.text("", "policy.put", "name=r", "roles=runner", "commands=pipeline.run", "keys=stock")
	for _, roles := range [][]string{nil, {"runner"}} {
		if _, err := r.d.Run(t.Context(), request(t, "pipeline.run", roles, "name=orders")); !fault.Is(err, fault.Forbidden) {
			t.Errorf("%v: %v, want forbidden", roles, err)
		}
	}
	if _, err := r.d.RunSource(t.Context(), adHoc(nil), []byte("words")); !fault.Is(err, fault.Forbidden) {
		t.Errorf("%v, want forbidden", err)
	}
}

func TestARunGetsTheIDOfItsCommand(t *testing.T) {
	r := startRealm(t)
	var ids []string
	r.d.RunPipeline = func(_ context.Context, run commands.PipelineRun) (any, error) {
		ids = append(ids, run.CommandID)
		return nil, nil
	}
	r.text("", "pipeline.put", "name=orders", "body=words")
	for _, key := range []string{"k", "k", ""} {
		r.text(key, "pipeline.run", "name=orders", "body=7")
		if c := r.lastCommand(); c.ID != ids[len(ids)-1] {
			t.Errorf("the command has the id %s, the run %s", c.ID, ids[len(ids)-1])
		}
	}
	if len(ids) != 3 || ids[0] != ids[1] || ids[1] == ids[2] {
		t.Errorf("the runs have the ids %v: a repeat has the same, another run another", ids)
	}
	r.refused(fault.Conflict, "k", "pipeline.run", "name=orders", "body=8")
}

func TestARunEndsWithItsCallerAndNotWithTheTimeOfACommand(t *testing.T) {
	r := startRealm(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	r.d.RunPipeline = func(ctx context.Context, _ commands.PipelineRun) (any, error) {
		if _, bounded := ctx.Deadline(); bounded {
			t.Error("the run has the deadline of a command")
		}
		cancel(gone)
		<-ctx.Done()
		return nil, context.Cause(ctx)
	}
	if _, err := r.d.RunSource(ctx, adHoc(administrator), []byte("words")); !errors.Is(err, gone) {
		t.Errorf("it ended with %v", err)
	}
}

func TestPipelinesDoNotRunEachOtherForEver(t *testing.T) {
	r := startRealm(t)
	deep := 0
	r.d.RunPipeline = func(ctx context.Context, run commands.PipelineRun) (any, error) {
		deep++
		req := request(t, "pipeline.run", administrator, "name=orders")
		req.CommandID = run.CommandID + "."
		return r.d.Run(ctx, req)
	}
	r.text("", "pipeline.put", "name=orders", "body=words")
	r.refused(fault.Invalid, "", "pipeline.run", "name=orders")
	if deep != 8 {
		t.Errorf("they ran each other %d deep", deep)
	}
}

// A step's command has the id that its run gives it, so that a repeat of the run
// gets the first outcome.
func TestACommandWithAnIDIsCarriedOutOnce(t *testing.T) {
	r := startRealm(t)
	req := request(t, "webhook.put", administrator, "eventKey=webhook.a")
	req.CommandID, req.IdempotencyKey = "derived", "the id counts"
	first := r.run(req)
	if again := r.run(req); again != first {
		t.Errorf("a repeat answers %s after %s", again, first)
	}
	if len(r.state.webhooks) != 1 || len(r.appended) != 2 || r.lastCommand().ID != "derived" {
		t.Errorf("%d webhooks, %d records, the last one %s", len(r.state.webhooks), len(r.appended), r.lastCommand().ID)
	}
	changed := request(t, "webhook.put", administrator, "eventKey=webhook.b")
	changed.CommandID = "derived"
	if again := r.run(changed); again != first {
		t.Errorf("a repeat that came to other parameters answers %s after %s", again, first)
	}
	other := request(t, "webhook.get", administrator)
	other.CommandID = "derived"
	if _, err := r.d.Run(t.Context(), other); !fault.Is(err, fault.Conflict) {
		t.Errorf("another command under the same id: %v, want a conflict", err)
	}
}

func TestASourceThatCannotBeOpenedIsNoFaultOfTheCaller(t *testing.T) {
	r := startRealm(t)
	r.text("", "pipeline.put", "name=orders", "body=words")
	r.d.Ring = newRing(t)
	for _, name := range []string{"pipeline.get", "pipeline.run"} {
		_, err := r.d.Run(t.Context(), request(t, name, administrator, "name=orders"))
		if !fault.Is(err, fault.Unavailable) || strings.Contains(fault.From(err).Detail, "words") {
			t.Errorf("%s with another ring: %v, want unavailable", name, err)
		}
	}
	if text, err := json.Marshal(r.state.pipelines["orders"]); err != nil || strings.Contains(string(text), "words") {
		t.Errorf("stored %s, %v", text, err)
	}
}
