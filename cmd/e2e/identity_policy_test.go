package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// Who may do what: nothing but what a rule says.
func TestPolicy(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start(behindLoopback)
		orders, mine := s.put("eventKey=webhook.orders.paid"), s.put("eventKey=webhook.mine")
		kim, lee := s.user("kim", kimsPassword, "writer"), s.user("lee", "the password of lee")
		as := func(t *testing.T, who caller) caller { return caller{s.in(t), who.header} }

		t.Run("a user without a rule may nothing, and is told the command", func(t *testing.T) {
			kim := as(t, kim)
			for _, name := range []string{"webhook.get", "webhook.list", "user.get", "client.get", "policy.get", "key.rotate"} {
				kim.forbidden(name)
			}
			kim.forbidden("webhook.put", "eventKey=webhook.kims")
			kim.forbidden("user.put", "username=kim", "roles=administrator")
			kim.forbidden("policy.put", "name=all", "users=kim", "commands=*", "keys=*")
		})
		t.Run("patterns of commands", func(t *testing.T) {
			s, kim := s.in(t), as(t, kim)
			s.command("policy.put", "name=look", "users=kim", "commands=webhook.list", "keys=*").want(http.StatusOK)
			kim.run("webhook.list").want(http.StatusOK)
			kim.forbidden("webhook.get")
			s.command("policy.put", "name=look", "users=kim", "commands=webhook.*", "keys=*").want(http.StatusOK)
			kim.run("webhook.get").want(http.StatusOK)
			kim.forbidden("user.get")
			as(t, lee).forbidden("webhook.list")
			s.command("policy.delete", "name=look").want(http.StatusOK)
			kim.forbidden("webhook.list")
		})
		t.Run("patterns of keys", func(t *testing.T) {
			s, kim := s.in(t), as(t, kim)
			s.command("policy.put", "name=writers", "roles=writer", "commands=webhook.*", "keys=webhook.orders.*").want(http.StatusOK)
			kim.run("webhook.put", "eventKey=webhook.orders.sent").want(http.StatusOK)
			for _, foreign := range []string{"webhook.orders", "webhook.ordersx.a", "webhook.mine", "webhook.other"} {
				kim.forbidden("webhook.put", "eventKey="+foreign)
			}
			if got := kim.keys(); !slices.Equal(got, []string{"webhook.orders.paid", "webhook.orders.sent"}) {
				t.Errorf("webhook.get lists %v", got)
			}
			var page struct{ Items []webhook }
			kim.run("webhook.list").want(http.StatusOK).json(&page)
			if len(page.Items) != 2 || page.Items[0].EventKey != "webhook.orders.paid" || page.Items[1].EventKey != "webhook.orders.sent" {
				t.Errorf("webhook.list lists %v", page)
			}
			kim.run("webhook.get", "uuid="+orders.UUID).want(http.StatusOK)
			kim.forbidden("webhook.get", "uuid="+mine.UUID)
			kim.forbidden("webhook.delete", "uuid="+mine.UUID)
			kim.forbidden("webhook.put", "uuid="+orders.UUID, "eventKey=webhook.mine.now") // into a foreign key
			kim.forbidden("webhook.put", "uuid="+mine.UUID, "eventKey=webhook.orders.now") // and out of one
		})
		t.Run("a role that is taken away takes its rights along, at once", func(t *testing.T) {
			s := s.in(t)
			s.command("user.put", "username=kim", "roles=reader").want(http.StatusOK)
			as(t, kim).forbidden("webhook.get")
			s.command("user.put", "username=lee", "roles=writer").want(http.StatusOK)
			as(t, lee).run("webhook.get", "uuid="+orders.UUID).want(http.StatusOK)
		})
		t.Run("the name admin is nothing without its role, and the role stays", func(t *testing.T) {
			s := s.in(t)
			s.command("user.put", "username=admin", "roles=writer").refused(http.StatusConflict)
			s.command("user.delete", "username=admin").refused(http.StatusConflict)
			s.user("admin2", kimsPassword).forbidden("webhook.get")
		})
	})
}

// forbidden runs a command that must be refused by its name.
func (c caller) forbidden(name string, params ...string) {
	c.s.t.Helper()
	if detail := c.run(name, params...).refused(http.StatusForbidden); !strings.Contains(detail, name) {
		c.s.t.Errorf("the refusal %q does not name %s", detail, name)
	}
}

// keys are the event keys that webhook.get lists.
func (c caller) keys() (keys []string) {
	c.s.t.Helper()
	var all []webhook
	c.run("webhook.get").want(http.StatusOK).json(&all)
	for _, w := range all {
		keys = append(keys, w.EventKey)
	}
	return keys
}
