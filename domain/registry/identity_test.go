package registry_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

var secretHash = access.SecretHash(secret.NewPassword("made"))

// people lists who lives, with version and roles.
func people(m *memory) map[string]string {
	got := map[string]string{}
	for name, u := range m.Users {
		if !u.Deleted && name != access.Administrator && name != access.Anonymous {
			got[name] = strings.Repeat("+", u.Version) + strings.Join(u.Roles, ",")
		}
	}
	return got
}

func TestUserCommands(t *testing.T) {
	start := initialise("i", "check")
	one := []registry.Command{start, putUser("u", "ann", passwordHash, "reader")}
	gone := []registry.Command{start, one[1], naming("d", "user.delete", "ann")}
	type users map[string]string
	tests := []struct {
		name  string
		given []registry.Command
		when  registry.Command
		fails string
		then  users
	}{
		{"a put creates a user", one[:1], putUser("x", "ann", passwordHash, "reader"), "", users{"ann": "+reader"}},
		{"a put without a password creates none", one[:1], putUser("x", "ann", ""), "invalid", users{}},
		{"a second put changes the user", one, putUser("x", "ann", "", "writer"), "", users{"ann": "++writer"}},
		{"a put of the name of an outside user is refused", one[:1], putUser("x", "corp:ann", passwordHash), "invalid", users{}},
		{"a put of the anonymous user is a conflict", one[:1], putUser("x", "anonymousUser", passwordHash), "conflict", users{}},
		{"a put that takes the administrator's role is a conflict", one[:1], putUser("x", "admin", "", "reader"), "conflict", users{}},
		{"a put without readable parameters is refused", one[:1], command("x", "user.put", []string{}), "invalid", users{}},
		{"a deletion ends the user", one, naming("x", "user.delete", "ann"), "", users{}},
		{"a second deletion finds nobody", gone, naming("x", "user.delete", "ann"), "not-found", users{}},
		{"a deletion without a name is refused", one, command("x", "user.delete", nil), "invalid", users{"ann": "+reader"}},
		{"a deletion of the administrator is a conflict", one[:1], naming("x", "user.delete", "admin"), "conflict", users{}},
		{"a deletion of the anonymous user is a conflict", one[:1], naming("x", "user.delete", "anonymousUser"), "conflict", users{}},
		{"a name that was deleted counts on", gone, putUser("x", "ann", passwordHash), "", users{"ann": "+++"}},
		{"a get changes nothing", one, naming("x", "user.get", "ann"), "", users{"ann": "+reader"}},
		{"a get of a deleted user finds nobody", gone, naming("x", "user.get", "ann"), "not-found", users{}},
		{"a get of all is allowed", one, command("x", "user.get", nil), "", users{"ann": "+reader"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := folded(tt.given...)
			outcome := registry.Fold(m, tt.when).Outcome
			if outcome.Fault != tt.fails {
				t.Errorf("fault %q (%s), want %q", outcome.Fault, outcome.Detail, tt.fails)
			}
			if diff := cmp.Diff(tt.then, users(people(m))); diff != "" {
				t.Errorf("users differ (-want +got):\n%s", diff)
			}
			named := len(tt.when.Params) > 0
			if (outcome.User != nil) != (tt.fails == "" && named) {
				t.Errorf("it answers %+v", outcome.User)
			}
		})
	}
}

func TestClientCommands(t *testing.T) {
	start := initialise("i", "check")
	put := access.ClientPut{ID: "shop", SecretHash: secretHash}
	one := []registry.Command{start, putClient("c", put)}
	tests := []struct {
		name  string
		given []registry.Command
		when  registry.Command
		fails string
		left  int
	}{
		{"a put creates a client", one[:1], putClient("x", put), "", 2},
		{"a second put changes it", one, putClient("x", put), "", 2},
		{"a put of the own client is a conflict", one[:1], putClient("x", access.ClientPut{ID: "hooklog", SecretHash: secretHash}), "conflict", 1},
		{"a put of a bad id is refused", one[:1], putClient("x", access.ClientPut{ID: "a b", SecretHash: secretHash}), "invalid", 1},
		{"a deletion ends it", one, naming("x", "client.delete", "shop"), "", 1},
		{"a deletion of an unknown one finds none", one[:1], naming("x", "client.delete", "shop"), "not-found", 1},
		{"a deletion of the own client is a conflict", one, naming("x", "client.delete", "hooklog"), "conflict", 2},
		{"a get answers it", one, naming("x", "client.get", "shop"), "", 2},
		{"the own client is there from the start", one[:1], naming("x", "client.get", "hooklog"), "", 1},
		{"a get of an unknown one finds none", one, naming("x", "client.get", "other"), "not-found", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := folded(tt.given...)
			outcome := registry.Fold(m, tt.when).Outcome
			if outcome.Fault != tt.fails || len(m.Clients) != tt.left {
				t.Errorf("fault %q (%s), want %q; %d clients, want %d", outcome.Fault, outcome.Detail, tt.fails, len(m.Clients), tt.left)
			}
			if (outcome.Client != nil) != (tt.fails == "") {
				t.Errorf("it answers %+v", outcome.Client)
			}
		})
	}
}

