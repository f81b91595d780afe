package e2e_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The tests share one service on each log, and so keep to keys and users of their
// own.
func TestAudit(t *testing.T) {
	tests := map[string]func(*service){
		"an edit is shown with what was before and after": auditEdits,
		"what was refused and repeated is on it":          auditRefusals,
		"users, rules, clients and pipelines are on it":   auditIdentity,
		"a pipeline's commands name all behind them":      auditPipelines,
		"looks and log-ins are on it":                     auditLooks,
		"filters and pages":                               auditFilters,
		"a scoped user sees the own keys only":            auditScope,
		"an auditor reads all and changes nothing":        auditAuditor,
		"what is wrong with a question is said":           auditQuestions,
	}
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start(unhurried)
		for name, test := range tests {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				test(s.in(t))
			})
		}
	})
}

func auditEdits(s *service) {
	hook := s.put("eventKey=webhook.audit.edits")
	s.put("uuid="+hook.UUID, "eventKey=webhook.audit.edited", "enabled=false")
	s.command("webhook.get", "uuid="+hook.UUID).want(http.StatusOK)
	s.command("webhook.delete", "uuid="+hook.UUID).want(http.StatusOK)
	last6 := hook.UUID[30:]
	all := s.admin().audit("webhook=" + last6)
	if got := words(all); got != "webhook.put ok, webhook.put ok, webhook.get ok, webhook.delete ok" {
		s.t.Fatalf("the audit of the webhook is %s", got)
	}
	deleted, read, edited, created := all[0], all[1], all[2], all[3]
	wantEntry(s.t, created.Before == nil && created.After["eventKey"] == "webhook.audit.edits" && created.After["version"] == 1.0 && created.EventKey == "webhook.audit.edits", created)
	wantEntry(s.t, edited.Before["eventKey"] == "webhook.audit.edits" && edited.Before["enabled"] == true &&
		edited.After["eventKey"] == "webhook.audit.edited" && edited.After["enabled"] == false && edited.After["last6"] == last6 &&
		slices.Equal(edited.Keys, []string{"webhook.audit.edited", "webhook.audit.edits"}), edited)
	wantEntry(s.t, edited.Principal == "admin" && edited.Effective == "admin" && edited.Address == "127.0.0.1" && edited.Owner == "" && edited.Topic == "svc.command", edited)
	wantEntry(s.t, read.Before == nil && read.After == nil && read.EventKey == "webhook.audit.edited", read)
	wantEntry(s.t, deleted.Before["version"] == 2.0 && deleted.After == nil, deleted)
	for i, e := range all[1:] {
		if !all[i].Time.After(e.Time) && all[i].Offset < e.Offset {
			s.t.Errorf("%+v stands before %+v", all[i], e)
		}
	}
}

func auditRefusals(s *service) {
	const key = "webhook.audit.refusals"
	ann := s.user("refused-ann", kimsPassword)
	s.command("policy.put", "name=refused-ann", "users=refused-ann", "commands=webhook.*", "keys=webhook.audit.other").want(http.StatusOK)
	hook := s.put("eventKey=" + key)
	s.command("webhook.put", "eventKey="+key).refused(http.StatusConflict)
	ann.run("webhook.delete", "uuid="+hook.UUID).refused(http.StatusForbidden)
	ann.run("webhook.put", "eventKey="+key).refused(http.StatusForbidden)
	for range 2 {
		s.repeat("audit-again", "webhook.put", "uuid="+hook.UUID).want(http.StatusOK)
	}
	all := s.admin().audit("webhook=" + key)
	if got := words(all); got != "webhook.put ok, webhook.put conflict, webhook.delete forbidden, webhook.put forbidden, webhook.put ok, webhook.put ok" {
		s.t.Fatalf("the audit of the webhook is %s", got)
	}
	repeat, first, refused := all[0], all[1], all[3]
	wantEntry(s.t, repeat.Repeat && repeat.ID == first.ID && repeat.After == nil, repeat)
	wantEntry(s.t, !first.Repeat && first.After["version"] == 2.0, first)
	wantEntry(s.t, refused.Principal == "refused-ann" && refused.EventKey == key && refused.Last6 == hook.UUID[30:] && strings.Contains(refused.Detail, "refused-ann may not run"), refused)
}

