package registry_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/pipeline"
	"hooklog/domain/registry"
)

// stored lists the living pipelines as name@version of their owners.
func stored(m *memory) map[string]string {
	got := map[string]string{}
	for name, p := range m.Pipelines {
		if name == p.Name && !p.Deleted {
			got[p.Listener()] = p.Owner()
		}
	}
	return got
}

func expecting(version int, put registry.Command, s pipeline.Source) registry.Command {
	return command(put.ID, put.Name, pipeline.Put{Name: "orders", Source: s, Version: &version})
}

func TestPipelineCommands(t *testing.T) {
	one := []registry.Command{putPipeline("p1", "orders", source("webhook.orders"))}
	two := []registry.Command{one[0], putPipeline("p2", "orders", source("webhook.*"))}
	gone := []registry.Command{one[0], removePipeline("d", "orders")}
	put := putPipeline("x", "orders", source())
	type pipelines map[string]string
	tests := []struct {
		name  string
		given []registry.Command
		when  registry.Command
		fails string
		then  pipelines
	}{
		{"a put stores a pipeline", nil, put, "", pipelines{"orders@1": "kim"}},
		{"a second put replaces it by the next version", one, put, "", pipelines{"orders@2": "kim"}},
		{"a put by another makes that one the owner", one, by(put, "pat", access.RoleAdministrator), "", pipelines{"orders@2": "pat"}},
		{"a put that expects the version is done", two, expecting(2, put, source()), "", pipelines{"orders@3": "kim"}},
		{"a put that expects another version is a conflict", two, expecting(1, put, source()), "conflict", pipelines{"orders@2": "kim"}},
		{"a put that expects what is deleted finds none", gone, expecting(1, put, source()), "not-found", pipelines{}},
		{"a put of a bad name is refused", nil, putPipeline("x", "Orders", source()), "invalid", pipelines{}},
		{"a put of a bad key is refused", nil, putPipeline("x", "orders", source("webhook..orders")), "invalid", pipelines{}},
		{"a put without a body is refused", nil, putPipeline("x", "orders", pipeline.Source{}), "invalid", pipelines{}},
		{"a put without parameters is refused", nil, command("x", "pipeline.put", nil), "invalid", pipelines{}},
		{"a name that was deleted counts on", gone, put, "", pipelines{"orders@2": "kim"}},
		{"a deletion ends the pipeline", two, removePipeline("x", "orders"), "", pipelines{}},
		{"a second deletion finds none", gone, removePipeline("x", "orders"), "not-found", pipelines{}},
		{"a deletion of a bad name is refused", one, removePipeline("x", "Orders"), "invalid", pipelines{"orders@1": "kim"}},
		{"a get finds the latest", two, getPipeline("x", "orders", 0), "", pipelines{"orders@2": "kim"}},
		{"a get finds a version that was replaced", two, getPipeline("x", "orders", 1), "", pipelines{"orders@2": "kim"}},
		{"a get finds a version that was deleted", gone, getPipeline("x", "orders", 1), "", pipelines{}},
		{"a get of a version to come finds none", two, getPipeline("x", "orders", 3), "not-found", pipelines{"orders@2": "kim"}},
		{"a get of what was deleted finds none", gone, getPipeline("x", "orders", 0), "not-found", pipelines{}},
		{"a get of what never was finds none", one, getPipeline("x", "stock", 0), "not-found", pipelines{"orders@1": "kim"}},
		{"a get of all is allowed", one, command("x", "pipeline.get", nil), "", pipelines{"orders@1": "kim"}},
		{"a run changes nothing", two, runPipeline("x", "orders"), "", pipelines{"orders@2": "kim"}},
		{"a run of what was deleted finds none", gone, runPipeline("x", "orders"), "not-found", pipelines{}},
		{"a run of what never was finds none", nil, runPipeline("x", "orders"), "not-found", pipelines{}},
		{"a run of a bad name is refused", one, runPipeline("x", "Orders"), "invalid", pipelines{"orders@1": "kim"}},
		{"a run of what the caller brought is allowed", nil, command("x", "pipeline.run", registry.RunParams{SHA256: "5f0c"}), "", pipelines{}},
		{"a run of nothing is refused", one, command("x", "pipeline.run", registry.RunParams{}), "invalid", pipelines{"orders@1": "kim"}},
		{"a run of two things is refused", one, command("x", "pipeline.run", registry.RunParams{Name: "orders", SHA256: "5f0c"}), "invalid", pipelines{"orders@1": "kim"}},
		{"a retry changes nothing, whatever became of the pipeline", gone, retry("x", "orders"), "", pipelines{}},
		{"a retry of no pipeline is refused", one, retry("x"), "invalid", pipelines{"orders@1": "kim"}},
		{"a retry of a bad name is refused", one, retry("x", "Orders"), "invalid", pipelines{"orders@1": "kim"}},
		{"a retry of no call is refused", one, command("x", "run.retry", registry.RetryParams{Pipelines: []string{"orders"}}), "invalid", pipelines{"orders@1": "kim"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := folded(tt.given...)
			outcome := registry.Fold(m, tt.when).Outcome
			if outcome.Fault != tt.fails {
				t.Errorf("fault %q (%s), want %q", outcome.Fault, outcome.Detail, tt.fails)
			}
			if diff := cmp.Diff(tt.then, pipelines(stored(m))); diff != "" {
				t.Errorf("pipelines differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(outcome, m.Outcomes["x"], bySealedText); diff != "" {
				t.Errorf("the remembered outcome differs (-answered +remembered):\n%s", diff)
			}
		})
	}
}

func TestEveryVersionOfAPipelineStays(t *testing.T) {
	m := folded(
		putPipeline("p1", "orders", source("webhook.a")),
		by(putPipeline("p2", "orders", source("webhook.b")), "pat", access.RoleAdministrator),
		removePipeline("d", "orders"),
		putPipeline("p3", "orders", source("webhook.c")),
	)
	for version, want := range map[int]string{1: "webhook.a kim", 2: "webhook.b pat", 3: "webhook.c kim"} {
		p, ok := m.Pipeline("orders", version)
		if got := fmt.Sprint(p.EventKeys[0], " ", p.Owner()); !ok || got != want || p.Version != version || p.Body.IsZero() {
			t.Errorf("version %d is %+v, %v, want %s", version, p, ok, want)
		}
	}
	if slices.Collect(maps.Keys(stored(m)))[0] != "orders@3" {
		t.Errorf("stored are %v", stored(m))
	}
}

func TestOnlyAnOutsideOwnersRolesAreKept(t *testing.T) {
	m := folded(
		by(putPipeline("p1", "orders", source("webhook.a")), "corp:5d", access.RoleAdministrator),
		by(putPipeline("p2", "stock", source("webhook.a")), "pat", access.RoleAdministrator),
	)
	for name, want := range map[string][]string{"orders": {access.RoleAdministrator}, "stock": nil} {
		if p, ok := m.Pipeline(name, 1); !ok || !slices.Equal(p.OwnerRoles, want) {
			t.Errorf("%s has an owner with %v, want %v", name, p.OwnerRoles, want)
		}
	}
}

func TestOutcomesShowThePipelineWithoutItsSource(t *testing.T) {
	m := newMemory()
	steps := []struct {
		name string
		when registry.Command
		then string
	}{
		{"a put answers what it stored", putPipeline("p1", "orders", source("webhook.a")), "orders@1 webhook.a"},
		{"a further put answers that", putPipeline("p2", "orders", source("webhook.b")), "orders@2 webhook.b"},
		{"a get answers the latest", getPipeline("g1", "orders", 0), "orders@2 webhook.b"},
		{"a get of a version answers that", getPipeline("g2", "orders", 1), "orders@1 webhook.a"},
		{"a get of all names none", command("g3", "pipeline.get", nil), ""},
		{"a run answers the version to run", runPipeline("r1", "orders"), "orders@2 webhook.b"},
		{"a run of what the caller brought names none", command("r2", "pipeline.run", registry.RunParams{SHA256: "5f0c"}), ""},
		{"a deletion answers the last state", removePipeline("d", "orders"), "orders@2 webhook.b"},
		{"a retry names none", retry("t", "orders"), ""},
	}
	for _, step := range steps {
		outcome := registry.Fold(m, step.when).Outcome
		got := ""
		if p := outcome.Pipeline; p != nil {
			got = p.Listener() + " " + strings.Join(p.EventKeys, " ")
			if !p.Body.IsZero() || p.SealedFor != "" || p.Deleted {
				t.Errorf("%s; it is %+v", step.name, p)
			}
		}
		if got != step.then || outcome.Fault != "" {
			t.Errorf("%s; it answers %q, %q, want %q", step.name, got, outcome.Fault, step.then)
		}
	}
}

// The rules of a policy are put by an administrator, and ann's puts judged by them.
func TestAPipelineNeedsTheRightsOfItsOwner(t *testing.T) {
	rule := func(commands, keys string, runAs ...string) registry.Command {
		r := access.Rule{Name: "ann", Users: []string{"ann"}, RunAs: runAs}
		r.Commands, r.Keys = strings.Fields(commands), strings.Fields(keys)
		return putRule("rule", r)
	}
	messages := func(keys ...string) pipeline.Source {
		s := source()
		s.MessageKeys = keys
		return s
	}
	runsAs := func(users ...string) pipeline.Source {
		s := source()
		s.RunAs = users
		return s
	}
	tests := []struct {
		name   string
		rule   registry.Command
		source pipeline.Source
		fails  string
	}{
		{"without the right to put", rule("event.listen", "*"), source(), "forbidden"},
		{"with the right to put this name", rule("pipeline.put", "orders"), source(), ""},
		{"with the right to put below another name", rule("pipeline.put", "stock.*"), source(), "forbidden"},
		{"with the right to put and none to listen", rule("pipeline.put", "*"), source("webhook.a"), "forbidden"},
		{"with the right to listen to the key", rule("pipeline.put event.listen", "orders webhook.a"), source("webhook.a"), ""},
		{"with the right to listen to one key of two", rule("pipeline.put event.listen", "orders webhook.a"), source("webhook.a", "webhook.b"), "forbidden"},
		{"with the right to receive in place of that to listen", rule("pipeline.put message.receive", "*"), source("webhook.a"), "forbidden"},
		{"with a wildcard that the rule covers", rule("pipeline.put event.listen", "orders webhook.*"), source("webhook.*"), ""},
		{"with a wildcard wider than the rule", rule("pipeline.put event.listen", "orders webhook.a.*"), source("webhook.*"), "forbidden"},
		{"with a # wider than the rule", rule("pipeline.put event.listen", "orders webhook.a.*"), source("webhook.a.#"), "forbidden"},
		{"with a # within the rule", rule("pipeline.put event.listen", "orders webhook.a webhook.a.*"), source("webhook.a.#"), ""},
		{"with a # and every key", rule("pipeline.put event.listen", "*"), source("#"), ""},
		{"with the right to receive the message of the key", rule("pipeline.put message.receive", "orders webhook.a"), messages("svc.event.webhook.a"), ""},
		{"with the right to receive the messages below the key", rule("pipeline.put message.receive", "orders webhook.*"), messages("svc.event.webhook.*"), ""},
		{"with a message wider than the rule", rule("pipeline.put message.receive", "orders webhook.a"), messages("svc.event.webhook.*"), "forbidden"},
		{"with the right to listen in place of that to receive", rule("pipeline.put event.listen", "*"), messages("svc.event.webhook.a"), "forbidden"},
		{"with a message key without the prefix that the rule does not name", rule("pipeline.put message.receive", "orders webhook.*"), messages("svc.*.webhook.a"), "forbidden"},
		{"running as a user that the rule names", rule("pipeline.put", "*", "batch"), runsAs("batch"), ""},
		{"running as one of two users that the rule names", rule("pipeline.put", "*", "batch"), runsAs("batch", "admin"), "forbidden"},
		{"running as a user without a right to", rule("pipeline.put iam.run.as", "*"), runsAs("batch"), "forbidden"},
		{"running as its own owner without a right to", rule("pipeline.put", "*"), runsAs("ann"), "forbidden"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := folded(initialise("i", "check"), tt.rule)
			outcome := registry.Fold(m, by(putPipeline("x", "orders", tt.source), "ann", "reader")).Outcome
			if outcome.Fault != tt.fails {
				t.Errorf("fault %q (%s), want %q", outcome.Fault, outcome.Detail, tt.fails)
			}
			if was := len(m.Pipelines) > 0; was != (tt.fails == "") {
				t.Errorf("it was stored: %v", was)
			}
			if outcome := registry.Fold(m, putPipeline("y", "orders", tt.source)).Outcome; outcome.Fault != "" {
				t.Errorf("an administrator may not: %s", outcome.Detail)
			}
		})
	}
	t.Run("an edit needs the rights of who edits, not of who owned it", func(t *testing.T) {
		m := folded(initialise("i", "check"), putPipeline("p", "orders", runsAs("batch")), rule("pipeline.put", "*"))
		if outcome := registry.Fold(m, by(putPipeline("x", "orders", runsAs("batch")), "ann")).Outcome; outcome.Fault != "forbidden" {
			t.Errorf("outcome %+v", outcome)
		}
		if diff := cmp.Diff(map[string]string{"orders@1": "kim"}, stored(m)); diff != "" {
			t.Errorf("pipelines differ (-want +got):\n%s", diff)
		}
	})
}

