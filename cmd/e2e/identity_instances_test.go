package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
	"testing"

	"hooklog/cmd/settings"
	"hooklog/domain/record"
	"hooklog/domain/registry"
)

// Two instances under one name know the same users, rules, tokens and keys.
func TestIdentityOfTwoInstances(t *testing.T) {
	anyRate := func(o option) option { return func(c *settings.Config) { o(c); behindLoopback(c) } }
	one, two := startTwo(t, anyRate(behindProxy(t)), anyRate(behindProxy(t)))
	one.reachPublicURL()
	two.reachPublicURL()
	kim := one.user("kim", kimsPassword)
	on := func(s *service, who caller) caller { return caller{s, who.header} }

	t.Run("a token of one is taken by the other at once, and rotated there", func(t *testing.T) {
		one, two := one.in(t), two.in(t)
		one.command("policy.put", "name=look", "users=kim", "commands=webhook.list", "keys=*").want(http.StatusOK)
		g := one.passwordGrant("kim", kimsPassword).granted()
		two.wantAlive(g)
		next := two.rotate(g.Refresh).granted()
		one.wantAlive(next)
		third := one.rotate(next.Refresh).granted()
		two.rotate(g.Refresh).denied(http.StatusBadRequest, "invalid_grant")
		one.wantEnded(third.Refresh)
	})
	t.Run("a command sent to one right after a rule has changed at the other is decided by the new rule", func(t *testing.T) {
		one, two := one.in(t), two.in(t)
		for n := range 10 {
			one.command("policy.put", "name=flicker", "users=kim", "commands=webhook.put", "keys=webhook.flicker.*").want(http.StatusOK)
			on(two, kim).run("webhook.put", fmt.Sprintf("eventKey=webhook.flicker.on-%d", n)).want(http.StatusOK)
			one.command("policy.delete", "name=flicker").want(http.StatusOK)
			on(two, kim).forbidden("webhook.put", fmt.Sprintf("eventKey=webhook.flicker.off-%d", n))
		}
	})
	t.Run("commands that race with a rule at the other are decided by their place on the log", func(t *testing.T) {
		raceWithRule(t, one.in(t), on(two.in(t), kim))
	})
	t.Run("a changed password ends at both what was issued before", func(t *testing.T) {
		one, two := one.in(t), two.in(t)
		g := two.passwordGrant("kim", kimsPassword).granted()
		one.user("kim", "another password of kim")
		eventually(t, "the other instance has heard of it", func() bool {
			return two.bearer(g.Access).run("webhook.list").status == http.StatusUnauthorized
		})
		two.wantEnded(g.Refresh)
		on(two, kim).run("webhook.list").refused(http.StatusUnauthorized)
		two.wantAlive(two.passwordGrant("kim", "another password of kim").granted())
	})
}

// raceWithRule changes a rule at one instance while a user sends commands to
// another, and compares each answer with what the order of the log says.
func raceWithRule(t *testing.T, one *service, kim caller) {
	answers := map[string]int{}
	var racing sync.WaitGroup
	racing.Go(func() {
		for range 15 {
			one.command("policy.put", "name=raced", "users=kim", "commands=webhook.put", "keys=webhook.raced.*").want(http.StatusOK)
			one.command("policy.delete", "name=raced").want(http.StatusOK)
		}
	})
	var mu sync.Mutex
	for worker := range 4 {
		racing.Go(func() {
			for n := range 15 {
				key := fmt.Sprintf("webhook.raced.w%d-%d", worker, n)
				status := kim.run("webhook.put", "eventKey="+key).status
				mu.Lock()
				answers[key] = status
				mu.Unlock()
			}
		})
	}
	racing.Wait()
	allowed, seen := false, map[int]int{}
	for _, r := range one.records(record.TopicCommand) {
		var c registry.Command
		var params struct{ Name, EventKey string }
		if err := json.Unmarshal(r.Value, &c); err != nil {
			t.Fatal(err)
		}
		if len(c.Params) > 0 {
			if err := json.Unmarshal(c.Params, &params); err != nil {
				t.Fatal(err)
			}
		}
		switch {
		case params.Name == "raced":
			allowed = c.Name == "policy.put"
		case answers[params.EventKey] != 0:
			want := http.StatusForbidden
			if allowed {
				want = http.StatusOK
			}
			if got := answers[params.EventKey]; got != want {
				t.Errorf("%s was answered %d, and the log says %d", params.EventKey, got, want)
			}
			seen[want]++
		}
	}
	t.Logf("decided by the log: %v", seen)
	if seen[http.StatusOK]+seen[http.StatusForbidden] != len(answers) {
		t.Errorf("the log has %v of %d commands", seen, len(answers))
	}
}