func auditIdentity(s *service) {
	from := rfc(s.clock.now())
	s.user("audited-eve", kimsPassword, "reader")
	s.user("audited-eve", "another: password", "writer")
	s.command("user.delete", "username=audited-eve").want(http.StatusOK)
	s.command("client.put", "id=audited-shop").want(http.StatusOK)
	s.command("policy.put", "name=audited-rule", "users=x", "commands=webhook.list").want(http.StatusOK)
	s.command("pipeline.put", "name=audited-line", "body=pipeline: [log: {message: a secret of the pipeline}]").want(http.StatusOK)
	about := func(command string) []entry { return s.admin().audit("command="+command, "from="+from, "user=admin") }
	var users []string
	for _, e := range slices.Backward(about("user.put")) {
		if e.User == "audited-eve" {
			users = append(users, fmt.Sprint(e.Before["roles"], e.After["roles"], e.After["newPassword"]))
		}
	}
	if diff := cmp.Diff([]string{"<nil> [reader] true", "[reader] [writer] true"}, users); diff != "" {
		s.t.Errorf("changes of the user (-want +got):\n%s", diff)
	}
	find := func(command string, is func(entry) bool) entry {
		s.t.Helper()
		all := about(command)
		i := slices.IndexFunc(all, is)
		if i < 0 {
			s.t.Fatalf("%s is not on the audit: %+v", command, all)
		}
		return all[i]
	}
	gone := find("user.delete", func(e entry) bool { return e.User == "audited-eve" })
	wantEntry(s.t, gone.Before["username"] == "audited-eve" && gone.After == nil && len(gone.Keys) == 0, gone)
	rule := find("policy.put", func(e entry) bool { return e.Rule == "audited-rule" })
	wantEntry(s.t, rule.After["name"] == "audited-rule", rule)
	line := find("pipeline.put", func(e entry) bool { return e.Pipeline == "audited-line" })
	wantEntry(s.t, line.After["version"] == 1.0 && slices.Equal(line.Keys, []string{"audited-line"}), line)
	for _, secret := range []string{"a secret of the pipeline", "argon2id", kimsPassword, "another: password", "tokenHash", "sealed", "secretHash"} {
		if body := s.command("audit.export", "from="+from).want(http.StatusOK).body; strings.Contains(string(body), secret) {
			s.t.Errorf("%s stands in the export", secret)
		}
	}
	for _, command := range []string{"cluster.init", "key.init"} {
		first := s.admin().audit("command="+command, "user=svc:system")
		if len(first) != 1 || first[0].Outcome != "ok" || first[0].After == nil {
			s.t.Errorf("%s is on the audit as %+v", command, first)
		}
	}
}

func auditPipelines(s *service) {
	s.worker("audit-batch", "webhook.put", "*")
	own := s.owner("audit-owner", "audit-batch")
	hook := s.put("eventKey=webhook.audit-line", "payloadType=raw")
	own.run("pipeline.put", "name=audit-line", "body="+makes("webhook.audit-line", "audit-batch")).want(http.StatusOK)
	r := s.called(hook.UUID, asJSON, `"made"`)
	r.wantValue(s.t, `"audit-batch"`)
	for _, user := range []string{"audit-owner", "audit-batch"} {
		all := s.admin().audit("webhook=webhook.audit-line.made", "user="+user)
		if len(all) != 1 {
			s.t.Fatalf("%s is not behind it: %+v", user, all)
		}
		e := all[0]
		wantEntry(s.t, e.Principal == "anonymousUser" && e.Effective == "audit-batch" && e.Owner == "audit-owner" && e.Via == "audit-line@1" &&
			e.Call == r.CorrelationID && e.After["createdBy"] == "audit-batch", e)
	}
	// Who may see only what was made learns nothing of the call that led to it.
	made := s.user("audit-made", kimsPassword)
	s.command("policy.put", "name=audit-made", "users=audit-made", "commands=audit.get", "keys=webhook.audit-line.made").want(http.StatusOK)
	if all := made.audit(); len(all) != 1 || all[0].Call+all[0].Via+all[0].Owner != "" || len(made.audit("user=audit-owner")) != 0 {
		s.t.Errorf("what a pipeline of others made is shown as %+v", all)
	}
	s.runNow("pipeline: [{webhook.put: {eventKey: webhook.audit-line.now}}]").want(http.StatusOK)
	all := s.admin().audit("webhook=webhook.audit-line.now")
	run := s.admin().audit("command=pipeline.run", "user=admin")
	if len(all) != 1 || len(run) == 0 {
		s.t.Fatalf("the run is on the audit as %+v and %+v", all, run)
	}
	wantEntry(s.t, all[0].Owner == "admin" && all[0].Via == "" && slices.ContainsFunc(run, func(e entry) bool { return e.ID == all[0].Call }), all[0])
}

