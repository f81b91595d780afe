package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"hooklog/cmd/settings"
)

// Every path answers what the OpenAPI document says, with every status that it
// documents, and is asked as it says.
func TestExchangesAreAsDocumented(t *testing.T) {
	s := startOnBrokers(t, func(c *settings.Config) { c.PollHold = 100 * time.Millisecond })
	waiting, _, _ := launch(t, freeAddress(t)) // for brokers that are not there
	down := "http://" + waiting.cfg.Listen
	busy := startEmbedded(t, func(c *settings.Config) { c.WebhookRate, c.UserRate = 1, 1 })
	d := documentOf(t, s, s.app.BaseURL(), down, busy.app.BaseURL())

	s.exchangeCommands()
	s.exchangeCalls()
	s.exchangePolls()
	s.exchangeRest()
	s.exchangeIdentity()
	s.exchangeTokens()
	s.exchangePipelines()
	s.exchangeAdHoc()
	s.exchangeRuns()
	s.exchangeTraces()
	s.exchangeCheckpoints()
	s.exchangePast()
	s.exchangeAudit()
	s.exchangeSchemes(d)
	s.exchangeForbidden(d)
	s.exchangeRefusals(d)
	s.exchangeParameters(d)
	s.exchangeIdentityParameters(d)
	s.exchangePipelineParameters(d)
	s.exchangeTraceParameters(d)
	s.exchangeAuditParameters(d)
	s.exchangeWithout(d, down)
	s.exchangeTooOften(d, busy)

	// These take a broken service; that they are the problems of the service is
	// tested beside its handlers.
	open := slices.DeleteFunc(d.unseen(), func(answer string) bool { return strings.HasSuffix(answer, " 500") })
	if len(open) > 0 {
		t.Errorf("documented, but never answered: %v", open)
	}
	if unknown := d.undocumented(); len(unknown) > 0 {
		t.Errorf("answered, but not documented: %v", unknown)
	}
}

// exchange is a request and the status that it is answered with.
type exchange struct {
	method, path, contentType, body string
	header                          []string
	status                          int
}

func (s *service) exchange(e exchange) answer {
	s.t.Helper()
	header := slices.Clone(e.header)
	if e.contentType != "" {
		header = append(header, "Content-Type", e.contentType)
	}
	if len(e.body) > 1<<20 {
		// Whoever refuses by the length alone does not read the body.
		header = append(header, "Expect", "100-continue")
	}
	var body io.Reader
	if e.body != "" {
		body = strings.NewReader(e.body)
	}
	return s.send(e.method, e.path, body, header...).want(e.status)
}

// manage is the header of the administrator, and further ones.
func manage(header ...string) []string {
	return append([]string{"Authorization", basic("admin", adminPassword)}, header...)
}

const (
	putPath    = commandPath + "webhook.put"
	getPath    = commandPath + "webhook.get"
	listPath   = commandPath + "webhook.list"
	deletePath = commandPath + "webhook.delete"
)

