package e2e_test

import (
	"net/http"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
)

const (
	pipelineCommands = commandPath + "pipeline."
	runCommands      = commandPath + "run."
)

// exchangePipelines runs the commands about pipelines and their runs.
func (s *service) exchangePipelines() {
	s.t.Helper()
	const put, get, remove = pipelineCommands + "put", pipelineCommands + "get", pipelineCommands + "delete"
	for _, e := range []exchange{
		{"POST", put, asJSON, `{"name":"a.b-1","body":"pipeline: [event.listen: {eventKey: webhook.x.#}, iam.run.as: {user: admin}]"}`, manage("Idempotency-Key", "a"), 200},
		{"POST", put, asForm, "name=a.b-1&version=1&body=pipeline: [message.receive: {key: svc.event.x}]", manage(), 200},
		{"POST", put, asForm, "name=a.b-1&version=1&body=pipeline: [log: {message: x}]", manage(), 409},
		{"POST", put, asForm, "name=nobody&version=1&body=pipeline: [log: {message: x}]", manage(), 404},
		{"POST", put, asForm, "name=a.b-1&body=pipeline: [{set: {}}]", manage(), 400},

		{"GET", get + "?limit=1", "", "", manage("Idempotency-Key", "all"), 200},
		{"GET", get + "?name=a.b-1&version=1", "", "", manage(), 200},
		{"GET", get + "?name=nobody", "", "", manage(), 404},
		{"GET", get + "?name=a.b-1", "", "", manage("Idempotency-Key", "all"), 409},
		{"POST", get, "", "", manage(), 200},
		{"POST", get, asJSON, `{"name":"a.b-1"}`, manage(), 200},
		{"POST", get, asForm, "name=a.b-1&version=9", manage(), 404},
		{"POST", get, asForm, "name=a.b-1", manage("Idempotency-Key", "all"), 409},

		{"POST", remove, asForm, "name=nobody", manage("Idempotency-Key", "gone"), 404},
		{"POST", remove, asForm, "name=a.b-1", manage("Idempotency-Key", "gone"), 409},
		{"POST", remove, asJSON, `{"name":"a.b-1"}`, manage(), 200},
		{"GET", get + "?name=a.b-1&version=1", "", "", manage(), 200},
	} {
		s.exchange(e)
	}
}

// exchangeAdHoc runs pipelines as their caller: stored, and as they come.
func (s *service) exchangeAdHoc() {
	s.t.Helper()
	const run = pipelineCommands + "run"
	s.command("pipeline.put", "name=adhoc", "body=pipeline: [log: {message: x}]").want(200)
	s.command("pipeline.put", "name=missing", "body=pipeline: [event.receive: {eventKey: webhook.nowhere}]").want(200)
	s.command("pipeline.put", "name=lost", "body=pipeline: [event.receive: {eventKey: webhook.lost}]").want(200)
	s.loseEvent("webhook.lost")
	const taken = `{"pipeline":[{"webhook.put":{"eventKey":"webhook.lost"}}]}`
	for _, e := range []exchange{
		{"POST", run, asJSON, `{"name":"adhoc","body":"[1,{\"a\":null}]"}`, manage("Idempotency-Key", "run"), 200},
		{"POST", run, asForm, "name=adhoc", manage(), 200},
		{"POST", run, asForm, "name=adhoc&body=2", manage("Idempotency-Key", "run"), 409},
		{"POST", run, asForm, "name=adhoc&body=[", manage(), 400},
		{"POST", run, asForm, "name=nobody", manage(), 404},
		{"POST", run, asForm, "name=missing", manage(), 404},
		{"POST", run, asForm, "name=lost", manage(), 410},

		{"POST", pipelinePath, asYAML, fullSource, manage("Idempotency-Key", "source"), 200},
		{"POST", pipelinePath, asJSON, `{"pipeline":["convert.toJson"]}`, manage(), 200},
		{"POST", pipelinePath, asJSON, `{"pipeline":["convert.toJson"]}`, manage("Idempotency-Key", "source"), 409},
		{"POST", pipelinePath, asJSON, taken, manage(), 409},
		{"POST", pipelinePath, asYAML, "pipeline: [set: {value: '${body.x}'}]", manage(), 400},
		{"POST", pipelinePath, asYAML, "pipeline: [event.receive: {eventKey: webhook.nowhere}]", manage(), 404},
		{"POST", pipelinePath, asYAML, "pipeline: [event.receive: {eventKey: webhook.lost}]", manage(), 410},
	} {
		s.exchange(e)
	}
}

