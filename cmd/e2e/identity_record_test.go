package e2e_test

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"hooklog/domain/access"
	"hooklog/domain/record"
	counts "hooklog/domain/refused"
)

// What identity leaves on the log. Only brokers show it: the window of the
// embedded log hides these topics.
func TestWhoDidWhatIsOnTheRecord(t *testing.T) {
	s := startOnBrokers(t, behindLoopback)
	kim := s.user("kim", kimsPassword, "writer").from("198.51.100.7")
	s.command("policy.put", "name=writers", "roles=writer", "commands=webhook.put", "keys=webhook.kim.*").want(http.StatusOK)
	s.command("client.put", "id=portal", "public=true").want(http.StatusOK)

	t.Run("a command's record has principal, effective user, roles and the address that the trusted proxy names", func(t *testing.T) {
		kim.run("webhook.put", "eventKey=webhook.kim.basic").want(http.StatusOK)
		c, _ := s.in(t).lastCommand()
		if c.Principal != "kim" || c.Effective != "kim" || c.Address != "198.51.100.7" || c.Client != "" || !slices.Equal(c.Roles, []string{"writer"}) {
			t.Errorf("got %+v", c)
		}
	})
	t.Run("and the client of the token, with every scheme that has one", func(t *testing.T) {
		s := s.in(t)
		g := s.grant("grant_type=password", "client_id=portal", "username=kim", "password="+kimsPassword).granted()
		for key, who := range map[string]caller{"bearer": s.bearer(g.Access), "refresh": s.refresher(g.Refresh)} {
			who.from("2001:db8::7").run("webhook.put", "eventKey=webhook.kim."+key).want(http.StatusOK)
			if c, _ := s.lastCommand(); c.Principal != "kim" || c.Client != "portal" || c.Address != "2001:db8::7" {
				t.Errorf("%s: got %+v", key, c)
			}
		}
	})
	t.Run("a refused command is there with its caller and its outcome, which a later rule does not change", func(t *testing.T) {
		s := s.in(t)
		refused := func() answer {
			return s.as(append([]string{"Idempotency-Key", "refused"}, kim.header...)...).run("webhook.put", "eventKey=webhook.foreign")
		}
		first := refused()
		first.refused(http.StatusForbidden)
		c, _ := s.lastCommand()
		if c.Name != "webhook.put" || c.Principal != "kim" || !strings.Contains(string(c.Params), "webhook.foreign") {
			t.Errorf("got %+v", c)
		}
		s.command("policy.put", "name=foreign", "users=kim", "commands=webhook.put", "keys=webhook.foreign").want(http.StatusOK)
		wantIdentical(t, first, refused())
		kim.run("webhook.put", "eventKey=webhook.foreign").want(http.StatusOK)
	})
	t.Run("a refused look is on svc.access with its outcome", func(t *testing.T) {
		kim.run("webhook.list").refused(http.StatusForbidden)
		eventually(t, "the look is on svc.access", func() bool {
			return slices.ContainsFunc(onAccess[access.Look](s.in(t), access.LookType), func(l access.Look) bool {
				return l.Name == "webhook.list" && l.Principal == "kim" && l.Effective == "kim" && l.Outcome == "forbidden" && l.Address == "198.51.100.7"
			})
		})
	})
	t.Run("a log-in is on svc.access, with client, grant and scope", func(t *testing.T) {
		s := s.in(t)
		s.rotate(s.passwordGrant("kim", kimsPassword, "scope=openid").granted().Refresh).granted()
		for _, grant := range []string{"password", "refresh_token"} {
			eventually(t, grant, func() bool {
				return slices.ContainsFunc(onAccess[access.Login](s, access.LoginType), func(l access.Login) bool {
					return l.Principal == "kim" && l.Client == "hooklog" && l.Grant == grant && l.Scope == "openid" && l.Address == "127.0.0.1"
				})
			})
		}
	})
	t.Run("whoever is not known leaves counts and no name", func(t *testing.T) {
		s := s.in(t)
		s.as("Authorization", basic("a-name-nobody-has", "a wrong password")).from("192.0.2.7").run("webhook.get").refused(http.StatusUnauthorized)
		for _, topic := range []string{record.TopicCommand, record.TopicAccess} {
			if n := holding(s.records(topic), "a-name-nobody-has"); n != 0 {
				t.Errorf("the name stands in %d records of %s", n, topic)
			}
		}
	})
	s.stop() // which hands over the counts
	t.Run("the counts are there at the end at the latest", func(t *testing.T) {
		counted := onAccess[access.Failures](s.in(t), access.FailuresType)
		if len(counted) != 1 || !slices.ContainsFunc(counted[0].Networks, func(n counts.Network) bool {
			return n.Prefix.String() == "192.0.2.0/24" && n.Reasons["unauthenticated"] == 1
		}) {
			t.Errorf("counted %+v", counted)
		}
	})
	t.Run("the outcomes are folded", func(t *testing.T) {
		var forbidden int
		for _, line := range strings.Split(dump(t, s.cfg.StateDir()), "\n") {
			if strings.Contains(line, `registry\x00outcome`) && strings.Contains(line, "forbidden") {
				forbidden++
			}
		}
		if forbidden != 1 {
			t.Errorf("%d outcomes say forbidden", forbidden)
		}
	})
}

// onAccess reads the records of one type on svc.access.
func onAccess[T any](s *service, kind string) (all []T) {
	s.t.Helper()
	for _, r := range s.records(record.TopicAccess) {
		if recordHeader(r, record.HeaderType) != kind {
			continue
		}
		var one T
		if err := json.Unmarshal(r.Value, &one); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, one)
	}
	return all
}

// A caller can write any header; only a proxy's word counts.
func TestAnAddressIsBelievedFromTrustedProxiesOnly(t *testing.T) {
	s := startOnBrokers(t)
	s.as("Authorization", basic("admin", adminPassword)).from("198.51.100.7").run("webhook.get").want(http.StatusOK)
	if c, _ := s.lastCommand(); c.Address != "127.0.0.1" {
		t.Errorf("got %+v", c)
	}
}