func (s *service) exchangeCommands() {
	s.t.Helper()
	var hook webhook
	s.exchange(exchange{"POST", putPath, asJSON, `{"eventKey":"webhook.one","payloadType":"raw","maxPayloadLength":10,"enabled":true}`, manage("Idempotency-Key", "first"), 200}).json(&hook)
	nobody := uuid.NewString()
	for _, e := range []exchange{
		{"POST", putPath, asForm, "eventKey=webhook.two&payloadHandling=ignore&enabled=false", manage(), 200},
		{"POST", putPath, asJSON, `{"uuid":"` + hook.UUID + `","maxPayloadLength":4194304,"version":1}`, manage(), 200},
		{"POST", putPath, asForm, "uuid=" + hook.UUID + "&version=1", manage(), 409},
		{"POST", putPath, asJSON, `{"eventKey":"webhook.one"}`, manage(), 409},
		{"POST", putPath, asJSON, `{"uuid":"` + nobody + `"}`, manage(), 404},

		{"GET", getPath, "", "", manage("Idempotency-Key", "all"), 200},
		{"GET", getPath + "?uuid=" + hook.UUID, "", "", manage(), 200},
		{"GET", getPath + "?uuid=" + nobody, "", "", manage(), 404},
		{"GET", getPath + "?uuid=" + hook.UUID, "", "", manage("Idempotency-Key", "all"), 409},
		{"POST", getPath, "", "", manage(), 200},
		{"POST", getPath, asJSON, `{}`, manage(), 200},
		{"POST", getPath, asForm, "uuid=" + hook.UUID, manage(), 200},
		{"POST", getPath, asJSON, `{"uuid":"` + nobody + `"}`, manage(), 404},
		{"POST", getPath, asJSON, `{"uuid":"` + hook.UUID + `"}`, manage("Idempotency-Key", "all"), 409},

		{"GET", listPath, "", "", manage(), 200},
		{"POST", listPath, asForm, "limit=1000", manage(), 200},

		{"POST", deletePath, asJSON, `{"uuid":"` + nobody + `"}`, manage("Idempotency-Key", "gone"), 404},
		{"POST", deletePath, asJSON, `{"uuid":"` + hook.UUID + `"}`, manage("Idempotency-Key", "gone"), 409},
	} {
		s.exchange(e)
	}
	next := s.exchange(exchange{"POST", listPath, asJSON, `{"limit":1}`, manage(), 200}).object()["next"]
	s.exchange(exchange{"GET", fmt.Sprintf("%s?limit=1&cursor=%s", listPath, next), "", "", manage(), 200})
	s.exchange(exchange{"POST", deletePath, asForm, "uuid=" + hook.UUID, manage(), 200})
}

func (s *service) exchangeCalls() {
	s.t.Helper()
	hook := s.put("eventKey=webhook.called", "payloadType=raw", "maxPayloadLength=1000")
	token := []string{"token", hook.UUID}
	inQuery := receivePath + "?token=" + hook.UUID
	const files = "multipart/form-data; boundary=b"
	file := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n\r\nhello\r\n"
	inPart := "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n" + hook.UUID + "\r\n"
	for _, e := range []exchange{
		{"POST", receivePath, asJSON, `{"order":4711}`, token, 200},
		{"POST", receivePath, asJSON, `[1,null,"x"]`, token, 200},
		{"POST", receivePath, asJSON, `{"token":"` + hook.UUID + `"}`, nil, 200},
		{"POST", receivePath, asJSON, `{"token":12}`, token, 200},
		{"POST", receivePath, asForm, "token=" + hook.UUID + "&a=1&a=2", nil, 200},
		{"POST", receivePath, files, inPart + file + file + "--b--\r\n", nil, 200},
		{"POST", inQuery + "&more=1&more=2", "text/plain", "hello", nil, 200},
		{"POST", inQuery, "application/xml", "<a/>", nil, 200},
		{"POST", inQuery, "", "", nil, 200},
		{"POST", inQuery + "&pollingRedirectEnabled=true", asJSON, "1", nil, 302},
		{"POST", inQuery, asJSON, "1", []string{"token", uuid.NewString()}, 400},
		{"POST", inQuery + "&pollingRedirectEnabled=1", asJSON, "1", nil, 400},
		{"POST", receivePath, asJSON, `{}`, nil, 404},
		{"POST", inQuery, asJSON, strings.Repeat("1", 1001), nil, 413},
		{"POST", inQuery, "image/png", "\x00", nil, 415},

		{"GET", inQuery + "&more=1&more=2", "", "", nil, 200},
		{"GET", receivePath, "", "", token, 200},
		{"GET", inQuery + "&pollingRedirectEnabled=true", "", "", nil, 302},
		{"GET", inQuery, "", "", []string{"token", uuid.NewString()}, 400},
		{"GET", receivePath, "", "", nil, 404},
		{"GET", receivePath, "", "", append([]string{"Content-Encoding", "gzip"}, token...), 415},
	} {
		s.exchange(e)
	}
}

func (s *service) exchangePolls() {
	s.t.Helper()
	done := s.slow("orders@1", "stock@2")
	s.poll(done.id, "false").want(200)
	s.poll(done.id, "").want(429)
	s.poll(done.id, "true").want(302)
	s.clock.forward(time.Minute)
	s.poll(done.id, "").want(302)
	done.done("orders@1", 1, `{"stored":true}`)
	done.done("stock@2", 1, `[1,2]`)
	failed := s.slow("orders@1")
	failed.failed("orders@1", 1)
	s.folded()
	for _, mode := range []string{"", "false", "true"} {
		s.poll(done.id, mode).want(200)
		s.poll(failed.id, mode).want(200)
	}
	s.poll("no-uuid", "").want(410)
	s.exchange(exchange{method: "GET", path: "/api/v3/result", status: 400})
}

