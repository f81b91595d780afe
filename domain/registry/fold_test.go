package registry_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
	"hooklog/domain/registry"
	"hooklog/domain/webhook"
)

func TestARepeatGetsTheFirstOutcome(t *testing.T) {
	tests := []struct {
		name  string
		given []registry.Command
		then  string
	}{
		{"of a creation", []registry.Command{create("x", 1, "webhook.a")}, ""},
		{"of an edit, which is not done twice", []registry.Command{create("c", 1, "webhook.a"), edit("x", 1, webhook.Put{})}, ""},
		{"of a deletion", []registry.Command{create("c", 1, "webhook.a"), remove("x", 1)}, ""},
		{"of a conflict, although the key is free by now", []registry.Command{create("c", 1, "webhook.a"), create("x", 2, "webhook.a"), remove("d", 1)}, "conflict"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var repeat registry.Command
			for _, c := range tt.given {
				if c.ID == "x" {
					repeat = c
				}
			}
			repeat.Time = repeat.Time.Add(time.Hour)
			m := folded(tt.given...)
			before, first := m.dump(t), m.Outcomes["x"]
			got := registry.Fold(m, repeat)
			if diff := cmp.Diff(first, got.Outcome, bySealedText); diff != "" {
				t.Errorf("outcome differs (-first +repeated):\n%s", diff)
			}
			if got.Fault != tt.then {
				t.Errorf("fault %q, want %q", got.Fault, tt.then)
			}
			if diff := cmp.Diff(before, m.dump(t)); diff != "" {
				t.Errorf("the repeat changed the state:\n%s", diff)
			}
		})
	}
}

func TestTheSameIDForAnotherRequestIsAConflict(t *testing.T) {
	m := folded(create("x", 1, "webhook.a"))
	before := m.dump(t)
	other := create("x", 2, "webhook.b")
	other.Fingerprint = "another"
	if got := registry.Fold(m, other).Fault; got != "conflict" {
		t.Errorf("fault %q, want conflict", got)
	}
	if diff := cmp.Diff(before, m.dump(t)); diff != "" {
		t.Errorf("the other request changed the state:\n%s", diff)
	}
	if got := registry.Fold(m, create("x", 1, "webhook.a")); got.Fault != "" || got.Webhook == nil {
		t.Errorf("a true repeat gets %+v afterwards", got)
	}
}

func TestTimeNeverGoesBack(t *testing.T) {
	at := func(c registry.Command, hours int) registry.Command {
		c.Time = monday.Add(time.Duration(hours) * time.Hour)
		return c
	}
	tests := []struct {
		name  string
		given []registry.Command
		hours int
	}{
		{"the first command has its own time", []registry.Command{at(create("x", 1, "webhook.a"), 3)}, 3},
		{"a later command has its own time", []registry.Command{at(create("c", 2, "webhook.b"), 1), at(create("x", 1, "webhook.a"), 3)}, 3},
		{"a command of a clock behind has the time of the one before", []registry.Command{at(create("c", 2, "webhook.b"), 5), at(create("x", 1, "webhook.a"), 3)}, 5},
		{"a command that failed moves the time as well", []registry.Command{at(remove("d", 2), 5), at(create("x", 1, "webhook.a"), 3)}, 5},
		{"a read moves the time as well", []registry.Command{at(command("g", "webhook.get", nil), 5), at(create("x", 1, "webhook.a"), 3)}, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := folded(tt.given...)
			want := monday.Add(time.Duration(tt.hours) * time.Hour)
			w := m.Outcomes["x"].Webhook
			if w == nil || !w.Created.Equal(want) || !w.Updated.Equal(want) {
				t.Errorf("the webhook %+v was not created at %v", w, want)
			}
			if !m.LastTime().Equal(want) {
				t.Errorf("the last time is %v, want %v", m.LastTime(), want)
			}
		})
	}
}

func TestPermissionIsDecidedByTheFold(t *testing.T) {
	given := []registry.Command{initialise("i", "check"), create("c", 1, "webhook.a")}
	tests := []struct {
		name string
		when registry.Command
	}{
		{"a user without roles may not create", by(create("x", 2, "webhook.b"), "kim")},
		{"a user without roles may not edit", by(edit("x", 1, webhook.Put{}), "kim", "reader")},
		{"a user without roles may not delete", by(remove("x", 1), "kim")},
		{"a user without roles may not read tokens", by(get("x", 1), "kim")},
		{"a user without roles may not read all tokens", by(command("x", "webhook.get", nil), "kim")},
		{"a user without roles does not learn which commands exist", by(command("x", "webhook.explode", nil), "kim")},
		{"the administrator's name alone gives nothing", by(create("x", 2, "webhook.b"), access.Administrator)},
		{"the system has no roles either", by(create("x", 2, "webhook.b"), access.System)},
		{"a user without roles may not put users", by(putUser("x", "kim", passwordHash, access.RoleAdministrator), "kim")},
		{"a user without roles may not read users", by(command("x", "user.get", nil), "kim")},
		{"a user without roles may not put clients", by(putClient("x", access.ClientPut{ID: "a"}), "kim")},
		{"a user without roles may not put rules", by(putRule("x", access.Rule{Name: "a", Users: []string{"kim"}, Commands: []string{"*"}}), "kim")},
		{"a user without roles may not put pipelines", by(putPipeline("x", "a", source()), "kim")},
		{"a user without roles may not read pipelines", by(command("x", "pipeline.get", nil), "kim")},
		{"a user without roles may not run a pipeline of its own", by(command("x", "pipeline.run", registry.RunParams{SHA256: "5f0c"}), "kim")},
		{"a user without roles may not retry runs", by(retry("x", "a"), "kim")},
		{"a user without roles may not rotate keys", by(rotate("x", "k"), "kim")},
		{"an administrator may not bring the first key", by(initKey("x", "k"), access.Administrator, access.RoleAdministrator)},
		{"an administrator may not start the cluster", by(initialise("x", "mine"), access.Administrator, access.RoleAdministrator)},
		{"an administrator may not reset a password behind the machine's back", by(reset("x", passwordHash+"x"), access.Administrator, access.RoleAdministrator)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := folded(given...)
			before := m.dump(t)
			outcome := registry.Fold(m, tt.when).Outcome
			if outcome.Fault != "forbidden" || outcome.Webhook != nil {
				t.Errorf("outcome %+v, want forbidden", outcome)
			}
			delete(m.Outcomes, "x")
			if diff := cmp.Diff(before, m.dump(t)); diff != "" {
				t.Errorf("a refused command changed the state:\n%s", diff)
			}
		})
	}
}