func TestPolicyCommands(t *testing.T) {
	rule := access.Rule{Name: "orders", Users: []string{"ann"}, Commands: []string{"webhook.*"}, Keys: []string{"webhook.orders.*"}}
	start := []registry.Command{initialise("i", "check"), putRule("p", rule)}
	tests := []struct {
		name  string
		when  registry.Command
		fails string
		rules string
	}{
		{"a put adds a rule", putRule("x", access.Rule{Name: "b", Users: []string{"kim"}, Commands: []string{"*"}}), "", "anonymous b orders"},
		{"a put replaces the rule of its name", putRule("x", rule), "", "anonymous orders"},
		{"a put of what is no rule is refused", putRule("x", access.Rule{Name: "b"}), "invalid", "anonymous orders"},
		{"a deletion ends the rule", naming("x", "policy.delete", "orders"), "", "anonymous"},
		{"the anonymous rule may be deleted", naming("x", "policy.delete", "anonymous"), "", "orders"},
		{"and changed", putRule("x", access.Rule{Name: "anonymous", Users: []string{"anonymousUser"}, Commands: []string{"log"}}), "", "anonymous orders"},
		{"a deletion of an unknown rule finds none", naming("x", "policy.delete", "b"), "not-found", "anonymous orders"},
		{"a get answers the rule", naming("x", "policy.get", "orders"), "", "anonymous orders"},
		{"a get of an unknown rule finds none", naming("x", "policy.get", "b"), "not-found", "anonymous orders"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := folded(start...)
			outcome := registry.Fold(m, tt.when).Outcome
			var names []string
			for _, r := range m.Rules {
				names = append(names, r.Name)
			}
			if got := strings.Join(names, " "); outcome.Fault != tt.fails || got != tt.rules {
				t.Errorf("fault %q (%s), want %q; rules %q, want %q", outcome.Fault, outcome.Detail, tt.fails, got, tt.rules)
			}
			if (outcome.Rule != nil) != (tt.fails == "") {
				t.Errorf("it answers %+v", outcome.Rule)
			}
		})
	}
}

func TestThePolicyIsThatOfTheCommandsPlace(t *testing.T) {
	rule := access.Rule{Name: "orders", Users: []string{"ann"}, Roles: []string{"shopper"}, Commands: []string{"webhook.*"}, Keys: []string{"webhook.orders.*"}}
	given := []registry.Command{
		initialise("i", "check"), create("c1", 1, "webhook.orders.a"), create("c2", 2, "webhook.stock.a"), putRule("p", rule),
	}
	to := func(key string) webhook.Put { return webhook.Put{EventKey: &key} }
	revoked := naming("d", "policy.delete", "orders")
	tests := []struct {
		name  string
		then  []registry.Command
		when  registry.Command
		fails string
	}{
		{"a creation with an allowed key is done", nil, create("x", 3, "webhook.orders.b"), ""},
		{"a creation with another key is refused", nil, create("x", 3, "webhook.stock.b"), "forbidden"},
		{"a creation with a key that is taken and not allowed is refused, not told", nil, create("x", 3, "webhook.stock.a"), "forbidden"},
		{"an edit of an allowed webhook is done", nil, edit("x", 1, webhook.Put{}), ""},
		{"an edit of another webhook is refused", nil, edit("x", 2, webhook.Put{}), "forbidden"},
		{"an edit to an allowed key is done", nil, edit("x", 1, to("webhook.orders.z")), ""},
		{"an edit to another key is refused", nil, edit("x", 1, to("webhook.stock.z")), "forbidden"},
		{"an edit from another key is refused", nil, edit("x", 2, to("webhook.orders.z")), "forbidden"},
		{"an edit of an unknown token is not found", nil, edit("x", 7, webhook.Put{}), "not-found"},
		{"a get of an allowed webhook is done", nil, get("x", 1), ""},
		{"a get of another webhook is refused", nil, get("x", 2), "forbidden"},
		{"a get of all is allowed for whom it shows anything", nil, command("x", "webhook.get", nil), ""},
		{"a deletion of an allowed webhook is done", nil, remove("x", 1), ""},
		{"a deletion of another webhook is refused", nil, remove("x", 2), "forbidden"},
		{"a rule that ended before allows nothing", []registry.Command{revoked}, remove("x", 1), "forbidden"},
		{"a rule for other commands does not help", nil, command("x", "user.get", nil), "forbidden"},
	}
	for _, tt := range tests {
		for who, when := range map[string]registry.Command{
			"by name": by(tt.when, "ann"), "by role": by(tt.when, "corp:5d", "shopper"),
		} {
			t.Run(tt.name+", "+who, func(t *testing.T) {
				m := folded(append(given, tt.then...)...)
				outcome := registry.Fold(m, when).Outcome
				if outcome.Fault != tt.fails {
					t.Errorf("fault %q (%s), want %q", outcome.Fault, outcome.Detail, tt.fails)
				}
				if tt.fails == "forbidden" && !strings.Contains(outcome.Detail, when.Name) {
					t.Errorf("the detail %q does not name the command", outcome.Detail)
				}
			})
		}
	}
}

