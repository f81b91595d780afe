package access_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hooklog/domain/access"
	"hooklog/domain/fault"
)

var (
	monday = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	byKim  = access.Author{Name: "kim", At: monday}
)

// policy is made of the rules as an operator puts them.
func policy(t testing.TB, rules ...access.Rule) access.Policy {
	t.Helper()
	var p access.Policy
	for _, r := range rules {
		var err error
		if p, _, err = p.Put(r, byKim); err != nil {
			t.Fatalf("put %+v: %v", r, err)
		}
	}
	return p
}

func user(name string, roles ...string) access.Subject {
	return access.Subject{Principal: name, Roles: roles}
}

func TestNothingIsAllowedButWhatARuleSays(t *testing.T) {
	rules := []access.Rule{
		{Name: "orders", Users: []string{"kim"}, Commands: []string{"webhook.*"}, Keys: []string{"webhook.orders.*", "webhook.stock"}},
		{Name: "readers", Roles: []string{"reader"}, Commands: []string{"webhook.get", "trace.get"}, Keys: []string{"*"}},
		{Name: "keyless", Users: []string{"pat"}, Commands: []string{"*"}},
		{Name: "outside", Users: []string{"corp:7f3a"}, Commands: []string{"webhook.put"}, Keys: []string{"*"}},
		{Name: "runner", Users: []string{"sam"}, RunAs: []string{"kim"}},
	}
	tests := []struct {
		name         string
		who          access.Subject
		command, key string
		allowed      bool
	}{
		{"a user of a rule may run its command", user("kim"), "webhook.put", "", true},
		{"a command pattern does not cover other groups", user("kim"), "webhooks.put", "", false},
		{"a command pattern does not cover its own beginning", user("kim"), "webhook", "", false},
		{"a key below the pattern is covered", user("kim"), "webhook.put", "webhook.orders.created", true},
		{"a key far below the pattern is covered", user("kim"), "webhook.put", "webhook.orders.a.b", true},
		{"the key that the pattern begins with is not", user("kim"), "webhook.put", "webhook.orders", false},
		{"a key that only looks alike is not", user("kim"), "webhook.put", "webhook.orders-old.a", false},
		{"a key without a pattern is covered exactly", user("kim"), "webhook.get", "webhook.stock", true},
		{"and not below", user("kim"), "webhook.get", "webhook.stock.low", false},
		{"another command is not allowed", user("kim"), "trace.get", "", false},
		{"another user is not allowed", user("kate"), "webhook.put", "", false},
		{"a user's name is taken as it is written", user("Kim"), "webhook.put", "", false},
		{"a role allows", user("kate", "other", "reader"), "trace.get", "webhook.any", true},
		{"a role allows only its commands", user("kate", "reader"), "webhook.put", "webhook.any", false},
		{"a user called like a role has not got it", user("reader"), "trace.get", "webhook.any", false},
		{"a role called like a user gives nothing", user("kate", "kim"), "webhook.put", "", false},
		{"a rule without keys allows what concerns no key", user("pat"), "user.put", "", true},
		{"and nothing that concerns one", user("pat"), "webhook.put", "webhook.orders.a", false},
		{"an outside user is allowed by its whole name", user("corp:7f3a"), "webhook.put", "webhook.a", true},
		{"a part of that name is somebody else", user("7f3a"), "webhook.put", "webhook.a", false},
		{"a rule to run as somebody allows no command", user("sam"), "webhook.put", "", false},
		{"an administrator may do everything", user("zoe", access.RoleAdministrator), "policy.delete", "webhook.any", true},
		{"the administrator's name gives nothing", user(access.Administrator), "webhook.put", "", false},
		{"an outside admin is nobody", user("corp:admin"), "webhook.put", "", false},
		{"the system's name gives nothing", user(access.System), "webhook.put", "", false},
		{"nobody is allowed nothing", user(""), "webhook.put", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := policy(t, rules...)
			err := p.Allow(tt.who, tt.command, tt.key)
			switch {
			case tt.allowed && err != nil:
				t.Errorf("refused: %v", err)
			case !tt.allowed && (!fault.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), tt.command)):
				t.Errorf("err = %v, want one that is forbidden and names the command", err)
			}
			if tt.key != "" && p.Reads(tt.who, tt.command)(tt.key) != tt.allowed {
				t.Error("the filter of lists says otherwise")
			}
		})
	}
}

