//go:build faults

package faults_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// collector takes in spans as they go over the wire, where texts are plain.
type collector struct {
	spans, headers buffer
}

// traced lets the run export every span there is, soon, to a collector that asks
// for a key.
func (s *spies) traced(t *testing.T) (environment []string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_ = r.Header.Write(&s.collector.headers)
		_, _ = io.Copy(&s.collector.spans, r.Body)
	}))
	t.Cleanup(server.Close)
	return []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL, "OTEL_EXPORTER_OTLP_HEADERS=api-key=" + url.PathEscape(s.collectorKey.text),
		"OTEL_TRACES_SAMPLER=always_on", "OTEL_BSP_SCHEDULE_DELAY=20",
	}
}

// exported gives the spans, when the collector has those of everything that was
// driven.
func (s *spies) exported(t *testing.T) []byte {
	t.Helper()
	last := "POST /api/v3/command/pipeline.delete"
	eventually(t, "the spans are exported", func() bool { return strings.Contains(s.collector.spans.String(), last) })
	spans := s.collector.spans.String()
	for _, name := range []string{
		"POST /api/v3/command/webhook.receive", "GET /api/v3/command/webhook.receive", "POST /api/v3/command/webhook.put",
		"send svc.event.webhook." + s.plant + ".raw", "send svc.call", "send svc.command", "process svc.call", "process svc.command",
		"run " + s.plant, "step webhook.delete",
	} {
		if !strings.Contains(spans, name) {
			t.Errorf("there is no span %q", name)
		}
	}
	for _, id := range s.ids {
		if strings.Contains(spans, id) {
			t.Errorf("a correlation id is in the spans: %s", id)
		}
	}
	if !strings.Contains(s.collector.headers.String(), s.collectorKey.text) {
		t.Error("the collector did not get its key")
	}
	return []byte(spans)
}

// piped lets a pipeline with a secret run and fail.
func (s *spies) piped(t *testing.T, p *process) {
	t.Helper()
	token := s.hook(t, p, "piped", "payloadType=raw")
	source := "pipeline:\n- event.listen: {eventKey: webhook." + s.plant + ".piped}\n- webhook.delete: {uuid: " + s.unknown.text + "}\n"
	basic := managed(token, s.secretsOfUsers)[0].headers[0]
	command := func(name string, params url.Values) request {
		return request{method: "POST", target: "/api/v3/command/" + name, headers: []string{basic, asForm}, body: params.Encode(), shows: true}
	}
	s.drive(t, p.url, []request{
		command("pipeline.put", url.Values{"name": {s.plant}, "body": {source}}),
		{method: "POST", target: receivePath + "?token=" + token, headers: []string{asText}, body: token},
	})
	eventually(t, "the run is over", func() bool { return strings.Contains(s.collector.spans.String(), "run "+s.plant) })
	s.drive(t, p.url, []request{command("pipeline.delete", url.Values{"name": {s.plant}})})
}
