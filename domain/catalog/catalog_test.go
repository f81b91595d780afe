package catalog_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/catalog"
)

func TestEveryCommandHasItsKind(t *testing.T) {
	want := map[string]catalog.Kind{
		"webhook.put":     catalog.Change,
		"webhook.get":     catalog.RegistryRead,
		"webhook.list":    catalog.Look,
		"webhook.delete":  catalog.Change,
		"webhook.receive": catalog.Receive,
		"user.put":        catalog.Change,
		"user.get":        catalog.RegistryRead,
		"user.delete":     catalog.Change,
		"client.put":      catalog.Change,
		"client.get":      catalog.RegistryRead,
		"client.delete":   catalog.Change,
		"policy.put":      catalog.Change,
		"policy.get":      catalog.RegistryRead,
		"policy.delete":   catalog.Change,
		"key.rotate":      catalog.Change,
		"pipeline.put":    catalog.Change,
		"pipeline.get":    catalog.RegistryRead,
		"pipeline.delete": catalog.Change,
		"pipeline.run":    catalog.Change,
		"run.get":         catalog.Look,
		"run.retry":       catalog.Change,
		"trace.get":       catalog.Look,
		"event.get":       catalog.Look,
		"event.tail":      catalog.Look,
		"checkpoint.put":  catalog.Change,
		"checkpoint.get":  catalog.Look,
		"audit.get":       catalog.Look,
		"audit.export":    catalog.Look,
	}
	got := map[string]catalog.Kind{}
	for _, c := range catalog.All() {
		got[c.Name] = c.Kind
		if c.ReadOnly() == (c.Kind == catalog.Change) {
			t.Errorf("%s: GET may run it: %v", c.Name, c.ReadOnly())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("commands differ (-want +got):\n%s", diff)
	}
}

func TestATriggeredPipelineMayNotDecideWhoMayDoWhat(t *testing.T) {
	want := []string{
		"webhook.put", "webhook.get", "webhook.delete",
		"pipeline.get", "pipeline.delete", "pipeline.run", "run.retry", "checkpoint.put",
	}
	var got []string
	for _, c := range catalog.All() {
		if c.Step() {
			got = append(got, c.Name)
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps differ (-want +got):\n%s", diff)
	}
}

func TestEveryCommandExplainsItself(t *testing.T) {
	for _, c := range catalog.All() {
		t.Run(c.Name+" can be looked up, read and called without doubt", func(t *testing.T) {
			found, ok := catalog.Lookup(c.Name)
			if !ok {
				t.Fatal("it cannot be looked up")
			}
			if diff := cmp.Diff(c, found); diff != "" {
				t.Errorf("the look-up gives another (-want +got):\n%s", diff)
			}
			if c.Help == "" {
				t.Error("it has no help")
			}
			names := map[string]bool{}
			for _, p := range c.Params {
				if p.Help == "" {
					t.Errorf("%s has no help", p.Name)
				}
				for _, name := range []string{p.Name, p.Alias} {
					if name != "" && names[name] {
						t.Errorf("%s names two parameters", name)
					}
					names[name] = true
				}
			}
		})
	}
}

func TestAnUnknownCommandIsNotFound(t *testing.T) {
	for _, name := range []string{"", "webhook", "webhook.PUT", "cluster.init", "admin.reset", "key.init"} {
		if c, ok := catalog.Lookup(name); ok {
			t.Errorf("%q gives %s", name, c.Name)
		}
	}
}

func TestTheListIsTheCallersOwn(t *testing.T) {
	catalog.All()[0].Name = "webhook.broken"
	if _, ok := catalog.Lookup(catalog.WebhookPut); !ok {
		t.Error("a caller changed the catalog")
	}
}