func TestARepeatByWhoHasLostTheRightIsRefused(t *testing.T) {
	rule := access.Rule{Name: "orders", Users: []string{"ann"}, Commands: []string{"webhook.*"}, Keys: []string{"*"}}
	shown := by(get("x", 1), "ann")
	m := folded(initialise("i", "check"), create("c", 1, "webhook.a"), putRule("p", rule), shown)
	if first := registry.Fold(m, shown); first.Webhook == nil {
		t.Fatalf("a repeat gets %+v while the right is there", first)
	}
	registry.Fold(m, naming("d", "policy.delete", "orders"))
	before := m.dump(t)
	if got := registry.Fold(m, shown); got.Fault != "forbidden" || got.Webhook != nil {
		t.Errorf("a repeat gets %+v", got)
	}
	if diff := cmp.Diff(before, m.dump(t)); diff != "" {
		t.Errorf("the repeat changed the state:\n%s", diff)
	}
}

func TestTheRightsOfTheEffectiveUserCount(t *testing.T) {
	rule := access.Rule{Name: "batch", Users: []string{"batch"}, Commands: []string{"webhook.*"}, Keys: []string{"*"}}
	m := folded(initialise("i", "check"), putRule("p", rule))
	asBatch := by(create("x", 1, "webhook.a"), access.Anonymous)
	asBatch.Effective = "batch"
	outcome := registry.Fold(m, asBatch).Outcome
	if outcome.Fault != "" || outcome.Webhook.CreatedBy != "batch" {
		t.Errorf("it came to %+v", outcome)
	}
	asNobody := by(create("y", 2, "webhook.b"), "batch")
	asNobody.Effective = access.Anonymous
	if got := registry.Fold(m, asNobody).Fault; got != "forbidden" {
		t.Errorf("fault %q, want forbidden", got)
	}
}

func TestKeyCommands(t *testing.T) {
	later := rotate("r", "second")
	later.Time = monday.Add(time.Hour)
	m := folded(initialise("i", "check"), initKey("k1", "first"), initKey("k2", "late"), later)
	for id, fault := range map[string]string{"k1": "", "k2": "conflict", "r": ""} {
		if got := m.Outcomes[id].Fault; got != fault {
			t.Errorf("%s: fault %q, want %q", id, got, fault)
		}
	}
	if len(m.Signing) != 2 || m.Signing[0].ID != "second" || m.Signing[1].ID != "first" ||
		!m.Signing[0].Created.Equal(later.Time) || !m.Signing[1].Created.Equal(monday) {
		t.Errorf("the keys are %+v", m.Signing)
	}
	shown := m.Outcomes["r"].Key
	if shown == nil || shown.ID != "second" || !shown.Sealed.IsZero() {
		t.Errorf("it answers %+v", shown)
	}
	bad := signingKey("x")
	bad.Sealed = secret.Sealed{}
	if got := registry.Fold(m, command("b", "key.rotate", bad)).Fault; got != "invalid" {
		t.Errorf("a key without its private half: fault %q", got)
	}
}

func TestNoOutcomeHoldsAHashOfAPasswordOrAPrivateKey(t *testing.T) {
	const canary = "$argon2id$canary"
	key := signingKey("k")
	key.Sealed = secret.NewSealed("canary-key")
	m := folded(
		initialise("i", "check"), putUser("u1", "ann", canary, "a"), putUser("u2", "ann", canary+"2"), naming("u3", "user.get", "ann"),
		putUser("u4", "bad name", canary), naming("u5", "user.delete", "ann"), command("k1", "key.rotate", key), command("k2", "key.rotate", key),
	)
	if len(m.Outcomes) != 8 || m.Outcomes["u3"].User == nil || m.Outcomes["k1"].Key == nil {
		t.Fatalf("the commands came to %+v", m.Outcomes)
	}
	text, err := json.Marshal(m.Outcomes)
	if err != nil || strings.Contains(string(text), "argon2id") || strings.Contains(string(text), "canary") {
		t.Errorf("outcomes %s, %v", text, err)
	}
}