// exchangeRest asks what has neither parameters nor a body.
func (s *service) exchangeRest() {
	s.t.Helper()
	for _, path := range []string{"/healthz", "/readyz"} {
		s.exchange(exchange{method: "GET", path: path, status: 200})
		s.exchange(exchange{method: "HEAD", path: path, status: 200})
	}
	s.exchange(exchange{method: "GET", path: "/api/v3/openapi.yaml", status: 200})
	s.exchange(exchange{method: "GET", path: "/api/v3/asyncapi.yaml", status: 200})
}

// exchangeRefusals provokes what all commands refuse alike, and the wrong method
// of every path.
func (s *service) exchangeRefusals(d *documented) {
	s.t.Helper()
	for _, op := range d.operations() {
		s.exchange(exchange{method: "DELETE", path: op.path, header: manage(), status: 405})
		if !op.managed() {
			continue
		}
		for _, e := range []exchange{
			{op.method, op.path, "", "", nil, 401},
			{op.method, op.path + "?nope=1", "", "", manage(), 400},
			{op.method, op.path, asJSON, strings.Repeat(" ", 1<<20+1), manage(), 413},
			{op.method, op.path, "text/csv", "uuid", manage(), 415},
		} {
			s.exchange(e)
		}
	}
}

// exchangeParameters sends what is wrong with a command by itself: service and
// document refuse it both.
func (s *service) exchangeParameters(d *documented) {
	s.t.Helper()
	const id = `"uuid":"2f1d0c52-7a3e-4c55-9c1b-0b5a6de1f3a9"`
	for _, e := range []exchange{
		{"POST", putPath, asJSON, `{}`, manage(), 400},
		{"POST", putPath, asJSON, `[]`, manage(), 400},
		{"POST", putPath, "", "", manage(), 400},
		{"POST", putPath, asJSON, `{"eventKey":"webhook.x","name":"x"}`, manage(), 400},
		{"POST", putPath, asJSON, `{"eventKey":"orders"}`, manage(), 400},
		{"POST", putPath, asJSON, `{"eventKey":"webhook.X"}`, manage(), 400},
		{"POST", putPath, asJSON, `{"eventKey":"webhook.` + strings.Repeat("x", 232) + `"}`, manage(), 400},
		{"POST", putPath, asJSON, `{"eventKey":"webhook.x","payloadType":"gzip"}`, manage(), 400},
		{"POST", putPath, asJSON, `{"eventKey":"webhook.x","payloadHandling":"gzip"}`, manage(), 400},
		{"POST", putPath, asJSON, `{"eventKey":"webhook.x","maxPayloadLength":0}`, manage(), 400},
		{"POST", putPath, asJSON, `{"eventKey":"webhook.x","maxPayloadLength":4194305}`, manage(), 400},
		{"POST", putPath, asJSON, `{"eventKey":"webhook.x","maxPayloadLength":1.5}`, manage(), 400},
		{"POST", putPath, asJSON, `{"eventKey":"webhook.x","enabled":null}`, manage(), 400},
		{"POST", putPath, asJSON, `{"eventKey":"webhook.x","version":1}`, manage(), 400},
		{"POST", putPath, asJSON, `{"uuid":"2F1D0C52-7A3E-4C55-9C1B-0B5A6DE1F3A9"}`, manage(), 400},
		{"POST", putPath, asJSON, `{"eventKey":"webhook.x"}`, manage("Idempotency-Key", "with space"), 400},
		{"POST", putPath, asJSON, `{"eventKey":"webhook.x"}`, manage("Idempotency-Key", strings.Repeat("k", 256)), 400},
		{"GET", getPath + "?uuid=x", "", "", manage(), 400},
		{"POST", getPath, asJSON, `{` + id + `,"eventKey":"webhook.x"}`, manage(), 400},
		{"GET", listPath + "?limit=0", "", "", manage(), 400},
		{"GET", listPath + "?limit=1001", "", "", manage(), 400},
		{"GET", listPath + "?cursor=*", "", "", manage(), 400},
		{"POST", listPath, asJSON, `{"limit":"many"}`, manage(), 400},
		{"POST", deletePath, asJSON, `{}`, manage(), 400},
		{"POST", deletePath, asForm, "uuid=x", manage(), 400},
	} {
		s.refusedByBoth(d, e)
	}
}

