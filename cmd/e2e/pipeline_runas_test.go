package e2e_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
)

// owner makes a user whose pipelines may listen to anything and run as the users.
func (s *service) owner(name, runAs string) caller {
	s.t.Helper()
	who := s.user(name, kimsPassword)
	s.mayRunAs(name, runAs)
	return who
}

// mayRunAs says whom the pipelines of an owner may run as.
func (s *service) mayRunAs(owner, users string) {
	s.t.Helper()
	s.command("policy.put", "name="+owner+"-owns", "users="+owner, "commands=pipeline.put,event.listen", "keys=*", "runAs="+users).want(http.StatusOK)
}

// makes is the source of a pipeline that makes a webhook as the last of the users.
func makes(eventKey string, users ...string) string {
	rest := ""
	for _, user := range users {
		rest += "- iam.run.as: {user: " + user + "}\n"
	}
	return listenTo(eventKey, rest+"- webhook.put: {eventKey: '"+eventKey+".${body.payload}'}\nbody: ${body.createdBy}\n")
}

func runAs(s *service) {
	s.worker("as-ada", "webhook.put", "*")
	s.worker("as-bob", "webhook.put", "*")
	own := s.owner("as-kim", "as-ada,as-bob")
	hook := s.put("eventKey=webhook.as", "payloadType=raw")
	put := func(users ...string) {
		s.t.Helper()
		own.run("pipeline.put", "name=as", "body="+makes("webhook.as", users...)).want(http.StatusOK)
	}
	put("as-ada")
	r := s.called(hook.UUID, asJSON, `"a"`)
	r.wantValue(s.t, `"as-ada"`)
	if runs := s.runs("correlationId=" + r.CorrelationID); len(runs) != 1 ||
		runs[0].Principal != "anonymousUser" || runs[0].Effective != "as-ada" || runs[0].Owner != "as-kim" ||
		runs[0].Steps[1].User != "anonymousUser" || runs[0].Steps[2].User != "as-ada" {
		s.t.Errorf("the run is %+v", runs)
	}
	put("as-ada", "as-bob") // one after the other, both of the owner's
	s.called(hook.UUID, asJSON, `"b"`).wantValue(s.t, `"as-bob"`)
	var p stored
	s.command("pipeline.get", "name=as").want(http.StatusOK).json(&p)
	if strings.Join(p.RunAs, " ") != "as-ada as-bob" || p.Version != 2 || p.UpdatedBy != "as-kim" || p.Body != makes("webhook.as", "as-ada", "as-bob") {
		s.t.Errorf("stored %+v", p)
	}
}

func runAsRefusedAtPut(s *service) {
	s.worker("put-ada", "webhook.put", "*")
	s.mayRunAs("put-ada", "put-bob")
	s.worker("put-bob", "webhook.put", "*")
	kim, lee := s.owner("put-kim", "put-ada"), s.owner("put-lee", "")
	hook := s.put("eventKey=webhook.as-put", "payloadType=raw")
	put := func(who caller, source string) answer {
		s.t.Helper()
		return who.run("pipeline.put", "name=as-put", "body="+source)
	}
	put(kim, makes("webhook.as-put", "put-ada")).want(http.StatusOK)

	// An edit makes the editor the owner, who needs the right too.
	if detail := put(lee, makes("webhook.as-put", "put-ada")).refused(http.StatusForbidden); !strings.Contains(detail, "put-lee may not have a pipeline run as put-ada") {
		s.t.Errorf("refused with %q", detail)
	}
	// What the user that it runs as may run as is not lent on.
	put(kim, makes("webhook.as-put", "put-ada", "put-bob")).refused(http.StatusForbidden)
	put(kim, makes("webhook.as-put", "put-bob")).refused(http.StatusForbidden)
	put(kim, makes("webhook.as-put", "admin")).refused(http.StatusForbidden)
	for _, expression := range []string{"'${body.payload}'", "'put-${1}'", "\"${'put-ada'}\""} {
		if detail := put(kim, makes("webhook.as-put", expression)).refused(http.StatusBadRequest); !strings.Contains(detail, "3:22: user must stand here as it is") {
			s.t.Errorf("%s is refused with %q", expression, detail)
		}
	}
	s.called(hook.UUID, asJSON, `"still"`).wantValue(s.t, `"put-ada"`)

	put(lee, listenTo("webhook.as-put", "body: lee")).want(http.StatusOK)
	s.called(hook.UUID, asJSON, `1`).wantValue(s.t, `"lee"`)
}

// What was allowed when the pipeline was put is asked again at each run.
func runAsRefusedAtRun(s *service) {
	const ada, eve, kim, lee = "run-ada", "run-eve", "run-kim", "run-lee"
	s.worker(ada, "webhook.put", "*")
	s.worker(eve, "webhook.put", "*")
	owner := s.owner(kim, "")
	for i, tt := range []struct {
		name string
		// away takes something away from what kim has put; put replaces the pipeline.
		away func(s *service, put func(who caller, users ...string))
		why  string
	}{
		{
			"a right that was taken away",
			func(s *service, _ func(caller, ...string)) { s.mayRunAs(kim, eve) },
			kim + ", who owns the pipeline, may not run it as " + ada,
		},
		{
			"another owner's edit, whose right was taken away",
			func(s *service, put func(caller, ...string)) {
				put(s.owner(lee, ada), ada)
				s.mayRunAs(lee, "")
			},
			lee + ", who owns the pipeline, may not run it as " + ada,
		},
		{
			"a chain whose second link was taken away",
			func(s *service, put func(caller, ...string)) {
				s.mayRunAs(ada, eve)
				put(owner, ada, eve)
				s.mayRunAs(kim, ada)
			},
			kim + ", who owns the pipeline, may not run it as " + eve,
		},
		{
			"a user that was deleted",
			func(s *service, put func(caller, ...string)) {
				put(owner, eve)
				s.command("user.delete", "username="+eve).want(http.StatusOK)
			},
			"There is no user " + eve,
		},
		{
			"an owner that was deleted",
			func(s *service, _ func(caller, ...string)) {
				s.command("user.delete", "username="+kim).want(http.StatusOK)
			},
			"The owner of the pipeline does not exist any more",
		},
	} {
		s.t.Run(tt.name, func(t *testing.T) {
			s := s.in(t)
			s.mayRunAs(kim, ada+","+eve)
			name := "as-run-" + strconv.Itoa(i)
			hook := s.put("eventKey=webhook."+name, "payloadType=raw")
			put := func(who caller, users ...string) {
				t.Helper()
				who.run("pipeline.put", "name="+name, "body="+makes("webhook."+name, users...)).want(http.StatusOK)
			}
			put(s.as(owner.header...), ada)
			s.called(hook.UUID, asJSON, `"before"`).wantValue(t, `"`+ada+`"`)
			tt.away(s, put)
			s.wantFailed(s.called(hook.UUID, asJSON, `"after"`), tt.why)
			s.put("eventKey=webhook." + name + ".after") // which nobody has
		})
	}
}
