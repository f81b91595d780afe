package client_test

import (
	"net/url"
	"strings"
	"testing"
	"time"
)

// asNobody is a shell of a user who may do nothing.
func (s *service) asNobody(t *testing.T) *shell {
	t.Helper()
	s.admin("user.put", url.Values{"username": {"nobody"}, "password": {adminPassword}})
	return newShell(t, "HOOKLOG_URL="+s.url, "HOOKLOG_USER=nobody", "HOOKLOG_PASSWORD="+adminPassword)
}

func TestAnswersComeAsTablesJSONAndYAMLAndRefusalsAsALine(t *testing.T) {
	s := start(t)
	w := s.prepare()
	sh, nobody := s.asAdmin(t), s.asNobody(t)
	for _, each := range []*shell{sh, nobody} {
		each.write("orders.yaml", ordersPipeline)
	}
	for _, family := range []struct {
		name string
		// verbs prepares what a round of them changes.
		verbs func() [][]string
	}{
		{"webhook", func() [][]string {
			return [][]string{
				{"webhook", "list"},
				{"webhook", "create", "webhook.made"},
				{"webhook", "url", "webhook.made"},
				{"webhook", "edit", "webhook.made", "--payload-type", "raw"},
				{"webhook", "disable", "webhook.made"},
				{"webhook", "enable", "webhook.made"},
				{"webhook", "test", "webhook.made", "--data", `{"a":"b=c"}`},
				{"webhook", "delete", "webhook.made"},
			}
		}},
		{"pipeline", func() [][]string {
			return [][]string{
				{"pipeline", "check", "-f", "orders.yaml"},
				{"pipeline", "apply", "-f", "orders.yaml", "--name", "shown"},
				{"pipeline", "list"},
				{"pipeline", "show", "shown"},
				{"pipeline", "run", "greet", "--data", `{"name":"Ada"}`},
				{"pipeline", "delete", "shown"},
			}
		}},
		{"people", func() [][]string {
			return [][]string{
				{"user", "put", "alice", "roles=shop,reader"},
				{"user", "show", "alice"},
				{"user", "list"},
				{"client", "put", "billing", "newSecret=true"},
				{"client", "show", "shop-app"},
				{"client", "list"},
				{"client", "delete", "billing"},
				{"policy", "put", "readers", "roles=reader", "commands=webhook.list", "keys=*"},
				{"policy", "show", "shop"},
				{"policy", "list"},
				{"policy", "delete", "readers"},
				{"key", "rotate"},
			}
		}},
		{"leaving", func() [][]string {
			s.admin("user.put", url.Values{"username": {"carol"}, "password": {adminPassword}})
			s.admin("user.put", url.Values{"username": {"dave"}, "password": {adminPassword}})
			return [][]string{
				{"user", "delete", "carol"},
				{"command", "user.delete", "username=dave"},
			}
		}},
		{"result", func() [][]string {
			return [][]string{
				{"run", "list", "--pipeline", "orders"},
				{"run", "show", w.correlationID},
				{"result", "get", w.correlationID},
				{"result", "wait", w.correlationID},
			}
		}},
		{"command", func() [][]string {
			s.forward(2 * time.Hour) // so that keys may be rotated again
			return commandLines(w, s.webhook("webhook.deleted"))
		}},
	} {
		var b strings.Builder
		var verbs [][]string
		for _, format := range []string{"table", "json", "yaml"} {
			verbs = family.verbs()
			for _, words := range verbs {
				b.WriteString(sh.transcript(append(words, "-o", format)...))
			}
		}
		for _, words := range verbs {
			b.WriteString(nobody.transcript(words...))
		}
		golden(t, family.name, b.String())
	}
}

// commandLines has every command of the catalog but those that are shown where
// their things are made.
func commandLines(w world, deleted string) [][]string {
	call := "correlationId=" + w.correlationID
	return [][]string{
		{"command", "webhook.put", "uuid=" + w.uuid, "enabled:=true"},
		{"command", "webhook.get", "uuid=" + w.uuid},
		{"command", "webhook.list"},
		{"command", "webhook.receive", "token=" + deleted, "--data", `{"order":7}`},
		{"command", "webhook.delete", "uuid=" + deleted},
		{"command", "user.put", "username=alice", `roles:=["shop"]`},
		{"command", "user.get"},
		{"command", "client.put", "id=billing", "newSecret=true"},
		{"command", "client.get"},
		{"command", "client.delete", "id=billing"},
		{"command", "policy.put", "name=readers", "roles=reader", "commands=webhook.list", "keys=*"},
		{"command", "policy.get"},
		{"command", "policy.delete", "name=readers"},
		{"command", "key.rotate"},
		{"command", "pipeline.put", "name=billing", "body=@orders.yaml"},
		{"command", "pipeline.get", "name=billing"},
		{"command", "pipeline.delete", "name=billing"},
		{"command", "pipeline.run", "name=greet", `body:={"name":"Ada"}`},
		{"command", "run.get", call},
		{"command", "trace.get", call},
		{"command", "event.get", call},
		{"command", "event.tail", "eventKey=webhook.orders", "cursor=start", "limit=1"},
		{"command", "audit.get", "command=policy.put", "limit=1"},
		{"command", "audit.export", "command=checkpoint.put"},
		{"command", "checkpoint.put"},
		{"command", "checkpoint.get"},
	}
}

// slowPipeline fails late enough that a retry of it is seen at work.
const slowPipeline = `pipeline:
  - event.listen: {eventKey: webhook.slow}
  - wait: {seconds: 3}
body: ${body.missing}
`

func TestWhatIsShownOfRetries(t *testing.T) {
	s := start(t)
	s.admin("pipeline.put", url.Values{"name": {"slow"}, "body": {slowPipeline}})
	token := s.webhook("webhook.slow")
	var lines [][]string
	for _, format := range []string{"table", "json", "yaml"} {
		for _, words := range [][]string{{"run", "retry", ""}, {"command", "run.retry", "correlationId="}} {
			words[2] += s.call(token, `{}`).text("correlationId")
			lines = append(lines, append(words, "-o", format))
		}
	}
	sh, nobody := s.asAdmin(t), s.asNobody(t)
	var b strings.Builder
	for _, words := range lines {
		s.finished(strings.TrimPrefix(words[2], "correlationId="))
		b.WriteString(sh.transcript(words...))
	}
	for _, words := range lines[:2] {
		b.WriteString(nobody.transcript(words[:3]...))
	}
	golden(t, "retry", b.String())
}

func TestWhatIsShownOfLogIns(t *testing.T) {
	s := start(t)
	s.prepare()
	sh := newShell(t)
	var b strings.Builder
	shown := func(input string, words ...string) { b.WriteString(told(words, sh.fed(input, words...))) }
	for _, name := range []string{"local", "second"} {
		shown(adminPassword, "login", "--url", s.url, "--user", "alice", "--context", name)
	}
	for _, format := range []string{"table", "json", "yaml"} {
		shown("", "context", "use", "local", "-o", format)
		shown("", "context", "list", "-o", format)
		shown("", "context", "show", "-o", format)
	}
	for _, words := range [][]string{
		{"login", "--url", s.url, "--user", "alice"},
		{"login", "--user", "alice", "--url", "nowhere"},
		{"login", "--url", "http://127.0.0.1:1", "--user", "alice"},
		{"context", "use", "third"},
		{"context", "show", "--context", "third"},
		{"context", "list", "-o", "xml"},
		{"logout", "third"},
		{"logout"},
		{"webhook", "list"},
	} {
		shown("wrong password", words...)
	}
	golden(t, "login", b.String())
}
