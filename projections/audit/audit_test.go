package audit_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	domain "hooklog/domain/audit"
	"hooklog/domain/catalog"
	"hooklog/domain/record"
	commands "hooklog/domain/registry"
	"hooklog/projections/audit"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/registry"
	"hooklog/projections/store"
)

func TestTheAuditIsAProjection(t *testing.T) {
	projectiontest.Run(t, projectiontest.Contract{
		New: func(s *store.Store) (fold.Projection, error) { return audit.New(s), nil },
		History: []record.Record{
			look("l1", 0, 1), look("l2", 1, 1), look("l1", 0, 1), // repeated
			login("g1", 2), failures(3), look("l3", 1, 0), // by a clock behind
		},
		TellsOfParked: true,
	})
}

func TestTheRegistryWithAWitnessIsAProjection(t *testing.T) {
	projectiontest.Run(t, projectiontest.Contract{
		New: func(s *store.Store) (fold.Projection, error) { return registry.New(s, audit.New(s)) },
		History: []record.Record{
			create("c1", 1, "webhook.a", 1), create("c1", 1, "webhook.a", 1), // repeated
			create("c2", 2, "webhook.a", 0), // taken, and by a clock behind
			command("d1", catalog.WebhookDelete, 2, ref(1)), command("g1", catalog.WebhookGet, 2, nil),
			by("ann", nil, "n1", catalog.WebhookGet, 3, nil), command("n2", "webhook.paint", 3, nil),
		},
		TellsOfParked: true,
	})
}

func TestEveryRecordIsAnEntry(t *testing.T) {
	i := start(t)
	broken := look("?", 1, 6)
	broken.Value = []byte("{")
	nothing := command("?", "?", 5, nil)
	nothing.Headers = nil
	accept := by(access.System, nil, "a1", commands.LogAccept, 4, commands.AcceptParams{Reason: "?"})
	i.fold(
		create("c1", 1, "webhook.a", 1), create("c1", 1, "webhook.a", 1), create("c2", 2, "webhook.a", 3), accept, nothing,
		by("ann", nil, "n1", catalog.WebhookGet, 7, nil), look("l1", 0, 2), broken, login("g1", 8), failures(9),
	)
	want := []string{
		"/login/unauthenticated", "g1/login/ok", "n1/webhook.get/forbidden", "//invalid", "//invalid", "a1/log.accept/ok",
		"c2/webhook.put/conflict", "l1/webhook.list/ok", "c1/webhook.put/ok", "c1/webhook.put/ok",
	}
	if diff := cmp.Diff(want, i.list(domain.Filter{}, 100)); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
	t.Run("with its place, what it changed, and whether it did", func(t *testing.T) {
		page, _, err := i.List(domain.Filter{Command: catalog.WebhookPut, OldestFirst: true, Readable: func(string) bool { return true }}, "", 2)
		if err != nil || len(page) != 2 {
			t.Fatalf("%+v, %v", page, err)
		}
		first, repeat := page[0], page[1]
		if first.Position() != (record.Position{Topic: record.TopicCommand}) || first.Repeat || first.Before != nil ||
			!strings.Contains(string(first.After), `"eventKey":"webhook.a"`) || strings.Contains(string(first.After), "sealed") {
			t.Errorf("the first is %+v, which made %s", first, first.After)
		}
		if repeat.Offset != 1 || !repeat.Repeat || repeat.After != nil || repeat.Outcome != domain.OK {
			t.Errorf("the repeat is %+v, which made %s", repeat, repeat.After)
		}
	})
}

func TestBothLogsAreOneOrderOfTime(t *testing.T) {
	i := start(t)
	i.fold(
		look("l1", 0, 1), create("c2", 2, "webhook.b", 2), look("l3", 1, 3), create("c3", 3, "webhook.c", 3), look("l5", 1, 5), create("c4", 4, "webhook.d", 4),
		look("l2", 0, 2), command("d5", catalog.WebhookDelete, 5, ref(2)), command("g5", catalog.WebhookGet, 5, ref(3)), // of one moment
	)
	all := []string{"l1", "l2", "c2", "l3", "c3", "c4", "l5", "d5", "g5"}
	tests := []struct {
		name   string
		filter domain.Filter
		want   []string
	}{
		{"all", domain.Filter{}, all},
		{"from a time on", domain.Filter{From: minute(3)}, all[3:]},
		{"from a moment behind a time on", domain.Filter{From: minute(3).Add(1)}, all[5:]},
		{"before a time", domain.Filter{To: minute(3)}, all[:3]},
		{"before a moment behind a time", domain.Filter{To: minute(3).Add(1)}, all[:5]},
		{"between two times", domain.Filter{From: minute(2), To: minute(4)}, all[1:5]},
		{"in no time", domain.Filter{From: minute(6)}, nil},
		{"of a user", domain.Filter{User: "ann"}, []string{"l1", "l2", "l3", "l5"}},
		{"of a webhook", domain.Filter{Webhook: "webhook.b"}, []string{"c2", "d5"}},
		{"of a last6", domain.Filter{Webhook: "000003"}, []string{"c3", "g5"}},
		{"that may be seen", domain.Filter{Readable: func(key string) bool { return key == "webhook.b" }}, []string{"c2", "d5"}},
		{"none", domain.Filter{Command: "user.put"}, nil},
	}
	for _, tt := range tests {
		for _, limit := range []int{1, 2, 3, 100} {
			for _, oldestFirst := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, %d on a page, oldest first %v", tt.name, limit, oldestFirst), func(t *testing.T) {
					tt.filter.OldestFirst = oldestFirst
					var got []string
					for _, line := range i.list(tt.filter, limit) {
						got = append(got, line[:2])
					}
					if !oldestFirst {
						slices.Reverse(got)
					}
					if diff := cmp.Diff(tt.want, got); diff != "" {
						t.Errorf("entries (-want +got):\n%s", diff)
					}
				})
			}
		}
	}
	t.Run("a place that never was is no failure", func(t *testing.T) {
		for _, place := range []string{"\x00", "x", strings.Repeat("\xff", 30)} {
			if _, _, err := i.List(domain.Filter{Readable: func(string) bool { return true }}, place, 2); err != nil {
				t.Errorf("%q: %v", place, err)
			}
		}
	})
}

func TestAPageLooksAtABoundedNumberOfRows(t *testing.T) {
	i := start(t)
	i.accesses.Append(login("first", 0))
	for range audit.MaxLooked {
		i.accesses.Append(look("l", 0, 1))
	}
	i.fold(login("last", 2))
	for _, oldestFirst := range []bool{true, false} {
		f := domain.Filter{Command: domain.Login, All: true, OldestFirst: oldestFirst}
		page, next, err := i.List(f, "", 100)
		if len(page) != 1 || next == "" || err != nil {
			t.Fatalf("%d entries, next %q, %v: the first page must have one, and end with a next", len(page), next, err)
		}
		page, next, err = i.List(f, next, 100)
		if len(page) != 1 || next != "" || err != nil {
			t.Fatalf("%d entries, next %q, %v: the second page must have the other", len(page), next, err)
		}
	}
}
