package access_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
)

func listening(keys ...string) access.Policy {
	return access.Policy{{Name: "r", Users: []string{"ann"}, Commands: []string{"event.listen"}, Keys: keys}}
}

func TestARuleMustCoverEverythingThatAPatternFits(t *testing.T) {
	tests := []struct {
		keys    string
		pattern string
		allowed bool
	}{
		{"*", "webhook.orders", true},
		{"*", "webhook.*", true},
		{"*", "*", true},
		{"*", "#", true},
		{"*", "#.orders", true},
		{"webhook.orders", "webhook.orders", true},
		{"webhook.orders", "webhook.stock", false},
		{"webhook.orders", "webhook.orders.#", false},
		{"webhook.orders", "webhook.*", false},
		{"webhook.*", "webhook.orders", true},
		{"webhook.*", "webhook.*", true},
		{"webhook.*", "webhook.*.paid", true},
		{"webhook.*", "webhook.#.paid", true},
		{"webhook.*", "webhook.orders.#", true},
		{"webhook.*", "webhook.#", false}, // fits webhook itself
		{"webhook.*", "webhook", false},
		{"webhook.*", "#", false},
		{"webhook.*", "*.orders", false},
		{"webhook.*", "#.webhook.orders", false},
		{"webhook.orders.*", "webhook.*", false},
		{"webhook.orders.*", "webhook.orders.#", false},
		{"webhook.orders.*", "webhook.orders.#.#", false},
		{"webhook.orders.*,webhook.orders", "webhook.orders.#", true},
		{"webhook.orders.*,webhook.orders", "webhook.orders.#.#", true},
		{"webhook.orders.*", "webhook.orders-2.paid", false},
		{"", "webhook.orders", false},
	}
	for _, tt := range tests {
		policy := listening(strings.Split(tt.keys, ",")...)
		err := policy.AllowAll(access.Subject{Principal: "ann"}, "event.listen", tt.pattern)
		if allowed := err == nil; allowed != tt.allowed {
			t.Errorf("keys %q let listen to %q: %v, want %v", tt.keys, tt.pattern, allowed, tt.allowed)
		}
		if err != nil && !fault.Is(err, fault.Forbidden) {
			t.Errorf("keys %q and %q: %v, want forbidden", tt.keys, tt.pattern, err)
		}
		for who, s := range map[string]access.Subject{"another user": {Principal: "bob"}, "another command": {Principal: "ann"}} {
			command := map[string]string{"another user": "event.listen", "another command": "event.receive"}[who]
			if policy.AllowAll(s, command, tt.pattern) == nil {
				t.Errorf("%s may on %q with keys %q", who, tt.pattern, tt.keys)
			}
		}
		administrator := access.Subject{Principal: "root", Roles: []string{access.RoleAdministrator}}
		if err := policy.AllowAll(administrator, "event.listen", tt.pattern); err != nil {
			t.Errorf("an administrator on %q: %v", tt.pattern, err)
		}
	}
}

// A pattern that is allowed fits no key that is not, and one that is refused fits
// one: the groups are so few that such a key is found by trying.
func TestAPatternIsAllowedExactlyWhereEveryKeyIs(t *testing.T) {
	const deepest = 4
	var keys []string
	for level := []string{""}; len(level[0]) < 2*deepest; {
		var next []string
		for _, key := range level {
			for _, group := range []string{"a", "b", "c"} {
				next = append(next, key+"."+group)
			}
		}
		for _, key := range next {
			keys = append(keys, key[1:])
		}
		level = next
	}
	ann := access.Subject{Principal: "ann"}
	rapid.Check(t, func(rt *rapid.T) {
		// No rule names the group c, which therefore stands for all others.
		rules := rapid.SliceOfN(rapid.StringMatching(`\*|[ab](\.[ab])?(\.\*)?`), 0, 3).Draw(rt, "rules")
		pattern := rapid.StringMatching(`[ab*#](\.[ab*#]){0,2}`).Draw(rt, "pattern")
		policy := listening(rules...)
		all := true
		for _, key := range keys {
			if pipeline.Match(pattern, key) && policy.Allow(ann, "event.listen", key) != nil {
				all = false
			}
		}
		if allowed := policy.AllowAll(ann, "event.listen", pattern) == nil; allowed != all {
			rt.Fatalf("%v let listen to %s: %v, but to all of its keys: %v", rules, pattern, allowed, all)
		}
	})
}
