package e2e_test

import (
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"hooklog/cmd/settings"
)

// What was issued to a user ends with the user as it was then.
func TestAChangedUserEndsItsTokens(t *testing.T) {
	t.Parallel() // it waits: before it calls a user unknown, an instance asks the log
	s := startOnOne(t)
	for name, change := range map[string]func(s *service){
		"a new password": func(s *service) { s.user("kim", "another password of kim", "administrator") },
		"other roles":    func(s *service) { s.command("user.put", "username=kim", "roles=reader").want(http.StatusOK) },
		"its deletion":   func(s *service) { s.command("user.delete", "username=kim").want(http.StatusOK) },
		"a namesake after it": func(s *service) {
			s.command("user.delete", "username=kim").want(http.StatusOK)
			s.user("kim", kimsPassword, "administrator")
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			kim := s.user("kim", kimsPassword, "administrator")
			g := s.passwordGrant("kim", kimsPassword).granted()
			s.wantAlive(g)
			kim.run("webhook.get").want(http.StatusOK)
			change(s)
			s.bearer(g.Access).run("webhook.list").refused(http.StatusUnauthorized)
			s.wantEnded(g.Refresh)
		})
	}
	t.Run("a password that was changed is not taken any more, however recently it was", func(t *testing.T) {
		s := s.in(t)
		kim := s.user("kim", kimsPassword, "administrator")
		kim.run("webhook.list").want(http.StatusOK)
		next := s.user("kim", "another password of kim", "administrator")
		kim.run("webhook.list").refused(http.StatusUnauthorized)
		next.run("webhook.list").want(http.StatusOK)
		s.command("user.delete", "username=kim").want(http.StatusOK)
		next.run("webhook.list").refused(http.StatusUnauthorized)
	})
}

// The signing key is changed under load, and no call fails.
func TestKeyRotation(t *testing.T) {
	t.Run("on one instance", func(t *testing.T) {
		s := startOnOne(t, behindLoopback)
		rotateKeys(t, s, s)
	})
	t.Run("on two instances", func(t *testing.T) {
		named := func() option {
			proxied := behindProxy(t)
			return func(c *settings.Config) { proxied(c); behindLoopback(c) }
		}
		one, two := startTwo(t, named(), named())
		rotateKeys(t, one.reachPublicURL(), two.reachPublicURL())
	})
}

func rotateKeys(t *testing.T, one, two *service) {
	one.user("kim", kimsPassword, "administrator")
	before := one.passwordGrant("kim", kimsPassword).granted()
	var (
		over    atomic.Bool
		calls   atomic.Int64
		working sync.WaitGroup
	)
	for n := range 4 {
		here, there := one, two
		if n%2 == 1 {
			here, there = two, one
		}
		working.Go(func() {
			mine := here.passwordGrant("kim", kimsPassword).granted()
			for !over.Load() {
				here.bearer(before.Access).run("webhook.list").want(http.StatusOK)
				mine = here.rotate(mine.Refresh).granted()
				there.bearer(mine.Access).run("webhook.list").want(http.StatusOK)
				there.refresher(mine.Refresh).run("webhook.list").want(http.StatusOK)
				calls.Add(4)
			}
		})
	}
	const rotations = 4
	for range rotations {
		sofar := calls.Load()
		one.command("key.rotate").want(http.StatusOK)
		eventually(t, "calls go on", func() bool { return calls.Load() > sofar+16 })
	}
	over.Store(true)
	working.Wait()
	t.Logf("%d calls while the key changed %d times: none failed", calls.Load(), rotations)
	var keys jose.JSONWebKeySet
	two.send(http.MethodGet, realmPath+"/protocol/openid-connect/certs", nil).want(http.StatusOK).json(&keys)
	if len(keys.Keys) != rotations+1 {
		t.Errorf("%d keys are published", len(keys.Keys))
	}
	two.clock.forward(two.cfg.AccessTokenLife + skew + time.Second)
	two.send(http.MethodGet, realmPath+"/protocol/openid-connect/certs", nil).want(http.StatusOK).json(&keys)
	if len(keys.Keys) != 1 {
		t.Errorf("%d keys are published when the tokens of all but one have expired", len(keys.Keys))
	}
}
