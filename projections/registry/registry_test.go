package registry_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/record"
	"hooklog/domain/webhook"
	"hooklog/projections/projectiontest"
	"hooklog/projections/registry"
)

func TestTheGateFollowsTheWebhook(t *testing.T) {
	i := start(t)
	check := func(after string, want webhook.Gate, wantOpen bool) {
		t.Helper()
		got, open := i.Gate(token(1).Hash())
		if open != wantOpen || got != want {
			t.Errorf("after %s: gate %+v, open %v, want %+v, %v", after, got, open, want, wantOpen)
		}
	}
	key, raw, length := "webhook.moved", webhook.Raw, 7
	created := webhook.Gate{EventKey: "webhook.a", Last6: "000001", PayloadType: webhook.Base64, MaxPayloadLength: 512000}
	edited := webhook.Gate{EventKey: key, Last6: "000001", PayloadType: raw, MaxPayloadLength: length}

	check("nothing", webhook.Gate{}, false)
	i.fold(create("c", 1, "webhook.a"))
	check("its creation", created, true)
	i.fold(edit("e", 1, webhook.Put{EventKey: &key, PayloadType: &raw, MaxPayloadLength: &length}))
	check("an edit", edited, true)
	i.fold(enable("off", 1, false))
	check("its disabling", webhook.Gate{}, false)
	i.fold(enable("off again", 1, false))
	check("its disabling again", webhook.Gate{}, false)
	i.fold(enable("on", 1, true))
	check("its enabling", edited, true)
	i.fold(create("other", 2, "webhook.a"), remove("d", 1))
	check("its deletion", webhook.Gate{}, false)
	if _, open := i.Gate(token(2).Hash()); !open {
		t.Error("the deletion of one closed the gate of another")
	}
	i.fold(create("c again", 1, "webhook.b"), enable("on and off", 1, false), enable("off and on", 1, true), remove("d again", 1))
	check("a whole life in one batch", webhook.Gate{}, false)
}

func TestACommandThatFailsOpensNoGate(t *testing.T) {
	i := start(t)
	stranger := create("s", 2, "webhook.b")
	stranger.Roles = nil
	i.fold(create("c", 1, "webhook.a"), create("taken", 3, "webhook.a"), stranger)
	for n, want := range map[int]bool{1: true, 2: false, 3: false} {
		if _, open := i.Gate(token(n).Hash()); open != want {
			t.Errorf("gate of token %d is open: %v, want %v", n, open, want)
		}
	}
}

func TestTheGatesOfAStoreAreOpenFromTheStart(t *testing.T) {
	s, log := projectiontest.OpenStore(t), projectiontest.NewLog(record.TopicCommand, 1)
	log.Append(encode(create("c1", 1, "webhook.a"), create("c2", 2, "webhook.b"), create("c3", 3, "webhook.c"), enable("off", 2, false), remove("d", 3))...)
	first, err := registry.New(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := projectiontest.Start(t, first, s, log).Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, err := registry.New(s) // folds nothing
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]bool{1: true, 2: false, 3: false, 4: false} {
		got, open := second.Gate(token(n).Hash())
		if before, _ := first.Gate(token(n).Hash()); open != want || got != before {
			t.Errorf("gate of token %d: %+v, open %v, want %+v, %v", n, got, open, before, want)
		}
	}
}

func TestWebhooksAreListedByTheirEventKeys(t *testing.T) {
	i := start(t)
	moved := "webhook.a-0"
	i.fold(
		create("c1", 1, "webhook.z"), create("c2", 2, "webhook.a.b"), create("c3", 3, "webhook.a"), create("c4", 4, "webhook.gone"),
		create("c5", 5, "webhook.moved"), edit("e", 5, webhook.Put{EventKey: &moved}), enable("off", 2, false), remove("d", 4),
	)
	keys := []string{"webhook.a", "webhook.a-0", "webhook.a.b", "webhook.z"}
	tests := []struct {
		after string
		limit int
		want  []string
	}{
		{"", 0, keys},
		{"", 2, keys[:2]},
		{"", 9, keys},
		{"webhook.a", 0, keys[1:]},
		{"webhook.a-0", 1, keys[2:3]},
		{"webhook.b", 0, keys[3:]}, // a key that nobody has
		{"webhook.z", 0, nil},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("at most %d after %q", tt.limit, tt.after), func(t *testing.T) {
			list, err := i.Webhooks(tt.after, tt.limit, all)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, w := range list {
				got = append(got, w.EventKey)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("event keys (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("without those that are not readable", func(t *testing.T) {
		list, err := i.Webhooks("webhook.a", 2, func(key string) bool { return key != "webhook.a-0" })
		if err != nil || len(list) != 2 || list[0].EventKey != "webhook.a.b" || list[1].EventKey != "webhook.z" {
			t.Errorf("listed %+v, %v", list, err)
		}
	})
	t.Run("with all their fields", func(t *testing.T) {
		list, err := i.Webhooks("webhook.a", 1, all)
		if err != nil {
			t.Fatal(err)
		}
		w := list[0]
		if w.Token.Hash != token(5).Hash() || w.Token.Sealed.Reveal() != "sealed" || w.Version != 2 || w.CreatedBy != "kim" || !w.Created.Equal(monday) {
			t.Errorf("webhook is %+v", w)
		}
	})
}

func TestTheFirstStartCountsForClusterAndAdministrator(t *testing.T) {
	i := start(t)
	if _, ok, err := i.Cluster(); ok || err != nil {
		t.Fatalf("a cluster before the first command: %v, %v", ok, err)
	}
	if _, ok, err := i.User(access.Administrator); ok || err != nil {
		t.Fatalf("an administrator before the first command: %v, %v", ok, err)
	}
	i.fold(initialise("i1", "first"), initialise("i2", "second"), reset("r", passwordHash+"2"))
	cluster, ok, err := i.Cluster()
	if err != nil || !ok || cluster.Check != "first" || cluster.CheckedBy != "i1" || !cluster.Created.Equal(monday) {
		t.Errorf("cluster is %+v, %v, %v", cluster, ok, err)
	}
	admin, ok, err := i.User(access.Administrator)
	if err != nil || !ok || admin.PasswordHash != passwordHash+"2" || admin.Version != 2 {
		t.Errorf("administrator is %+v, %v, %v", admin, ok, err)
	}
	if _, ok, err := i.User("nobody"); ok || err != nil {
		t.Errorf("an unknown user is known: %v, %v", ok, err)
	}
}