func TestTheRightToAPipelineIsAskedForBeforeItsName(t *testing.T) {
	given := []registry.Command{
		initialise("i", "check"), putPipeline("p", "orders", source()),
		putRule("r", access.Rule{Name: "ann", Users: []string{"ann"}, Commands: []string{"pipeline.*", "run.*"}, Keys: []string{"stock.*"}}),
	}
	for _, name := range []string{"orders", "nothing"} {
		for _, c := range []registry.Command{
			putPipeline("x", name, source()), getPipeline("x", name, 0), getPipeline("x", name, 1),
			removePipeline("x", name), runPipeline("x", name), retry("x", name), retry("x", "stock.a", name),
		} {
			m := folded(given...)
			if outcome := registry.Fold(m, by(c, "ann")).Outcome; outcome.Fault != "forbidden" || outcome.Pipeline != nil {
				t.Errorf("%s of %s: %+v, want forbidden", c.Name, name, outcome)
			}
		}
	}
	m := folded(given...)
	for _, c := range []registry.Command{
		putPipeline("x1", "stock.a", source()), getPipeline("x2", "stock.a", 0), runPipeline("x3", "stock.a"),
		command("x4", "pipeline.run", registry.RunParams{SHA256: "5f0c"}), retry("x5", "stock.a", "stock.b"), removePipeline("x6", "stock.a"),
	} {
		if outcome := registry.Fold(m, by(c, "ann")).Outcome; outcome.Fault != "" {
			t.Errorf("%s of what the rule covers: %+v", c.Name, outcome)
		}
	}
}