// refusedByBoth sends what the document must have something against as well.
func (s *service) refusedByBoth(d *documented, e exchange) {
	s.t.Helper()
	s.exchange(e)
	req, err := http.NewRequestWithContext(s.t.Context(), e.method, s.app.BaseURL()+e.path, strings.NewReader(e.body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", e.contentType)
	for i := 0; i < len(e.header); i += 2 {
		req.Header.Set(e.header[i], e.header[i+1])
	}
	d.refuses(req)
}

// exchangeWithout asks a service that has not reached its log.
func (s *service) exchangeWithout(d *documented, down string) {
	s.t.Helper()
	for _, op := range d.operations() {
		status := http.StatusServiceUnavailable
		if op.path == "/healthz" {
			status = http.StatusOK
		}
		s.exchange(exchange{method: op.method, path: down + op.path, header: manage(), status: status})
	}
}

// exchangeTooOften asks a service that takes one of each a second until it has
// enough.
func (s *service) exchangeTooOften(d *documented, busy *service) {
	s.t.Helper()
	hook := busy.put("eventKey=webhook.busy")
	token := []string{"token", hook.UUID}
	asked := []exchange{
		{"GET", receivePath, "", "", token, 429},
		{"POST", receivePath, asJSON, "1", token, 429},
		{"POST", tokenPath, asForm, "grant_type=password&client_id=hooklog&username=nobody&password=x", nil, 429},
	}
	for _, op := range d.operations() {
		if op.managed() {
			asked = append(asked, exchange{op.method, op.path, "", "", manage(), 429})
		}
	}
	for _, e := range asked {
		e.path = busy.url + e.path
		eventually(s.t, "it is too much", func() bool {
			header := append([]string{"Content-Type", e.contentType}, e.header...)
			return s.send(e.method, e.path, strings.NewReader(e.body), header...).status == e.status
		})
	}
}

// The checks of exchanges find what is wrong with an answer.
func TestDocumentRefusesOtherAnswers(t *testing.T) {
	s := startOnOne(t)
	hook := s.put("eventKey=webhook.demo")
	d := documentOf(t, s, s.app.BaseURL())
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.app.BaseURL()+receivePath+"?token="+hook.UUID, nil)
	if err != nil {
		t.Fatal(err)
	}
	real := s.do(req)
	for name, change := range map[string]func(status *int, header http.Header, body *string){
		"another status":       func(status *int, _ http.Header, _ *string) { *status = http.StatusTeapot },
		"a status of an error": func(status *int, _ http.Header, _ *string) { *status = http.StatusNotFound },
		"a missing header":     func(_ *int, h http.Header, _ *string) { h.Del("svc-trace-id") },
		"another header":       func(_ *int, h http.Header, _ *string) { h.Set("Cache-Control", "public") },
		"another content type": func(_ *int, h http.Header, _ *string) { h.Set("Content-Type", "text/html") },
		"a further member":     func(_ *int, _ http.Header, b *string) { *b = strings.Replace(*b, "{", `{"extra":1,`, 1) },
		"a missing member":     func(_ *int, _ http.Header, b *string) { *b = strings.Replace(*b, `"statusCode":200,`, "", 1) },
		"a contradiction":      func(_ *int, _ http.Header, b *string) { *b = strings.Replace(*b, `"ok"`, `"error"`, 1) },
		"a trace id of no use": func(_ *int, _ http.Header, b *string) { *b = strings.Replace(*b, hook.UUID[30:]+":", ":", 2) },
	} {
		t.Run(name, func(t *testing.T) {
			status, header, body := real.status, real.header.Clone(), string(real.body)
			change(&status, header, &body)
			resp := &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(strings.NewReader(body))}
			if d.check(req, resp) == nil {
				t.Errorf("not noticed: %d %v %s", status, header, body)
			}
		})
	}
}
