package registry_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/pipeline"
	"hooklog/domain/registry"
	"hooklog/domain/webhook"
)

// side is one side of a change in few words.
func side(state any) string {
	switch s := state.(type) {
	case nil:
		return "none"
	case webhook.Webhook:
		return fmt.Sprintf("webhook %s %d", s.EventKey, s.Version)
	case access.User:
		return fmt.Sprintf("user %s %d", s.Name, s.Version)
	case access.Client:
		return fmt.Sprintf("client %s %d", s.ID, s.Version)
	case access.Rule:
		return fmt.Sprintf("rule %s %d", s.Name, s.Version)
	case access.SigningKey:
		return "key " + s.ID
	case pipeline.Pipeline:
		return fmt.Sprintf("pipeline %s %d", s.Name, s.Version)
	}
	return fmt.Sprintf("unknown %T", state)
}

func TestADecisionTellsWhatItChanged(t *testing.T) {
	rule := access.Rule{Name: "orders", Users: []string{"ann"}, Commands: []string{"webhook.*"}}
	m := newMemory()
	for _, step := range []struct {
		when registry.Command
		want string
	}{
		{initialise("i1", "check"), "none -> user admin 1"},
		{initialise("i2", "check"), "none -> none"},
		{create("c1", 1, "webhook.a"), "none -> webhook webhook.a 1"},
		{create("c1", 1, "webhook.a"), "none -> none"}, // a repeat
		{create("c2", 2, "webhook.a"), "none -> none"}, // the key is taken
		{edit("e1", 1, webhook.Put{EventKey: new("webhook.b")}), "webhook webhook.a 1 -> webhook webhook.b 2"},
		{get("g1", 1), "none -> none"},
		{remove("d1", 1), "webhook webhook.b 2 -> none"},
		{putUser("u1", "ann", passwordHash), "none -> user ann 1"},
		{putUser("u2", "ann", "", "reader"), "user ann 1 -> user ann 2"},
		{naming("u3", "user.delete", "ann"), "user ann 2 -> none"},
		{putUser("u4", "ann", passwordHash), "none -> user ann 4"}, // the deleted one does not count
		{reset("u5", passwordHash+"2"), "user admin 1 -> user admin 2"},
		{putClient("l1", access.ClientPut{ID: "shop", SecretHash: secretHash}), "none -> client shop 1"},
		{putClient("l2", access.ClientPut{ID: "shop", Public: new(true)}), "client shop 1 -> client shop 2"},
		{naming("l3", "client.delete", "shop"), "client shop 2 -> none"},
		{putRule("r1", rule), "none -> rule orders 1"},
		{putRule("r2", rule), "rule orders 1 -> rule orders 2"},
		{naming("r3", "policy.delete", "orders"), "rule orders 2 -> none"},
		{initKey("k1", "first"), "none -> key first"},
		{rotate("k2", "second"), "key first -> key second"},
		{putPipeline("p1", "orders", source("webhook.a")), "none -> pipeline orders 1"},
		{putPipeline("p2", "orders", source("webhook.b")), "pipeline orders 1 -> pipeline orders 2"},
		{removePipeline("p3", "orders"), "pipeline orders 2 -> none"},
		{putPipeline("p4", "orders", source("webhook.b")), "none -> pipeline orders 3"},
	} {
		d := registry.Fold(m, step.when)
		if got := side(d.Change.Before) + " -> " + side(d.Change.After); got != step.want {
			t.Errorf("%s (%s) changed %s, want %s", step.when.Name, step.when.ID, got, step.want)
		}
	}
}

func TestADecisionNamesTheWebhookThatWasLookedAt(t *testing.T) {
	m := folded(create("c", 1, "webhook.a"), putRule("r", access.Rule{Name: "r", Users: []string{"ann"}, Commands: []string{"webhook.*"}, Keys: []string{"webhook.b"}}))
	for _, tt := range []struct {
		name string
		when registry.Command
		want string
	}{
		{"of a get", get("x1", 1), "webhook.a"},
		{"of a refused get", by(get("x2", 1), "ann"), "webhook.a"},
		{"of a refused repeat", by(create("c", 1, "webhook.a"), "ann"), "webhook.a"},
		{"but not for who may not run the command at all", by(get("x3", 1), "bob"), ""},
		{"and none where there is none", get("x4", 2), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if named := registry.Fold(m, tt.when).Named; named != nil {
				got = named.EventKey
			}
			if got != tt.want {
				t.Errorf("named %q, want %q", got, tt.want)
			}
		})
	}
}

