package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

func auditScope(s *service) {
	who := s.user("scoped-sam", kimsPassword)
	s.command("policy.put", "name=scoped-sam", "users=scoped-sam", "commands=audit.*", "keys=webhook.audit.sam,webhook.audit.sam.*,sam.*").want(http.StatusOK)
	mine := s.put("eventKey=webhook.audit.sam")
	other := s.put("eventKey=webhook.audit.not-sams")
	s.put("uuid="+mine.UUID, "eventKey=webhook.audit.sam.moved")
	s.put("uuid="+mine.UUID, "eventKey=webhook.audit.elsewhere") // and so out of sight
	s.command("pipeline.put", "name=sam.line", "body=pipeline: [log: {message: x}]").want(http.StatusOK)
	s.command("pipeline.put", "name=other.line", "body=pipeline: [log: {message: x}]").want(http.StatusOK)
	const want = "webhook.put ok, webhook.put ok, pipeline.put ok"
	for name, all := range map[string][]entry{"audit.get": who.audit(), "audit.export": func() []entry {
		exported := who.export()
		slices.Reverse(exported)
		return exported
	}()} {
		if got := words(all); got != want {
			s.t.Errorf("%s shows %s", name, got)
		}
		for _, e := range all {
			for _, key := range e.Keys {
				if !strings.HasPrefix(key, "webhook.audit.sam") && key != "sam.line" {
					s.t.Errorf("%s shows %+v", name, e)
				}
			}
		}
	}
	for _, params := range [][]string{
		{"webhook=" + other.UUID[30:]},
		{"webhook=webhook.audit.not-sams"},
		{"command=user.put"},
		{"command=policy.put"},
		{"command=login"},
		{"command=webhook.list"},
		{"command=cluster.init"},
		{"user=scoped-sam"},
		{"webhook=webhook.audit.elsewhere"},
	} {
		if got := who.audit(params...); len(got) != 0 {
			s.t.Errorf("%v shows %+v", params, got)
		}
	}
}

func auditAuditor(s *service) {
	who := s.auditor("audit-tor")
	hook := s.put("eventKey=webhook.audit.tor")
	if all := who.audit("webhook=webhook.audit.tor"); len(all) != 1 {
		s.t.Errorf("the auditor sees %+v", all)
	}
	if all := who.audit("command=user.put"); len(all) == 0 {
		s.t.Error("the auditor sees nothing of users")
	}
	if all := who.export("command=cluster.init"); len(all) != 1 {
		s.t.Errorf("the auditor exports %+v", all)
	}
	who.run("webhook.list").want(http.StatusOK)
	for _, command := range [][]string{
		{"webhook.put", "eventKey=webhook.audit.tors"},
		{"webhook.get"},
		{"webhook.get", "uuid=" + hook.UUID},
		{"webhook.delete", "uuid=" + hook.UUID},
		{"user.put", "username=audit-tor", "roles=administrator"},
		{"user.get"},
		{"policy.put", "name=auditors", "users=audit-tor", "commands=*"},
		{"policy.get"},
		{"client.put", "id=tor"},
		{"key.rotate"},
		{"pipeline.put", "name=tor", "body=pipeline: [log: {message: x}]"},
		{"pipeline.get"},
		{"pipeline.run", "name=audited-line"},
	} {
		who.forbidden(command[0], command[1:]...)
	}
	who.runNow("pipeline: [log: {message: x}]").refused(http.StatusForbidden)
	if token := who.run("audit.export", "webhook=webhook.audit.tor").want(http.StatusOK).body; strings.Contains(string(token), hook.UUID) {
		s.t.Error("the auditor is shown a token, with which the webhook can be called")
	}
}

func auditQuestions(s *service) {
	for _, params := range [][]string{
		{"from=yesterday"}, {"to=1"}, {"limit=0"}, {"limit=1001"}, {"cursor=*"}, {"colour=red"},
	} {
		s.command("audit.get", params...).refused(http.StatusBadRequest)
	}
	s.command("audit.export", "from=yesterday").refused(http.StatusBadRequest)
	s.command("audit.export", "limit=1").refused(http.StatusBadRequest)
	s.send(http.MethodGet, commandPath+"audit.get", nil).refused(http.StatusUnauthorized)
	s.send(http.MethodGet, commandPath+"audit.export", nil).refused(http.StatusUnauthorized)
	if got := s.send(http.MethodGet, commandPath+"audit.get?limit=1", nil, manage()...).want(http.StatusOK); !strings.Contains(string(got.body), `"next"`) {
		s.t.Errorf("a page of one says nothing of the rest: %s", got.body)
	}
	if got := s.admin().audit("from=" + rfc(s.clock.now().Add(time.Hour))); len(got) != 0 {
		s.t.Errorf("the future shows %+v", got)
	}
}
