package e2e_test

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"hooklog/domain/record"
)

func runAdHoc(s *service) {
	for source, want := range map[string]string{
		"pipeline: [log: {message: hello}]\nbody: ${6 * 7}":             `42`,
		"pipeline: [set: {value: [1, two, null, true]}]":                `[1,"two",null,true]`,
		"pipeline: [log: {message: the body is null}]":                  `null`,
		"pipeline: [set: {value: x}]\nbody: {a: '${body}', b: {c: []}}": `{"a":"x","b":{"c":[]}}`,
		"pipeline: [set: {value: <b>}]":                                 `"<b>"`,
		`{"pipeline":[{"set":{"value":1.5}}]}`:                          `1.5`,
	} {
		a := s.runNow(source).want(http.StatusOK)
		if got := string(a.body); got != want || a.header.Get("Content-Type") != "application/json" || a.header.Get("Cache-Control") != "no-store" {
			s.t.Errorf("%s answers %s as %s, want %s", source, got, a.header.Get("Content-Type"), want)
		}
	}

	// It runs as the caller, with the caller's rights.
	const makesOne = "pipeline: [webhook.put: {eventKey: webhook.ad-hoc.KEY}]\nbody: ${body.createdBy}"
	as := func(who caller, key string) answer {
		s.t.Helper()
		return who.runNow(strings.ReplaceAll(makesOne, "KEY", key))
	}
	ann := s.user("ad-hoc-ann", kimsPassword)
	rule := func(commands string) {
		s.t.Helper()
		s.command("policy.put", "name=ad-hoc", "users=ad-hoc-ann", "commands="+commands, "keys=webhook.ad-hoc.*").want(http.StatusOK)
	}
	if got := as(ann, "one").refused(http.StatusForbidden); !strings.Contains(got, "ad-hoc-ann may not run pipeline.run") {
		s.t.Errorf("refused with %q", got)
	}
	rule("pipeline.run")
	if got := as(ann, "one").refused(http.StatusForbidden); !strings.Contains(got, "ad-hoc-ann may not run webhook.put") {
		s.t.Errorf("refused with %q", got)
	}
	rule("pipeline.run,webhook.put")
	if got := as(ann, "one").want(http.StatusOK); string(got.body) != `"ad-hoc-ann"` {
		s.t.Errorf("made by %s", got.body)
	}
	// A repeat does nothing twice.
	again := s.as(append([]string{"Idempotency-Key", "ad-hoc"}, ann.header...)...)
	first, second := as(again, "two").want(http.StatusOK), as(again, "two").want(http.StatusOK)
	if !bytes.Equal(first.body, second.body) {
		s.t.Errorf("a repeat answers %s after %s", second.body, first.body)
	}
	if got := as(ann, "two").refused(http.StatusConflict); !strings.Contains(got, "Step 1 (webhook.put) at 1:12") {
		s.t.Errorf("refused with %q", got)
	}
	// Only what the caller itself may run as.
	ann.runNow("pipeline: [iam.run.as: {user: admin}]").refused(http.StatusForbidden)

	for _, header := range [][]string{nil, {"Authorization", basic("ad-hoc-ann", "wrong")}, {"Authorization", "Digest x"}} {
		a := s.as(header...).runNow("pipeline: [set: {value: 1}]")
		a.refused(http.StatusUnauthorized)
		if a.header.Get("Www-Authenticate") == "" {
			s.t.Errorf("401 without WWW-Authenticate to %q", header)
		}
	}
	s.runNow("pipeline: [").refused(http.StatusBadRequest)
	for contentType, status := range map[string]int{asJSON: http.StatusOK, asText: http.StatusUnsupportedMediaType, "": http.StatusUnsupportedMediaType} {
		s.send(http.MethodPost, pipelinePath, strings.NewReader(`{"pipeline":["webhook.get"]}`),
			"Content-Type", contentType, "Authorization", basic("admin", adminPassword)).want(status)
	}
	s.send(http.MethodGet, pipelinePath, nil, "Authorization", basic("admin", adminPassword)).refused(http.StatusMethodNotAllowed)
}

