package registry_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hooklog/domain/access"
	"hooklog/domain/registry"
	"hooklog/domain/webhook"
)

// commands draws from so few ids, tokens and keys that repeats and conflicts are
// the rule.
func commands() *rapid.Generator[[]registry.Command] {
	return rapid.SliceOfN(rapid.Custom(drawCommand), 0, 40)
}

var names = []string{"ann", "hooklog", "admin", "anonymous", "anonymousUser"}

func drawCommand(t *rapid.T) registry.Command {
	id := rapid.StringMatching(`[a-e][0-9]`).Draw(t, "id")
	tokenNumber := rapid.IntRange(0, 3).Draw(t, "token")
	key := rapid.SampledFrom([]string{"webhook.a", "webhook.b", "webhook.c", "bad"}).Draw(t, "key")
	var c registry.Command
	switch rapid.SampledFrom([]string{"create", "create", "create", "edit", "edit", "remove", "get", "init", "reset", "user", "client", "rule", "named", "key", "pipeline", "pipeline", "other", "garbage"}).Draw(t, "what") {
	case "create":
		c = create(id, tokenNumber, key)
	case "edit":
		c = edit(id, tokenNumber, drawEdit(t, key))
	case "remove":
		c = remove(id, tokenNumber)
	case "get":
		c = get(id, tokenNumber)
	case "init":
		c = initialise(id, id)
	case "reset":
		c = reset(id, passwordHash+id)
	case "user":
		c = putUser(id, rapid.SampledFrom(names).Draw(t, "user"), rapid.SampledFrom([]string{"", passwordHash}).Draw(t, "hash"), "reader")
	case "client":
		c = putClient(id, access.ClientPut{ID: rapid.SampledFrom(names).Draw(t, "client"), NewSecret: rapid.Bool().Draw(t, "new"), SecretHash: secretHash})
	case "rule":
		c = putRule(id, access.Rule{Name: rapid.SampledFrom(names).Draw(t, "rule"), Users: []string{"kim"}, Commands: []string{"webhook.*"}, Keys: []string{key}})
	case "named":
		command := rapid.SampledFrom([]string{"user.get", "user.delete", "client.get", "client.delete", "policy.get", "policy.delete"}).Draw(t, "command")
		c = naming(id, command, rapid.SampledFrom(names).Draw(t, "name"))
	case "key":
		c = rapid.SampledFrom([]registry.Command{initKey(id, id), rotate(id, id)}).Draw(t, "key")
	case "pipeline":
		name := rapid.SampledFrom([]string{"orders", "stock", "Bad"}).Draw(t, "pipeline")
		version := rapid.IntRange(0, 3).Draw(t, "version")
		c = rapid.SampledFrom([]registry.Command{
			putPipeline(id, name, source(key)), putPipeline(id, name, source(key)), expecting(version, putPipeline(id, name, source()), source()),
			getPipeline(id, name, version), removePipeline(id, name), runPipeline(id, name),
		}).Draw(t, "deed")
	case "other":
		c = command(id, "webhook.other", nil)
	case "garbage":
		c = command(id, "webhook.put", nil)
		c.Params = json.RawMessage(rapid.SampledFrom([]string{`null`, `[]`, `{}`, `{"tokenHash":"x"}`, `7`}).Draw(t, "params"))
	}
	if c.Principal != access.System && rapid.IntRange(0, 9).Draw(t, "luck") == 0 {
		c.Roles = nil
	}
	c.Fingerprint = rapid.SampledFrom([]string{"f", "f", "g"}).Draw(t, "fingerprint")
	c.Time = monday.Add(time.Duration(rapid.IntRange(-100, 100).Draw(t, "minutes")) * time.Minute)
	return c
}

func drawEdit(t *rapid.T, key string) webhook.Put {
	var put webhook.Put
	if rapid.Bool().Draw(t, "moves") {
		put.EventKey = &key
	}
	if rapid.Bool().Draw(t, "switches") {
		put.Enabled = new(rapid.Bool().Draw(t, "enabled"))
	}
	if rapid.Bool().Draw(t, "expects") {
		put.Version = new(rapid.IntRange(1, 3).Draw(t, "version"))
	}
	return put
}

func TestEveryInstanceComesToTheSameState(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		log := commands().Draw(rt, "log")
		here := folded(log...).dump(t)
		if diff := cmp.Diff(here, folded(log...).dump(t)); diff != "" {
			rt.Fatalf("two folds of one log differ:\n%s", diff)
		}
		cut := rapid.IntRange(0, len(log)).Draw(rt, "cut")
		halves := restored(t, folded(log[:cut]...).dump(t))
		for _, c := range log[cut:] {
			registry.Fold(halves, c)
		}
		if diff := cmp.Diff(here, halves.dump(t)); diff != "" {
			rt.Fatalf("a fold with a restart after %d commands differs (-at once +restarted):\n%s", cut, diff)
		}
	})
}

func TestAReplayOfTheWholeLogChangesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		log := commands().Draw(rt, "log")
		m := folded(log...)
		before := m.dump(t)
		for _, c := range log {
			registry.Fold(m, c)
		}
		if diff := cmp.Diff(before, m.dump(t)); diff != "" {
			rt.Fatalf("the replay changed the state:\n%s", diff)
		}
	})
}

func TestWhatAlwaysHolds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMemory()
		for _, c := range commands().Draw(rt, "log") {
			last := m.LastTime()
			version := m.Pipelines["orders"].Version
			before, existed := m.Webhooks[token(1).Hash.String()]
			outcome := registry.Fold(m, c).Outcome
			if m.LastTime().Before(last) {
				rt.Fatalf("time went back from %v to %v", last, m.LastTime())
			}
			if len(m.Keys) != len(m.Webhooks) {
				rt.Fatalf("%d keys for %d webhooks after %+v", len(m.Keys), len(m.Webhooks), c)
			}
			for key, hash := range m.Keys {
				if m.Webhooks[hash].EventKey != key {
					rt.Fatalf("the key %s leads to %+v after %+v", key, m.Webhooks[hash], c)
				}
			}
			after, exists := m.Webhooks[token(1).Hash.String()]
			if outcome.Fault != "" && (existed != exists || before.Version != after.Version) {
				rt.Fatalf("%+v failed with %s and changed the webhook", c, outcome.Fault)
			}
			if p, ok := m.Pipelines["orders"]; ok && (p.Version < version || outcome.Fault != "" && p.Version != version) {
				rt.Fatalf("%+v, which came to %q, made version %d of %d", c, outcome.Fault, p.Version, version)
			}
			if _, started := m.Cluster(); started && !alwaysThere(m) {
				rt.Fatalf("%+v took what is always there", c)
			}
			if existed && exists && (after.Version < before.Version || !after.Created.Equal(before.Created)) {
				rt.Fatalf("%+v made %+v of %+v", c, after, before)
			}
		}
	})
}

// alwaysThere reports whether nobody took what no operator can do without.
func alwaysThere(m *memory) bool {
	admin, anonymous := m.Users[access.Administrator], m.Users[access.Anonymous]
	return slices.Contains(admin.Roles, access.RoleAdministrator) && !admin.Deleted &&
		anonymous.Version == 1 && anonymous.PasswordHash == "" && m.Clients[access.PublicClient].Public
}