func TestWhoMayRunAsWhom(t *testing.T) {
	p := policy(
		t,
		access.Rule{Name: "one", Users: []string{"kim"}, RunAs: []string{"batch"}},
		access.Rule{Name: "all", Roles: []string{"deployer"}, RunAs: []string{"*"}},
		access.Rule{Name: "none", Users: []string{"pat"}, Commands: []string{"*"}, Keys: []string{"*"}},
	)
	for _, tt := range []struct {
		name string
		who  access.Subject
		as   string
		want bool
	}{
		{"a user that the rule names", user("kim"), "batch", true},
		{"another user", user("kim"), "admin", false},
		{"oneself, without a rule", user("kim"), "kim", false},
		{"anybody, where the rule says so", user("x", "deployer"), "admin", true},
		{"nobody, by a rule that has only commands", user("pat"), "batch", false},
		{"anybody, as an administrator", user("zoe", access.RoleAdministrator), "kim", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := p.MayRunAs(tt.who, tt.as); got != tt.want {
				t.Errorf("%v, want %v", got, tt.want)
			}
		})
	}
}

func TestTheFirstPolicyIsForTriggeredPipelines(t *testing.T) {
	p, anonymous := access.FirstPolicy(byKim), user(access.Anonymous)
	for _, command := range []string{"event.listen", "event.receive", "message.receive", "convert.fromBase64", "set", "log", "wait", "iam.run.as"} {
		if err := p.Allow(anonymous, command, "webhook.any"); err != nil {
			t.Errorf("refused: %v", err)
		}
	}
	for _, command := range []string{"webhook.put", "webhook.get", "event.send", "message.send", "user.put", "convert", "http.request"} {
		if err := p.Allow(anonymous, command, ""); !fault.Is(err, fault.Forbidden) {
			t.Errorf("%s: %v, want forbidden", command, err)
		}
	}
	if p.MayRunAs(anonymous, access.Administrator) || p.Allow(user("kim"), "set", "") == nil {
		t.Error("it gives more than it should")
	}
	if err := p[0].Check(); err != nil {
		t.Errorf("an operator could not put it: %v", err)
	}
}