func auditLooks(s *service) {
	who := s.user("looking-liz", kimsPassword)
	s.command("policy.put", "name=looking-liz", "users=looking-liz", "commands=webhook.list,run.get", "keys=webhook.audit.liz").want(http.StatusOK)
	hook := s.put("eventKey=webhook.audit.liz")
	who.run("webhook.list", "limit=7").want(http.StatusOK)
	who.run("run.get", "correlationId="+hook.UUID).want(http.StatusOK) // no correlation id, but a token
	who.run("audit.get").refused(http.StatusForbidden)
	s.passwordGrant("looking-liz", kimsPassword).granted()

	list := s.seen("the list", "user=looking-liz", "command=webhook.list")
	wantEntry(s.t, list.Topic == "svc.access" && list.Params["limit"] == 7.0 && list.Outcome == "ok" && list.Address == "127.0.0.1", list)
	runs := s.seen("the run.get", "user=looking-liz", "command=run.get")
	wantEntry(s.t, runs.Params["correlationId"] == "…"+hook.UUID[30:], runs)
	refused := s.seen("the refusal", "user=looking-liz", "outcome=forbidden")
	wantEntry(s.t, refused.Command == "audit.get", refused)
	login := s.seen("the log-in", "user=looking-liz", "command=login")
	wantEntry(s.t, login.Client == "hooklog" && login.User == "looking-liz" && login.Params["grant"] == "password" && login.Outcome == "ok", login)
	own := s.seen("looking at the audit", "user=admin", "command=audit.get")
	wantEntry(s.t, own.Params["user"] != nil || own.Params["webhook"] != nil || own.Params["command"] != nil, own)
}

func auditFilters(s *service) {
	const key = "webhook.audit.filters"
	hook := s.put("eventKey=" + key)
	for range 10 {
		s.put("uuid=" + hook.UUID)
	}
	all := s.admin().audit("webhook=" + key)
	if len(all) != 11 {
		s.t.Fatalf("%d entries", len(all))
	}
	for _, limit := range []string{"1", "3", "11", "1000"} {
		if diff := cmp.Diff(all, s.admin().audit("webhook="+key, "limit="+limit)); diff != "" {
			s.t.Errorf("in pages of %s (-all +paged):\n%s", limit, diff)
		}
	}
	middle := all[5].Time
	older := s.admin().audit("webhook="+key, "to="+rfc(middle))
	newer := s.admin().audit("webhook="+key, "from="+rfc(middle))
	if diff := cmp.Diff(all, append(newer, older...)); diff != "" || len(older) == 0 || len(newer) == 0 {
		s.t.Errorf("cut in two (-all +two):\n%s", diff)
	}
	exported := s.admin().export("webhook=" + key)
	slices.Reverse(exported)
	if diff := cmp.Diff(all, exported); diff != "" {
		s.t.Errorf("exported (-paged +exported):\n%s", diff)
	}
	if got := s.admin().audit("webhook="+key, "outcome=conflict"); len(got) != 0 {
		s.t.Errorf("conflicts: %+v", got)
	}
}