// fullSource has everything that a pipeline may have.
const fullSource = `
headers: {Tenant: north, Both: "${headers.Tenant} & ${vars}"}
vars: {n: 1, list: [1, "${vars.n}"], none: null}
pipeline:
  - log: {message: "${vars.list}"}
    id: say
    if: ${vars.n > 0}
  - set: {value: 2}
    if: false
  - set: {value: "${vars.nothing}"}
    output: result
    onError: ignore
  - set: {value: 1}
    onError: {retry: {times: 1, wait: 0.5}}
  - convert.toJson:
    onError: throw
  - convert.fromJson
body: {sum: "${body + vars.n}"}
`

// loseEvent makes a webhook whose newest event the log has let go.
func (s *service) loseEvent(eventKey string) {
	s.t.Helper()
	hook := s.put("eventKey=" + eventKey)
	s.called(hook.UUID, asJSON, "1")
	topic := "svc.event." + eventKey
	client := kadm.NewClient(s.kafka())
	ends, err := client.ListEndOffsets(s.t.Context(), topic)
	if err != nil {
		s.t.Fatal(err)
	}
	deleted, err := client.DeleteRecords(s.t.Context(), ends.Offsets())
	if err == nil {
		err = deleted.Error()
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// exchangeRuns runs pipelines for calls, looks at the runs and retries them.
func (s *service) exchangeRuns() {
	s.t.Helper()
	const get, retry = runCommands + "get", runCommands + "retry"
	fails, sends := s.runForCalls()
	for _, e := range []exchange{
		{"GET", get, "", "", manage(), 200},
		{"GET", get + "?pipeline=docs.fails&status=error&from=2020-01-31T12:00:00Z&to=2100-01-31T12:00:00.5%2B01:00&limit=1", "", "", manage(), 200},
		{"GET", get + "?correlationId=" + sends, "", "", manage(), 200},
		{"POST", get, asForm, "status=processing", manage(), 200},
		{"POST", get, asJSON, `{"correlationId":"` + fails + `","pipeline":"docs.fails"}`, manage(), 200},
		{"POST", get, "", "", manage(), 200},

		{"POST", retry, asForm, "correlationId=" + sends, manage("Idempotency-Key", "retry"), 409},
		{"POST", retry, asForm, "correlationId=" + fails + "&pipeline=docs.sends", manage(), 404},
		{"POST", retry, asJSON, `{"correlationId":"00000000-0000-4000-8000-000000000000"}`, manage(), 404},
		{"POST", retry, asJSON, `{"correlationId":"` + fails + `","pipeline":"docs.fails"}`, manage(), 200},
	} {
		s.exchange(e)
	}
	next := s.exchange(exchange{"POST", get, asJSON, `{"limit":1}`, manage(), 200}).object()["next"].(string)
	s.exchange(exchange{"GET", get + "?cursor=" + next, "", "", manage(), 200})
	s.ended(fails, "error")
}

// runForCalls runs pipelines for two calls and gives their ids: of one which
// fails, and of one which runs as somebody else and sends an event that a third
// run listens to.
func (s *service) runForCalls() (fails, sends string) {
	s.t.Helper()
	hook := s.put("eventKey=webhook.docs.fails", "payloadType=raw")
	s.command("pipeline.put", "name=docs.fails", "body=pipeline: [event.listen: {eventKey: webhook.docs.fails}, set: {value: '${body.nothing}'}]").want(200)
	fails = s.called(hook.UUID, asJSON, `{"a":1}`).CorrelationID

	hook = s.put("eventKey=webhook.docs.sends", "payloadType=raw")
	s.command("pipeline.put", "name=docs.hears", "body=pipeline: [event.listen: {eventKey: docs.sent}]").want(200)
	s.command("pipeline.put", "name=docs.sends", "body="+`
pipeline:
  - message.receive: {key: svc.event.webhook.docs.sends}
  - iam.run.as: {user: admin}
  - webhook.get
  - event.send: {eventKey: docs.sent, payload: [1, "${body[0].eventKey}"]}
    id: sent
`).want(200)
	sends = s.called(hook.UUID, asJSON, `{"a":1}`).CorrelationID
	s.ended(fails, "error")
	sent := s.ended(sends, "ok").object()["value"].(map[string]any)
	s.ended(sent["correlationId"].(string), "ok")
	return fails, sends
}

// ended waits until a call has ended with the status.
func (s *service) ended(correlationID, status string) (a answer) {
	s.t.Helper()
	eventually(s.t, "the call has ended", func() bool {
		a = s.poll(correlationID, "true")
		return a.status == http.StatusOK
	})
	if got := a.object()["status"]; got != status {
		s.t.Errorf("the call is %v, want %s", got, status)
	}
	return a
}

// exchangePipelineParameters is exchangeParameters for these commands.
func (s *service) exchangePipelineParameters(d *documented) {
	s.t.Helper()
	const source = `"body":"pipeline: [log: {message: x}]"`
	for _, e := range []exchange{
		{"POST", pipelineCommands + "put", asJSON, `{` + source + `}`, manage(), 400},
		{"POST", pipelineCommands + "put", asJSON, `{"name":"a"}`, manage(), 400},
		{"POST", pipelineCommands + "put", asJSON, `{"name":"a","body":""}`, manage(), 400},
		{"POST", pipelineCommands + "put", asJSON, `{"name":"a","body":{"pipeline":[]}}`, manage(), 400},
		{"POST", pipelineCommands + "put", asJSON, `{"name":"a","body":"` + strings.Repeat(" ", 256<<10+1) + `"}`, manage(), 400},
		{"POST", pipelineCommands + "put", asJSON, `{"name":"A",` + source + `}`, manage(), 400},
		{"POST", pipelineCommands + "put", asJSON, `{"name":"a..b",` + source + `}`, manage(), 400},
		{"POST", pipelineCommands + "put", asJSON, `{"name":"` + strings.Repeat("a", 101) + `",` + source + `}`, manage(), 400},
		{"POST", pipelineCommands + "put", asJSON, `{"name":"a","version":"new",` + source + `}`, manage(), 400},
		{"GET", pipelineCommands + "get?name=A", "", "", manage(), 400},
		{"GET", pipelineCommands + "get?name=a&version=0", "", "", manage(), 400},
		{"GET", pipelineCommands + "get?limit=1001", "", "", manage(), 400},
		{"POST", pipelineCommands + "get", asJSON, `{"version":1}`, manage(), 400},
		{"POST", pipelineCommands + "delete", asJSON, `{}`, manage(), 400},
		{"POST", pipelineCommands + "run", asJSON, `{"body":"1"}`, manage(), 400},
		{"POST", pipelineCommands + "run", asJSON, `{"name":"a","body":{}}`, manage(), 400},
		{"POST", pipelinePath, asJSON, `{}`, manage(), 400},
		{"POST", pipelinePath, asJSON, `{"pipeline":[]}`, manage(), 400},
		{"POST", pipelinePath, asJSON, `{"pipeline":[{}]}`, manage(), 400},
		{"POST", pipelinePath, asJSON, `{"pipeline":["log"],"steps":[]}`, manage(), 400},
		{"POST", pipelinePath, asJSON, `{"pipeline":[{"log":{"message":"x"},"id":"1a"}]}`, manage(), 400},
		{"POST", pipelinePath, asJSON, `{"pipeline":[{"log":{"message":"x"},"onError":"retry"}]}`, manage(), 400},
		{"POST", pipelinePath, asJSON, `{"pipeline":[{"log":{"message":"x"},"onError":{"retry":{"times":11}}}]}`, manage(), 400},
		{"POST", pipelinePath, asYAML, `{"pipeline":[{"log":"x"}]}`, manage(), 400},
		{"POST", pipelinePath, asJSON, `{"headers":{"a":1},"pipeline":["convert.toJson"]}`, manage(), 400},
		{"POST", pipelinePath, asJSON, `{"vars":{"a-b":1},"pipeline":["convert.toJson"]}`, manage(), 400},
		{"GET", runCommands + "get?status=failed", "", "", manage(), 400},
		{"GET", runCommands + "get?from=yesterday", "", "", manage(), 400},
		{"GET", runCommands + "get?limit=0", "", "", manage(), 400},
		{"POST", runCommands + "get", asJSON, `{"to":"2026-01-31"}`, manage(), 400},
		{"POST", runCommands + "retry", asJSON, `{"pipeline":"a"}`, manage(), 400},
		{"POST", runCommands + "retry", asJSON, `{"correlationId":"x"}`, manage(), 400},
	} {
		s.refusedByBoth(d, e)
	}
}

// managePipelines runs the commands about pipelines and their runs, in every form
// that gives another record.
func (s *service) managePipelines() {
	s.t.Helper()
	fails, _ := s.runForCalls()
	for _, run := range [][]string{
		{"pipeline.put", "name=docs.run", "body=pipeline: [log: {message: x}]"},
		{"pipeline.put", "name=docs.run", "version=1", "body=pipeline: [message.receive: {key: 'svc.event.#'}, iam.run.as: {user: admin}]"},
		{"pipeline.get"},
		{"pipeline.get", "name=docs.run"},
		{"pipeline.get", "name=docs.run", "version=1"},
		{"pipeline.run", "name=docs.run", "body={}"},
		{"pipeline.delete", "name=docs.run"},
		{"run.retry", "correlationId=" + fails},
		{"run.get"},
	} {
		s.command(run[0], run[1:]...).want(http.StatusOK)
	}
	s.exchange(exchange{"POST", pipelinePath, asYAML, fullSource, manage(), 200})
	s.ended(fails, "error")
}