func TestADecisionSaysThatItIsARepeat(t *testing.T) {
	m := folded(create("c", 1, "webhook.a"))
	late := create("c", 1, "webhook.a")
	late.Time = monday.Add(-time.Hour)
	d := registry.Fold(m, late)
	if !d.Repeated || d.Fault != "" || !d.Command.Time.Equal(monday) {
		t.Errorf("decided %+v", d)
	}
	if d := registry.Fold(m, create("d", 2, "webhook.b")); d.Repeated {
		t.Errorf("a first command is a repeat: %+v", d)
	}
}

func getAt(id string, tokenNumber int, at string, offset int64) registry.Command {
	moment, err := webhook.ParseMoment(at)
	if err != nil {
		panic(err)
	}
	c := command(id, "webhook.get", webhook.Get{Token: token(tokenNumber), At: &moment})
	c.Offset = offset
	return c
}

func TestAWebhookIsShownAsItWas(t *testing.T) {
	at := func(offset int64, minutes int, c registry.Command) registry.Command {
		c.Offset, c.Time = offset, monday.Add(time.Duration(minutes)*time.Minute)
		return c
	}
	m := folded(
		at(3, 0, create("c", 1, "webhook.a")),
		at(5, 10, edit("e1", 1, webhook.Put{EventKey: new("webhook.b")})),
		at(6, 10, edit("e2", 1, webhook.Put{EventKey: new("webhook.c")})), // in the same moment
		at(8, 20, remove("d", 1)),
		at(9, 30, create("c2", 2, "webhook.a")),
		at(10, 30, putRule("r", access.Rule{Name: "r", Users: []string{"ann"}, Commands: []string{"webhook.get"}, Keys: []string{"webhook.b"}})),
	)
	for i, tt := range []struct {
		at, key, fails string
	}{
		{"0", "", "not-found"},
		{"2", "", "not-found"},
		{"3", "webhook.a", ""},
		{"4", "webhook.a", ""},
		{"5", "webhook.b", ""},
		{"6", "webhook.c", ""},
		{"7", "webhook.c", ""},
		{"8", "", "not-found"},
		{"20", "", "not-found"}, // the offset of the question itself
		{"21", "", "invalid"},   // which is the future
		{"2026-03-02T07:59:59.999Z", "", "not-found"},
		{"2026-03-02T08:00:00Z", "webhook.a", ""},
		{"2026-03-02T08:09:59.999Z", "webhook.a", ""},
		{"2026-03-02T08:10:00Z", "webhook.c", ""}, // all of that moment
		{"2026-03-02T09:19:59+01:00", "webhook.c", ""},
		{"2026-03-02T08:20:00Z", "", "not-found"},
		{"2026-03-02T08:30:00Z", "", "not-found"},
		{"2026-03-02T08:30:00.001Z", "", "invalid"},
	} {
		got := registry.Fold(m, getAt(fmt.Sprint("g", i), 1, tt.at, 20))
		key := ""
		if got.Webhook != nil {
			key = got.Webhook.EventKey
		}
		if key != tt.key || got.Fault != tt.fails {
			t.Errorf("at %s: %q, %s (%s), want %q, %s", tt.at, key, got.Fault, got.Detail, tt.key, tt.fails)
		}
	}
	t.Run("to who may read the key that it had", func(t *testing.T) {
		for at, fails := range map[string]string{"4": "forbidden", "5": "", "6": "forbidden"} {
			if got := registry.Fold(m, by(getAt("ann"+at, 1, at, 20), "ann")); got.Fault != fails {
				t.Errorf("at %s: %q, want %q", at, got.Fault, fails)
			}
		}
	})
	t.Run("as the record tells it", func(t *testing.T) {
		at, err := webhook.ParseMoment("2026-03-02T09:00:00.5+01:00")
		if err != nil {
			t.Fatal(err)
		}
		text, err := webhook.Get{Token: webhook.TokenRef{Last6: "678901"}, At: &at}.MarshalJSON()
		want := `{"tokenHash":"0000000000000000000000000000000000000000000000000000000000000000","last6":"678901","at":"2026-03-02T08:00:00.5Z"}`
		if diff := cmp.Diff(want, string(text)); diff != "" || err != nil {
			t.Errorf("record (-want +got):\n%s %v", diff, err)
		}
	})
}

func TestAMomentIsATimeOrAnOffset(t *testing.T) {
	for _, text := range []string{"", "-1", "1.5", "now", "2026-03-02", "2026-03-02 08:00:00Z", "0001-01-01T00:00:00Z", "99999999999999999999"} {
		if m, err := webhook.ParseMoment(text); err == nil {
			t.Errorf("%q is %+v", text, m)
		}
	}
}