// Pipelines are stored by commands like the others, on the same log.
func storePipelines(s *service) {
	source := func(value string) string { return listenTo("webhook.stored.#", "body: "+value) }
	first := s.store("stored", source("canary-77ab"))
	if first.Version != 1 || strings.Join(first.EventKeys, " ") != "webhook.stored.#" || first.CreatedBy != "admin" || first.Body != "" {
		s.t.Errorf("stored %+v", first)
	}
	s.command("pipeline.put", "name=stored", "body="+source("2"), "version=2").refused(http.StatusConflict)
	s.command("pipeline.put", "name=stored", "body="+source("2"), "version=1").want(http.StatusOK)
	get := func(params ...string) (p stored) {
		s.t.Helper()
		s.command("pipeline.get", append(params, "name=stored")...).want(http.StatusOK).json(&p)
		return p
	}
	if p := get(); p.Version != 2 || p.Body != source("2") {
		s.t.Errorf("got %+v", p)
	}
	if p := get("version=1"); p.Version != 1 || p.Body != source("canary-77ab") {
		s.t.Errorf("got %+v", p)
	}
	listed := func() bool {
		var page struct{ Items []stored }
		s.command("pipeline.get", "limit=1000").want(http.StatusOK).json(&page)
		return slices.ContainsFunc(page.Items, func(p stored) bool { return p.Name == "stored" && p.Version == 2 && p.Body == "" })
	}
	if !listed() {
		s.t.Error("it is not listed")
	}
	if !s.cfg.Embedded() && holding(s.records(record.TopicCommand), "canary-77ab") > 0 {
		s.t.Error("the source stands on the log in the clear")
	}
	s.command("pipeline.delete", "name=stored").want(http.StatusOK)
	s.command("pipeline.get", "name=stored").refused(http.StatusNotFound)
	s.command("pipeline.delete", "name=stored").refused(http.StatusNotFound)
	if listed() {
		s.t.Error("it is listed after it was deleted")
	}
	if p := s.store("stored", source("3")); p.Version != 3 {
		s.t.Errorf("a new one of the name has version %d: calls before name the others", p.Version)
	}
}

// A stored pipeline needs no listener: it is run by its name.
func runStored(s *service) {
	s.store("by-name", "pipeline: [set: {value: {was: '${body}'}}]")
	for body, want := range map[string]string{`{"a":[1.0]}`: `{"was":{"a":[1.0]}}`, "null": `{"was":null}`} {
		if got := s.command("pipeline.run", "name=by-name", "body="+body).want(http.StatusOK); string(got.body) != want {
			s.t.Errorf("answered %s, want %s", got.body, want)
		}
	}
	if got := s.command("pipeline.run", "name=by-name").want(http.StatusOK); string(got.body) != `{"was":null}` {
		s.t.Errorf("answered %s", got.body)
	}
	s.command("pipeline.run", "name=by-name", "body={").refused(http.StatusBadRequest)
	ann := s.user("by-name-ann", kimsPassword)
	ann.forbidden("pipeline.run", "name=by-name")
	s.command("policy.put", "name=by-name", "users=by-name-ann", "commands=pipeline.run", "keys=by-name").want(http.StatusOK)
	ann.run("pipeline.run", "name=by-name").refused(http.StatusForbidden) // of set, which ann may not
	s.command("policy.put", "name=by-name", "users=by-name-ann", "commands=pipeline.run,set", "keys=by-name").want(http.StatusOK)
	ann.run("pipeline.run", "name=by-name").want(http.StatusOK)
	ann.forbidden("pipeline.run", "name=by-another-name")
	s.command("pipeline.delete", "name=by-name").want(http.StatusOK)
	ann.run("pipeline.run", "name=by-name").refused(http.StatusNotFound)
}
