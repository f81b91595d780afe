package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/cmd/settings"
)

const (
	asYAML       = "application/yaml"
	pipelinePath = "/api/v3/pipeline"

	listedTopic = "e2e.listed"
)

// unhurried lets the answer to a call wait for its pipelines, however slow the
// machine is. Polls are held for longer than clients wait: what is answered was
// released.
func unhurried(c *settings.Config) {
	c.UserRate = 0
	c.ResultWindow, c.PollHold = 20*time.Second, 2*patience
	c.MessageTopics = []string{listedTopic}
}

// The tests share one service on each log, and so keep to keys, users and rules of
// their own.
func TestPipelines(t *testing.T) {
	tests := map[string]func(*service){
		"event.listen":    listenToEvents,
		"message.receive": receiveMessages,
		"one call reaches both kinds of listener":            listenInBothWays,
		"the owner needs the right to what a pipeline hears": ownersListen,
		"event.receive": receiveEvents,
		"event.receive gives what user and owner may read": receiveReadableEvents,
		"event.send":                        sendEvents,
		"event.send comes to an end":        sendInCircles,
		"event.send counts once":            sendOnce,
		"message.send":                      sendMessages,
		"iam.run.as":                        runAs,
		"iam.run.as is refused at put":      runAsRefusedAtPut,
		"iam.run.as is refused at each run": runAsRefusedAtRun,
		"webhook.put, webhook.get and webhook.delete are steps": webhookSteps,
		"anonymousUser makes no webhook":                        anonymousMakesNoWebhook,
		"who may do what is decided by no step":                 refusedSteps,
		"convert.fromBase64 gives the bytes that were sent":     convertOrigin,
		"the keys of a pipeline's headers are case-sensitive":   caseSensitiveHeaders,
		"what a caller sends is never evaluated":                payloadStaysText,
		"onError":                                               onError,
		"a result value over 1 MiB fails":                       tooLargeValue,
		"/api/v3/pipeline":                                      runAdHoc,
		"pipeline.run":                                          runStored,
		"pipeline.put, pipeline.get and pipeline.delete":        storePipelines,
		"several listeners of which one fails":                  oneOfSeveralFails,
		"a held poll sees the end at once":                      heldPollSeesTheEnd,
		"run.get":                                               getRuns,
		"run.retry":                                             retryRuns,
		"a call and its retries are one trace":                  stayInOneTrace,
		"a deleted pipeline runs for calls accepted before":     deletedPipelineRuns,
		"a new version runs for later calls only":               newVersionRuns,
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

// stored is a pipeline as pipeline.put and pipeline.get answer it.
type stored struct {
	Name        string   `json:"name"`
	Version     int      `json:"version"`
	Body        string   `json:"body"`
	EventKeys   []string `json:"eventKeys"`
	MessageKeys []string `json:"messageKeys"`
	RunAs       []string `json:"runAs"`
	CreatedBy   string   `json:"createdBy"`
	UpdatedBy   string   `json:"updatedBy"`
}

// store runs pipeline.put, which must succeed.
func (s *service) store(name, source string) (p stored) {
	s.t.Helper()
	s.command("pipeline.put", "name="+name, "body="+source).want(http.StatusOK).json(&p)
	return p
}

// listening makes a webhook and a pipeline that listens to it, whose steps and
// body are the rest of the source.
func (s *service) listening(eventKey, name, rest string) webhook {
	s.t.Helper()
	hook := s.put("eventKey="+eventKey, "payloadType=raw")
	s.store(name, listenTo(eventKey, rest))
	return hook
}

// listenTo is the source of a pipeline that listens to a key; the rest is further
// steps, and perhaps a body.
func listenTo(eventKey, rest string) string {
	return "pipeline:\n- event.listen: {eventKey: '" + eventKey + "'}\n" + rest
}

// begin calls a webhook without waiting for its pipelines, and gives the
// correlation id.
func (s *service) begin(token, contentType, body string) string {
	s.t.Helper()
	a := s.send(http.MethodPost, receivePath+"?pollingRedirectEnabled=true", strings.NewReader(body), "token", token, "Content-Type", contentType)
	return a.want(http.StatusFound).header.Get("Svc-Result-Correlationid")
}

// await gives the result of a call when it is ready.
func (s *service) await(correlationID string) (r result) {
	s.t.Helper()
	s.poll(correlationID, "true").want(http.StatusOK).json(&r)
	return r
}

// gate is a step at which a pipeline waits until the test opens it. It gives up
// after ten seconds.
func (s *service) gate(name string) (step string, open func()) {
	s.t.Helper()
	hook := s.put("eventKey=webhook.gate." + name)
	step = "- event.receive: {eventKey: webhook.gate." + name + "}\n  output: gate\n  onError: {retry: {times: 10, wait: 1}}\n"
	return step, func() {
		s.t.Helper()
		s.called(hook.UUID, asText, "open")
	}
}

// worker makes a user for pipelines to run as, who may run the commands on the
// keys, and what changes nothing.
func (s *service) worker(name, commands, keys string) {
	s.t.Helper()
	s.user(name, kimsPassword)
	s.command("policy.put", "name="+name, "users="+name, "commands="+commands+",iam.run.as,set", "keys="+keys).want(http.StatusOK)
}

// runNow runs the pipeline of a source as the administrator.
func (s *service) runNow(source string) answer {
	s.t.Helper()
	return s.as("Authorization", basic("admin", adminPassword)).runNow(source)
}

func (c caller) runNow(source string) answer {
	c.s.t.Helper()
	return c.s.send(http.MethodPost, pipelinePath, strings.NewReader(source), append([]string{"Content-Type", asYAML}, c.header...)...)
}

// run is a run as run.get shows it.
type run struct {
	CorrelationID string    `json:"correlationId"`
	TraceID       string    `json:"traceId"`
	EventKey      string    `json:"eventKey"`
	Pipeline      string    `json:"pipeline"`
	Version       int       `json:"version"`
	Attempt       int       `json:"attempt"`
	Status        string    `json:"status"`
	Started       time.Time `json:"started"`
	Finished      time.Time `json:"finished"`
	Principal     string    `json:"principal"`
	Effective     string    `json:"effective"`
	Owner         string    `json:"owner"`
	Error         string    `json:"error"`
	Steps         []struct {
		Path      string    `json:"path"`
		Command   string    `json:"command"`
		User      string    `json:"user"`
		Started   time.Time `json:"started"`
		Finished  time.Time `json:"finished"`
		Attempt   int       `json:"attempt"`
		Error     string    `json:"error"`
		CommandID string    `json:"commandId"`
	} `json:"steps"`
}

// runs is the page of runs that run.get answers to the caller.
func (c caller) runs(params ...string) []run {
	c.s.t.Helper()
	var page struct {
		Items []run `json:"items"`
	}
	c.run("run.get", params...).want(http.StatusOK).json(&page)
	return page.Items
}

func (s *service) runs(params ...string) []run {
	s.t.Helper()
	return s.as("Authorization", basic("admin", adminPassword)).runs(params...)
}

// wantValue fails the test unless the call ended well with the value.
func (r result) wantValue(t *testing.T, value string) {
	t.Helper()
	if r.Status != "ok" || r.StatusCode != http.StatusOK {
		t.Errorf("the call is %s (%d) with %s, want ok with %s", r.Status, r.StatusCode, r.Value, value)
		return
	}
	if diff := cmp.Diff(decoded(t, value), decoded(t, string(r.Value))); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
}

func decoded(t *testing.T, text string) (v any) {
	t.Helper()
	decodeInto(t, text, &v)
	return v
}

func decodeInto(t *testing.T, text string, v any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
}

// wantFailed fails the test unless the call ended as an error which tells its
// caller nothing, and whose run tells the administrator why.
func (s *service) wantFailed(r result, why string) run {
	s.t.Helper()
	want := `{"type":"urn:hooklog:problem:internal","title":"The call failed","status":500,"traceId":"` + r.TraceID + `"}`
	if r.Status != "error" || r.StatusCode != http.StatusInternalServerError || string(r.Value) != want {
		s.t.Fatalf("the call is %s (%d) with %s, want error because: %s", r.Status, r.StatusCode, r.Value, why)
	}
	for _, run := range s.runs("correlationId=" + r.CorrelationID) {
		if run.Status == "error" {
			if !strings.Contains(run.Error, why) {
				s.t.Errorf("the run failed because %q, want %q", run.Error, why)
			}
			return run
		}
	}
	s.t.Fatalf("no run of the call failed: %+v", s.runs("correlationId="+r.CorrelationID))
	return run{}
}