func TestTheFirstStartWins(t *testing.T) {
	m := folded(initialise("i1", "first"), initialise("i2", "second"))
	if got := m.Outcomes["i1"].Fault; got != "" {
		t.Errorf("the first start has the fault %q", got)
	}
	if got := m.Outcomes["i2"].Fault; got != "conflict" {
		t.Errorf("the second start has the fault %q, want conflict", got)
	}
	cluster, _ := m.Cluster()
	if diff := cmp.Diff(registry.Cluster{Check: "first", CheckedBy: "i1", Created: monday}, cluster); diff != "" {
		t.Errorf("cluster differs (-want +got):\n%s", diff)
	}
	made := access.Trail{Created: monday, CreatedBy: access.System, Updated: monday, UpdatedBy: access.System}
	users := map[string]access.User{
		"admin":         {Name: "admin", PasswordHash: passwordHash, Roles: []string{"administrator"}, Version: 1, Trail: made},
		"anonymousUser": {Name: "anonymousUser", Roles: []string{}, Version: 1, Trail: made},
	}
	if diff := cmp.Diff(users, m.Users); diff != "" {
		t.Errorf("users differ (-want +got):\n%s", diff)
	}
	clients := map[string]access.Client{"hooklog": {ID: "hooklog", Public: true, Version: 1, Trail: made}}
	if diff := cmp.Diff(clients, m.Clients); diff != "" {
		t.Errorf("clients differ (-want +got):\n%s", diff)
	}
	if rule, ok := m.Rules.Rule("anonymous"); !ok || len(m.Rules) != 1 || !cmp.Equal(rule.Users, []string{"anonymousUser"}) {
		t.Errorf("the policy is %+v", m.Rules)
	}
	t.Run("a start with a bad administrator does not count", func(t *testing.T) {
		bad := bySystem(command("i1", registry.ClusterInit, registry.InitParams{Check: "bad", Admin: access.User{Name: "admin", PasswordHash: "plain"}}))
		m := folded(bad, initialise("i2", "good"))
		cluster, _ := m.Cluster()
		if m.Outcomes["i1"].Fault != "invalid" || cluster.Check != "good" {
			t.Errorf("outcome %+v, cluster %+v", m.Outcomes["i1"], cluster)
		}
	})
}

func TestAdminReset(t *testing.T) {
	const newHash = passwordHash + "new"
	started := []registry.Command{initialise("i", "check")}
	tests := []struct {
		name    string
		given   []registry.Command
		when    registry.Command
		fails   string
		hash    string
		version int
	}{
		{"a reset gives the administrator a new hash and version", started, reset("x", newHash), "", newHash, 2},
		{"a second reset counts on", []registry.Command{started[0], reset("r", newHash)}, reset("x", passwordHash), "", passwordHash, 3},
		{"a reset to what is no hash is refused", started, reset("x", "plain"), "invalid", passwordHash, 1},
		{"a reset without parameters is refused", started, bySystem(command("x", registry.AdminReset, nil)), "invalid", passwordHash, 1},
		{"a reset before the first start finds nobody", nil, reset("x", newHash), "not-found", "", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := folded(tt.given...)
			if got := registry.Fold(m, tt.when).Fault; got != tt.fails {
				t.Errorf("fault %q, want %q", got, tt.fails)
			}
			admin := m.Users[access.Administrator]
			if admin.PasswordHash != tt.hash || admin.Version != tt.version {
				t.Errorf("administrator %+v, want hash %s and version %d", admin, tt.hash, tt.version)
			}
			if tt.version > 0 && !cmp.Equal(admin.Roles, []string{access.RoleAdministrator}) {
				t.Errorf("the roles became %v", admin.Roles)
			}
		})
	}
}

func TestEveryCommandOfThisLogIsDecided(t *testing.T) {
	for _, c := range catalog.All() {
		if c.Kind != catalog.Change && c.Kind != catalog.RegistryRead {
			continue
		}
		outcome := registry.Fold(newMemory(), command("x", c.Name, nil)).Outcome
		if outcome.Fault == "not-found" {
			t.Errorf("%s: %s", c.Name, outcome.Detail)
		}
	}
}
