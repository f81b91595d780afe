package pipeline_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hooklog/domain/pipeline"
)

func listens(name string, version int, eventKeys ...string) pipeline.Pipeline {
	return pipeline.Pipeline{Name: name, Version: version, Source: pipeline.Source{EventKeys: eventKeys}}
}

func receives(name string, version int, keys ...string) pipeline.Pipeline {
	return pipeline.Pipeline{Name: name, Version: version, Source: pipeline.Source{MessageKeys: keys}}
}

func TestListeners(t *testing.T) {
	tests := []struct {
		name  string
		given []pipeline.Pipeline
		want  []string
	}{
		{"nobody listens", nil, nil},
		{"by its key", []pipeline.Pipeline{listens("a", 3, "webhook.orders")}, []string{"a@3"}},
		{"by another key", []pipeline.Pipeline{listens("a", 3, "webhook.order")}, nil},
		{"by a wildcard", []pipeline.Pipeline{listens("a", 1, "webhook.*")}, []string{"a@1"}},
		{"by its message key", []pipeline.Pipeline{receives("a", 1, "svc.event.webhook.orders")}, []string{"a@1"}},
		{"by a wildcard behind the prefix", []pipeline.Pipeline{receives("a", 1, "svc.event.#")}, []string{"a@1"}},
		{"a message key without the prefix never matches", []pipeline.Pipeline{receives("a", 1, "webhook.orders")}, nil},
		{"nor does one whose wildcards stand for the prefix", []pipeline.Pipeline{
			receives("a", 1, "#"), receives("b", 1, "svc.#"), receives("c", 1, "*.event.webhook.orders"), receives("d", 1, "svc.*.webhook.orders"),
		}, nil},
		{"an event key has no prefix", []pipeline.Pipeline{listens("a", 1, "svc.event.webhook.orders")}, nil},
		{
			"both kinds, in the order of names",
			[]pipeline.Pipeline{listens("z", 1, "webhook.orders"), receives("b", 2, "svc.event.webhook.*"), listens("a", 10, "#"), listens("a-b", 1, "webhook.orders")},
			[]string{"a@10", "a-b@1", "b@2", "z@1"},
		},
		{"a pipeline that listens twice is started once", []pipeline.Pipeline{listens("a", 1, "webhook.orders", "#", "webhook.orders")}, []string{"a@1"}},
		{"a later state replaces the earlier", []pipeline.Pipeline{listens("a", 1, "webhook.orders", "#"), listens("a", 2, "webhook.other")}, nil},
		{"a deleted one listens no more", []pipeline.Pipeline{listens("a", 1, "webhook.orders", "webhook.*"), {Name: "a", Version: 1, Deleted: true}}, nil},
		{"one without listener is no listener", []pipeline.Pipeline{listens("a", 1)}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := pipeline.NewIndex(tt.given...).Listeners("webhook.orders")
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("listeners differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAnIndexAgreesWithAskingEachPipeline(t *testing.T) {
	keys := rapid.SampledFrom([]string{"webhook.a", "webhook.b", "webhook.a.b", "webhook.*", "#", "svc.event.webhook.a", "svc.event.#"})
	rapid.Check(t, func(t *rapid.T) {
		index, last := pipeline.NewIndex(), map[string]pipeline.Pipeline{}
		for version := range rapid.IntRange(1, 30).Draw(t, "puts") {
			p := pipeline.Pipeline{
				Name:    rapid.SampledFrom([]string{"p", "q", "r", "s"}).Draw(t, "name"),
				Version: version,
				Deleted: rapid.Bool().Draw(t, "deleted"),
				Source: pipeline.Source{
					EventKeys:   rapid.SliceOfN(keys, 0, 3).Draw(t, "eventKeys"),
					MessageKeys: rapid.SliceOfN(keys, 0, 3).Draw(t, "messageKeys"),
				},
			}
			last[p.Name] = p
			index.Set(p)
		}
		for _, eventKey := range []string{"webhook.a", "webhook.b", "webhook.a.b"} {
			var want []string
			for _, p := range last {
				fits := func(pattern string) bool { return pipeline.Match(pattern, eventKey) }
				fitsMessage := func(pattern string) bool {
					return strings.HasPrefix(pattern, "svc.event.") && pipeline.Match(pattern, "svc.event."+eventKey)
				}
				if !p.Deleted && (slices.ContainsFunc(p.EventKeys, fits) || slices.ContainsFunc(p.MessageKeys, fitsMessage)) {
					want = append(want, p.Listener())
				}
			}
			slices.Sort(want) // the names here have one letter each
			if diff := cmp.Diff(want, index.Listeners(eventKey)); diff != "" {
				t.Fatalf("listeners of %s differ (-want +got):\n%s", eventKey, diff)
			}
		}
	})
}

func BenchmarkListeners(b *testing.B) {
	index := pipeline.NewIndex()
	for i := range 10_000 {
		index.Set(listens(fmt.Sprintf("p%d", i), 1, fmt.Sprintf("webhook.orders.n%d", i)))
	}
	for i := range 10 {
		index.Set(listens(fmt.Sprintf("q%d", i), 1, fmt.Sprintf("webhook.other%d.#", i)))
	}
	for b.Loop() {
		if got := index.Listeners("webhook.orders.n77"); len(got) != 1 {
			b.Fatal(got)
		}
	}
}