func TestPuttingAndDeletingRules(t *testing.T) {
	rule := func(name string, commands ...string) access.Rule {
		return access.Rule{Name: name, Users: []string{"kim"}, Commands: commands}
	}
	before := policy(t, rule("b", "set"), rule("a", "log"), rule("c", "wait"))
	names := func(p access.Policy) (names []string) {
		for _, r := range p {
			names = append(names, r.Name)
		}
		return names
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, names(before)); diff != "" {
		t.Errorf("order of the rules (-want +got):\n%s", diff)
	}
	after, put, err := before.Put(rule("b", "wait"), access.Author{Name: "pat", At: monday.AddDate(0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	want := rule("b", "wait")
	want.Version, want.Trail = 2, access.Trail{Created: monday, CreatedBy: "kim", Updated: monday.AddDate(0, 0, 1), UpdatedBy: "pat"}
	if diff := cmp.Diff(want, put); diff != "" {
		t.Errorf("the rule that was put (-want +got):\n%s", diff)
	}
	if stored, ok := after.Rule("b"); !ok || !cmp.Equal(stored, put) || len(after) != 3 {
		t.Errorf("the policy holds %+v of %d", stored, len(after))
	}
	if old, _ := before.Rule("b"); old.Version != 1 || old.Commands[0] != "set" {
		t.Errorf("the policy before changed: %+v", old)
	}
	less, gone, err := after.Without("a")
	if err != nil || gone.Name != "a" || !slices.Equal(names(less), []string{"b", "c"}) || len(after) != 3 {
		t.Errorf("deleted %+v, left %v, %v", gone, names(less), err)
	}
	if _, _, err := less.Without("a"); !fault.Is(err, fault.NotFound) {
		t.Errorf("deleted twice: %v", err)
	}
}

func TestRulesThatAreRefused(t *testing.T) {
	many := strings.Split(strings.Repeat("x,", 101), ",")[:101]
	for name, rule := range map[string]access.Rule{
		"without a name":            {Users: []string{"kim"}, Commands: []string{"set"}},
		"with a colon in its name":  {Name: "a:b", Users: []string{"kim"}, Commands: []string{"set"}},
		"for nobody":                {Name: "a", Commands: []string{"set"}},
		"that allow nothing":        {Name: "a", Users: []string{"kim"}, Keys: []string{"*"}},
		"with a star in the middle": {Name: "a", Users: []string{"kim"}, Commands: []string{"webhook.*.x"}},
		"with half a group":         {Name: "a", Users: []string{"kim"}, Commands: []string{"web*"}},
		"with two stars":            {Name: "a", Users: []string{"kim"}, Commands: []string{"**"}},
		"with an empty group":       {Name: "a", Users: []string{"kim"}, Commands: []string{"set"}, Keys: []string{"webhook..a"}},
		"with an empty pattern":     {Name: "a", Users: []string{"kim"}, Commands: []string{""}},
		"with a user of spaces":     {Name: "a", Users: []string{" "}, Commands: []string{"set"}},
		"with an invisible role":    {Name: "a", Roles: []string{"a\x00b"}, Commands: []string{"set"}},
		"with too many users":       {Name: "a", Users: many, Commands: []string{"set"}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := rule.Check(); !fault.Is(err, fault.Invalid) {
				t.Errorf("err = %v, want invalid", err)
			}
		})
	}
	t.Run("beyond what fits into memory", func(t *testing.T) {
		p := make(access.Policy, 1000)
		if _, _, err := p.Put(access.Rule{Name: "one-more", Users: []string{"kim"}, Commands: []string{"set"}}, byKim); !fault.Is(err, fault.Conflict) {
			t.Errorf("err = %v, want a conflict", err)
		}
	})
}

func drawRule(t *rapid.T) access.Rule {
	some := func(label string, from ...string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(from), 0, 3, rapid.ID[string]).Draw(t, label)
	}
	return access.Rule{
		Name:     rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name"),
		Users:    append(some("users", "kim", "pat", "x:kim"), "sam"),
		Roles:    some("roles", "reader", "writer"),
		Commands: append(some("commands", "*", "webhook.*", "webhook.get", "user.put"), "set"),
		Keys:     some("keys", "*", "webhook.a", "webhook.a.*", "webhook.*"),
		RunAs:    some("runAs", "*", "kim"),
	}
}

func TestRulesOnlyAllow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		less := policy(t, rapid.SliceOfN(rapid.Custom(drawRule), 0, 4).Draw(rt, "rules")...)
		rule := drawRule(rt)
		rule.Name = "another"
		more := policy(t, append(slices.Clone(less), rule)...)
		back, _, err := more.Without(rule.Name)
		if err != nil {
			rt.Fatal(err)
		}
		for _, who := range []access.Subject{user("kim"), user("pat", "reader"), user("x:kim", "writer"), user("nobody")} {
			for _, key := range []string{"", "webhook.a", "webhook.a.b", "webhook.b"} {
				for _, command := range []string{"webhook.get", "webhook.put", "user.put", "set"} {
					had, has, kept := less.Allow(who, command, key) == nil, more.Allow(who, command, key) == nil, back.Allow(who, command, key) == nil
					if had && !has {
						rt.Fatalf("the rule %+v takes %s on %q from %+v", rule, command, key, who)
					}
					if kept && !has {
						rt.Fatalf("without the rule %+v, %+v gets %s on %q", rule, who, command, key)
					}
					if key != "" && more.Reads(who, command)(key) != has {
						rt.Fatalf("the filter of lists differs for %+v, %s, %q", who, command, key)
					}
				}
			}
			if less.MayRunAs(who, "kim") && !more.MayRunAs(who, "kim") {
				rt.Fatalf("the rule %+v takes kim from %+v", rule, who)
			}
		}
	})
}
