package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// The state of a webhook as of then, and the audit, are the same after a restart
// and after the projections were folded again.
func TestThePastStays(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start(unhurried, behindProxy(t)).reachPublicURL()
		kim := s.user("kim", kimsPassword)
		s.command("policy.put", "name=kim", "users=kim", "commands=webhook.get", "keys=webhook.second").want(http.StatusOK)
		hook := s.put("eventKey=webhook.first")
		states := []webhook{hook}
		for _, params := range [][]string{{"eventKey=webhook.second"}, {"enabled=false"}, {"eventKey=webhook.third", "payloadType=raw"}} {
			time.Sleep(2 * time.Millisecond) // so that each change has a moment of its own
			states = append(states, s.put(append([]string{"uuid=" + hook.UUID}, params...)...))
		}
		s.command("webhook.delete", "uuid="+hook.UUID).want(http.StatusOK)
		changes := s.admin().audit("webhook="+hook.UUID[30:], "command=webhook.put")
		slices.Reverse(changes)
		s.send(http.MethodPost, commandPath+"webhook.list", nil, "Authorization", basic("admin", "wrong")).refused(http.StatusUnauthorized)

		check := func(after string) {
			t.Helper()
			for i, want := range states {
				for _, at := range []string{rfc(want.Updated), strconv.FormatInt(changes[i].Offset, 10)} {
					var got webhook
					s.command("webhook.get", "uuid="+hook.UUID, "at="+at).want(http.StatusOK).json(&got)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("after %s, at %s (-was +shown):\n%s", after, at, diff)
					}
				}
			}
			ask := func(who caller, at string) answer {
				t.Helper()
				return caller{s, who.header}.run("webhook.get", "uuid="+hook.UUID, "at="+at)
			}
			ask(s.admin(), rfc(states[0].Updated.Add(-time.Millisecond))).refused(http.StatusNotFound)
			ask(s.admin(), rfc(s.clock.now())).refused(http.StatusNotFound) // it is gone
			ask(s.admin(), rfc(s.clock.now().Add(time.Hour))).refused(http.StatusBadRequest)
			ask(s.admin(), "1000000").refused(http.StatusBadRequest)
			ask(kim, rfc(states[1].Updated)).want(http.StatusOK)
			ask(kim, rfc(states[0].Updated)).refused(http.StatusForbidden)
			ask(kim, rfc(states[3].Updated)).refused(http.StatusForbidden)
		}
		check("nothing")
		until := "to=" + rfc(s.clock.now())
		s.restart()
		check("a restart")
		// The log-ins that failed are counted by who ends.
		failed := s.seen("the failed log-in", "command=login", "outcome=unauthenticated")
		if failed.Failures == nil || len(failed.Failures.Networks) != 1 || failed.Failures.Networks[0].Reasons["unauthenticated"] != 1 {
			t.Errorf("failed log-ins are %+v", failed.Failures)
		}
		before := s.admin().audit(until)
		s.stop()
		if err := os.RemoveAll(s.cfg.StateDir()); err != nil {
			t.Fatal(err)
		}
		s.start()
		check("a new fold")
		if diff := cmp.Diff(before, s.admin().audit(until)); diff != "" || len(before) < 10 {
			t.Errorf("%d entries before; the audit differs (-before +folded again):\n%s", len(before), diff)
		}
	})
}

// An export of thousands of entries is what the pages are.
func TestAnExportIsAllPages(t *testing.T) {
	s := startOnOne(t, unhurried)
	const clients, each = 8, 400
	hook := s.put("eventKey=webhook.busy")
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for i := range each {
				name, params := "webhook.get", "uuid="+hook.UUID
				if i%2 == 0 {
					name, params = "webhook.list", fmt.Sprintf("limit=%d", 1+i)
				}
				if got := s.command(name, params); got.status != http.StatusOK {
					t.Errorf("%s: %d", name, got.status)
				}
			}
		})
	}
	all.Wait()
	until := "to=" + rfc(s.clock.now().Add(time.Millisecond))
	eventually(t, "all looks are on the audit", func() bool {
		return len(s.admin().audit(until, "command=webhook.list", "limit=1000")) == clients*each/2
	})
	exported := s.admin().export(until)
	slices.Reverse(exported)
	paged := s.admin().audit(until, "limit=999")
	if diff := cmp.Diff(paged, exported); diff != "" || len(paged) < clients*each {
		t.Errorf("%d entries on pages, %d exported (-paged +exported):\n%.2000s", len(paged), len(exported), diff)
	}
	for _, e := range paged {
		if strings.Contains(e.ID, hook.UUID) {
			t.Errorf("an entry has the token: %+v", e)
		}
	}
}
