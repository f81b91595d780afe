package registry_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/fault"
	"hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

var bySealedText = cmp.Comparer(func(a, b secret.Sealed) bool { return a.Reveal() == b.Reveal() })

// living maps the keys that are taken to the last character of their tokens.
func living(t *testing.T, m *memory) map[string]string {
	t.Helper()
	got := map[string]string{}
	for key, hash := range m.Keys {
		w, ok := m.Webhooks[hash]
		if !ok || w.EventKey != key {
			t.Errorf("the key %s leads to %+v, %v", key, w, ok)
		}
		got[key] = w.Token.Last6[5:]
	}
	if len(m.Keys) != len(m.Webhooks) {
		t.Errorf("%d keys for %d webhooks", len(m.Keys), len(m.Webhooks))
	}
	return got
}

func TestWebhookCommands(t *testing.T) {
	one := []registry.Command{create("c1", 1, "webhook.a")}
	two := []registry.Command{one[0], create("c2", 2, "webhook.b")}
	over := []registry.Command{one[0], remove("d", 1)}
	type keys map[string]string
	tests := []struct {
		name  string
		given []registry.Command
		when  registry.Command
		fails string
		then  keys
	}{
		{"a creation takes its key", nil, create("x", 1, "webhook.a"), "", keys{"webhook.a": "1"}},
		{"a second webhook takes another key", one, create("x", 2, "webhook.b"), "", keys{"webhook.a": "1", "webhook.b": "2"}},
		{"a second creation with a key is a conflict", one, create("x", 2, "webhook.a"), "conflict", keys{"webhook.a": "1"}},
		{"a second creation with a token is a conflict", one, create("x", 1, "webhook.b"), "conflict", keys{"webhook.a": "1"}},
		{"a bad key is refused", nil, create("x", 1, "orders"), "invalid", keys{}},
		{"an edit of the key keeps the token and frees the old key", one, edit("x", 1, webhook.Put{EventKey: new("webhook.z")}), "", keys{"webhook.z": "1"}},
		{"an edit to a key that is taken is a conflict", two, edit("x", 2, webhook.Put{EventKey: new("webhook.a")}), "conflict", keys{"webhook.a": "1", "webhook.b": "2"}},
		{"an edit to its own key is none of that", one, edit("x", 1, webhook.Put{EventKey: new("webhook.a")}), "", keys{"webhook.a": "1"}},
		{"an edit of an unknown token creates nothing", one, edit("x", 2, webhook.Put{EventKey: new("webhook.b")}), "not-found", keys{"webhook.a": "1"}},
		{"an edit of another version is a conflict", one, edit("x", 1, webhook.Put{EventKey: new("webhook.z"), Version: new(2)}), "conflict", keys{"webhook.a": "1"}},
		{"an edit of the expected version is done", one, edit("x", 1, webhook.Put{EventKey: new("webhook.z"), Version: new(1)}), "", keys{"webhook.z": "1"}},
		{"a disabled webhook keeps its key", one, edit("x", 1, webhook.Put{Enabled: new(false)}), "", keys{"webhook.a": "1"}},
		{"a deletion frees its key and no other", two, remove("x", 1), "", keys{"webhook.b": "2"}},
		{"a deletion of an unknown token is not found", one, remove("x", 2), "not-found", keys{"webhook.a": "1"}},
		{"a second deletion is not found", over, remove("x", 1), "not-found", keys{}},
		{"a deleted webhook cannot be edited", over, edit("x", 1, webhook.Put{}), "not-found", keys{}},
		{"a key that was freed by a deletion can be taken", over, create("x", 2, "webhook.a"), "", keys{"webhook.a": "2"}},
		{"a key that was freed by an edit can be taken", []registry.Command{one[0], edit("e", 1, webhook.Put{EventKey: new("webhook.z")})}, create("x", 2, "webhook.a"), "", keys{"webhook.z": "1", "webhook.a": "2"}},
		{"a get changes nothing", one, get("x", 1), "", keys{"webhook.a": "1"}},
		{"a get of all changes nothing", one, command("x", "webhook.get", nil), "", keys{"webhook.a": "1"}},
		{"a get of an unknown token is not found", one, get("x", 2), "not-found", keys{"webhook.a": "1"}},
		{"a put without readable parameters is refused", nil, command("x", "webhook.put", []string{"?"}), "invalid", keys{}},
		{"a put without parameters is refused", nil, command("x", "webhook.put", nil), "invalid", keys{}},
		{"a deletion without a token is refused", one, command("x", "webhook.delete", nil), "invalid", keys{"webhook.a": "1"}},
		{"a creation record without its defaults is refused", nil, command("x", "webhook.put", webhook.Put{Create: true, Token: token(1), EventKey: new("webhook.a")}), "invalid", keys{}},
		{"an unknown command is not found", one, command("x", "webhook.explode", nil), "not-found", keys{"webhook.a": "1"}},
		{"a look is no command of this log", one, command("x", "webhook.list", nil), "not-found", keys{"webhook.a": "1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := folded(tt.given...)
			outcome := registry.Fold(m, tt.when).Outcome
			if outcome.Fault != tt.fails {
				t.Errorf("fault %q (%s), want %q", outcome.Fault, outcome.Detail, tt.fails)
			}
			if diff := cmp.Diff(tt.then, keys(living(t, m))); diff != "" {
				t.Errorf("living webhooks differ (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(outcome, m.Outcomes["x"], bySealedText); diff != "" {
				t.Errorf("the remembered outcome differs (-answered +remembered):\n%s", diff)
			}
		})
	}
}

func TestOutcomesShowTheWebhook(t *testing.T) {
	created := webhook.Webhook{
		Token: token(1), EventKey: "webhook.a", PayloadType: webhook.Base64, MaxPayloadLength: 512000, Enabled: true,
		Created: monday, CreatedBy: "kim", Updated: monday, UpdatedBy: "kim", Version: 1,
	}
	edited := created
	edited.EventKey, edited.Updated, edited.UpdatedBy, edited.Version = "webhook.z", monday.AddDate(0, 0, 1), "pat", 2

	editing := edit("e", 1, webhook.Put{EventKey: new("webhook.z")})
	editing.Principal, editing.Effective, editing.Time = "pat", "pat", monday.AddDate(0, 0, 1)
	m := newMemory()
	steps := []struct {
		name string
		when registry.Command
		then *webhook.Webhook
	}{
		{"a creation answers the new webhook", create("c", 1, "webhook.a"), &created},
		{"a get answers it", get("g1", 1), &created},
		{"an edit answers what it became", editing, &edited},
		{"a get of all names none", command("g2", "webhook.get", nil), nil},
		{"a deletion answers the last state", remove("d", 1), &edited},
		{"a get of a deleted webhook answers none", get("g3", 1), nil},
	}
	for _, step := range steps {
		got := registry.Fold(m, step.when).Webhook
		if diff := cmp.Diff(step.then, got, bySealedText); diff != "" {
			t.Errorf("%s; it differs (-want +got):\n%s", step.name, diff)
		}
	}
}

func TestAnOutcomeKeepsItsFaultThroughTheStore(t *testing.T) {
	m := folded(create("c1", 1, "webhook.a"), create("c2", 2, "webhook.a"))
	text, err := json.Marshal(m.Outcomes)
	if err != nil {
		t.Fatal(err)
	}
	var stored map[string]registry.Outcome
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	if err := stored["c1"].Err(); err != nil {
		t.Errorf("the first creation has the fault %v", err)
	}
	err = stored["c2"].Err()
	if !fault.Is(err, fault.Conflict) || err.Error() != "The eventKey webhook.a is taken by another webhook." {
		t.Errorf("the second creation has the fault %v", err)
	}
}
