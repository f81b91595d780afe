//go:build collector

// Package traces_test asks a real OpenTelemetry collector what it got of a whole
// hooklog. It reads the collector's file, and knows nothing of how spans are made.
package traces_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hooklog/cmd/app"
	"hooklog/cmd/settings"
	"hooklog/domain/secret"
)

const (
	adminPassword  = "a password: with everything €"
	readerPassword = "reader-secret"
	// patience bounds every wait; nothing passes because of it.
	patience = 2 * time.Minute
)

// collected tells where the collector listens and writes.
func collected(t *testing.T) (endpoint, file string) {
	t.Helper()
	endpoint, file = os.Getenv("HOOKLOG_TEST_COLLECTOR"), os.Getenv("HOOKLOG_TEST_SPANS")
	if endpoint == "" || file == "" {
		t.Fatal("HOOKLOG_TEST_COLLECTOR and HOOKLOG_TEST_SPANS are not set; run: make test-traces")
	}
	return endpoint, file
}

// hooklog is a running service that exports its spans.
type hooklog struct {
	t    *testing.T
	app  *app.App
	file string
}

func start(t *testing.T) *hooklog {
	t.Helper()
	endpoint, file := collected(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
	t.Setenv("OTEL_BSP_SCHEDULE_DELAY", "100")
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=e2e")
	cfg := settings.Default()
	cfg.Listen, cfg.OpsListen = "127.0.0.1:0", ""
	cfg.DataDir = filepath.Join(t.TempDir(), "data")
	cfg.AdminPassword = secret.NewPassword(adminPassword)
	cfg.EmbeddedListen, cfg.EmbeddedReaderPassword = "127.0.0.1:0", secret.NewPassword(readerPassword)
	cfg.ResultWindow = 20 * time.Second // however slow the machine is
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	running, err := app.Start(ctx, cfg, app.Deps{Log: slog.New(slog.DiscardHandler), Out: io.Discard, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := running.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return &hooklog{t: t, app: running, file: file}
}

// post sends a request and gives the answer, which must have the status.
func (h *hooklog) post(path, body string, status int, headers ...string) []byte {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), http.MethodPost, h.app.BaseURL()+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	answer, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		h.t.Fatalf("%s answered %d, want %d: %s, %v", path, resp.StatusCode, status, answer, err)
	}
	return answer
}

// command runs a management command as the administrator.
func (h *hooklog) command(name string, params map[string]any, into any, headers ...string) {
	h.t.Helper()
	body, err := json.Marshal(params)
	if err != nil {
		h.t.Fatal(err)
	}
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth("admin", adminPassword)
	answer := h.post("/api/v3/command/"+name, string(body), http.StatusOK,
		append(headers, "Content-Type", "application/json", "Authorization", r.Header.Get("Authorization"))...)
	if into == nil {
		return
	}
	if err := json.Unmarshal(answer, into); err != nil {
		h.t.Fatal(err)
	}
}

// webhook makes a webhook with a pipeline that listens to it.
func (h *hooklog) webhook(eventKey, pipeline string) (token string) {
	h.t.Helper()
	var made struct{ UUID string }
	h.command("webhook.put", map[string]any{"eventKey": eventKey, "maxPayloadLength": 1000}, &made)
	if pipeline != "" {
		source := "pipeline:\n- event.listen: {eventKey: " + eventKey + "}\n" + pipeline
		h.command("pipeline.put", map[string]any{"name": strings.ReplaceAll(eventKey, ".", "-"), "body": source}, nil)
	}
	return made.UUID
}

// called is what a call is answered.
type called struct {
	Status, TraceID, CorrelationID string
}

func (h *hooklog) call(token, payload string, headers ...string) (c called) {
	h.t.Helper()
	answer := h.post("/api/v3/command/webhook.receive?secret="+queryCanary, payload, http.StatusOK, append(headers, "token", token)...)
	if err := json.Unmarshal(answer, &c); err != nil {
		h.t.Fatal(err)
	}
	return c
}

// span is a span as the collector writes it.
type span struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int
	StartTimeUnixNano, EndTimeUnixNano  string
	Attributes                          attributes
	Links                               []struct{ TraceID, SpanID string }
	Status                              struct {
		Code    int
		Message string
	}
	Resource map[string]string `json:"-"`
}

type attributes []struct {
	Key   string
	Value struct{ StringValue, IntValue string }
}

func (a attributes) texts() map[string]string {
	all := map[string]string{}
	for _, one := range a {
		all[one.Key] = one.Value.StringValue + one.Value.IntValue
	}
	return all
}

// spans reads what the collector has written so far.
func (h *hooklog) spans() (all []span) {
	h.t.Helper()
	text, err := os.ReadFile(h.file)
	if err != nil && !os.IsNotExist(err) {
		h.t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		if !bytes.HasSuffix(line, []byte("\n")) {
			break // it is being written
		}
		var export struct {
			ResourceSpans []struct {
				Resource   struct{ Attributes attributes }
				ScopeSpans []struct{ Spans []span }
			}
		}
		if err := json.Unmarshal(line, &export); err != nil {
			h.t.Fatal(err)
		}
		for _, resource := range export.ResourceSpans {
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					s.Resource = resource.Resource.Attributes.texts()
					all = append(all, s)
				}
			}
		}
	}
	return all
}

// await waits until the collector has spans that satisfy enough, of those that keep
// takes.
func (h *hooklog) await(keep func(span) bool, enough func([]span) bool) []span {
	h.t.Helper()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	late := time.After(patience)
	for {
		var kept []span
		for _, s := range h.spans() {
			if keep(s) {
				kept = append(kept, s)
			}
		}
		if enough(kept) {
			return kept
		}
		select {
		case <-tick.C:
		case <-late:
			h.t.Fatalf("the collector has only %d of the spans: %+v", len(kept), kept)
		}
	}
}

// of takes the spans with the attribute.
func of(key, value string) func(span) bool {
	return func(s span) bool { return s.Attributes.texts()[key] == value }
}

// named is enough when there are so many spans of each name.
func named(want map[string]int) func([]span) bool {
	return func(spans []span) bool {
		have := map[string]int{}
		for _, s := range spans {
			have[s.Name]++
		}
		for name, n := range want {
			if have[name] < n {
				return false
			}
		}
		return true
	}
}
