package telemetry_test

import (
	"bytes"
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	tracespb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"hooklog/transport/telemetry"
)

const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"

// unset forgets what this process was started with.
func unset(t *testing.T) {
	t.Helper()
	for _, v := range os.Environ() {
		if name, _, _ := strings.Cut(v, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
}

func open(t *testing.T) (*telemetry.Tracer, error) {
	t.Helper()
	tracer, err := telemetry.Open(t.Context(), "instance-1", slog.New(slog.DiscardHandler))
	t.Cleanup(tracer.Close)
	return tracer, err
}

func TestTracingIsOffUnlessAnEndpointIsNamed(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"nothing is set":                    {},
		"only a sampler is set":             {"OTEL_TRACES_SAMPLER": "always_on"},
		"the SDK is disabled":               {endpoint: "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "TRUE"},
		"traces are not exported":           {endpoint: "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
		"disabled, whatever else is wrong":  {endpoint: "nowhere", "OTEL_SDK_DISABLED": "true"},
		"the endpoint is for metrics alone": {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://127.0.0.1:1"},
	} {
		t.Run(name, func(t *testing.T) {
			unset(t)
			for variable, value := range env {
				t.Setenv(variable, value)
			}
			if tracer, err := open(t); tracer != nil || err != nil {
				t.Errorf("tracer %v, %v", tracer, err)
			}
		})
	}
}

func TestTracingIsOn(t *testing.T) {
	for name, env := range map[string]map[string]string{
		"with the endpoint":            {endpoint: "http://127.0.0.1:1"},
		"with the endpoint for traces": {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://127.0.0.1:1/v1/traces"},
		"with all that the SDK knows": {
			endpoint: "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_HEADERS": "a=b%20c,d=e",
			"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SDK_DISABLED": "false", "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
			"OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.25",
			"OTEL_BSP_MAX_QUEUE_SIZE": "100", "OTEL_EXPORTER_OTLP_TRACES_TIMEOUT": "500", "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
		},
	} {
		t.Run(name, func(t *testing.T) {
			unset(t)
			for variable, value := range env {
				t.Setenv(variable, value)
			}
			if tracer, err := open(t); tracer == nil || err != nil {
				t.Errorf("tracer %v, %v", tracer, err)
			}
		})
	}
}

func TestAVariableThatCannotBeUsedIsNamed(t *testing.T) {
	for variable, value := range map[string]string{
		endpoint:                             "127.0.0.1:4318",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "ftp://127.0.0.1",
		"OTEL_EXPORTER_OTLP_PROTOCOL":        "http/json",
		"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "carrier-pigeon",
		"OTEL_EXPORTER_OTLP_COMPRESSION":     "zip",
		"OTEL_EXPORTER_OTLP_TIMEOUT":         "10s",
		"OTEL_EXPORTER_OTLP_HEADERS":         "sesame",
		"OTEL_EXPORTER_OTLP_CERTIFICATE":     "/nowhere/ca.pem",
		"OTEL_TRACES_EXPORTER":               "console",
		"OTEL_TRACES_SAMPLER":                "sometimes",
		"OTEL_SDK_DISABLED":                  "maybe",
		"OTEL_BSP_MAX_QUEUE_SIZE":            "-1",
		"OTEL_BSP_SCHEDULE_DELAY":            "soon",
		"OTEL_RESOURCE_ATTRIBUTES":           "sesame",
	} {
		t.Run(variable, func(t *testing.T) {
			unset(t)
			t.Setenv(endpoint, "http://127.0.0.1:1")
			t.Setenv(variable, value)
			_, err := open(t)
			if err == nil || !strings.Contains(err.Error(), variable) {
				t.Errorf("error %v", err)
			}
			if variable == "OTEL_EXPORTER_OTLP_HEADERS" && strings.Contains(err.Error(), value) {
				t.Errorf("the error shows a secret: %v", err)
			}
		})
	}
	for name, env := range map[string]map[string]string{
		"a header as HTTP writes it":       {"OTEL_EXPORTER_OTLP_HEADERS": "Authorization: Bearer sesame=="},
		"headers that others stand before": {"OTEL_EXPORTER_OTLP_HEADERS": "sesame", "OTEL_EXPORTER_OTLP_TRACES_HEADERS": "a=b"},
		"a file that is no certificate":    {"OTEL_EXPORTER_OTLP_CERTIFICATE": "environment_test.go"},
		"a certificate without its key":    {"OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "environment_test.go"},
		"a key without its certificate":    {"OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY": "environment_test.go"},
		"an endpoint with a password":      {endpoint: "http://user:sesame@127.0.0.1:1"},
		"an endpoint with a query":         {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/?key=sesame"},
		"more time than there is":          {"OTEL_BSP_SCHEDULE_DELAY": "9223372036854775807"},
	} {
		t.Run(name, func(t *testing.T) {
			unset(t)
			t.Setenv(endpoint, "http://127.0.0.1:1")
			for variable, value := range env {
				t.Setenv(variable, value)
			}
			if _, err := open(t); err == nil || !strings.Contains(err.Error(), "OTEL_") || strings.Contains(err.Error(), "sesame") {
				t.Errorf("error %v", err)
			}
		})
	}
	t.Run("all of them at once", func(t *testing.T) {
		unset(t)
		t.Setenv(endpoint, "nowhere")
		t.Setenv("OTEL_TRACES_SAMPLER", "traceidratio")
		t.Setenv("OTEL_TRACES_SAMPLER_ARG", "2")
		_, err := open(t)
		for _, variable := range []string{endpoint, "OTEL_TRACES_SAMPLER_ARG"} {
			if err == nil || !strings.Contains(err.Error(), variable) {
				t.Errorf("error %v does not name %s", err, variable)
			}
		}
	})
}

func TestSpansAreExportedWhenTheServiceStops(t *testing.T) {
	unset(t)
	got := make(chan *http.Request, 1)
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { got <- r }))
	defer collector.Close()
	t.Setenv(endpoint, collector.URL)
	tracer, err := open(t)
	if err != nil {
		t.Fatal(err)
	}
	span := tracer.Receive(request(""), path, time.Now(), orders)
	span.Answered(http.StatusOK, nil)
	tracer.Close()
	select {
	case r := <-got:
		if r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			t.Errorf("exported to %s as %s", r.URL.Path, r.Header.Get("Content-Type"))
		}
	default:
		t.Error("nothing was exported")
	}
}

func TestTheSamplerDecides(t *testing.T) {
	for name, tt := range map[string]struct {
		sampler, from string
		want          bool
	}{
		"by default, as the caller who records":           {"", sampled, true},
		"by default, as the caller who does not":          {"", unsampled, false},
		"by default, where nobody did":                    {"", "", true},
		"always_on, against the caller":                   {"always_on", unsampled, true},
		"always_off, against the caller":                  {"always_off", sampled, false},
		"parentbased_always_on, as the caller":            {"parentbased_always_on", unsampled, false},
		"parentbased_always_off, as the caller":           {"parentbased_always_off", sampled, true},
		"parentbased_always_off, where nobody did":        {"parentbased_always_off", "", false},
		"traceidratio, by the trace alone, against him":   {"traceidratio", sampled, false},
		"parentbased_traceidratio, as the caller decided": {"parentbased_traceidratio", sampled, true},
	} {
		t.Run(name, func(t *testing.T) {
			unset(t)
			exports := 0
			collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { exports++ }))
			defer collector.Close()
			t.Setenv(endpoint, collector.URL)
			t.Setenv("OTEL_TRACES_SAMPLER", tt.sampler)
			t.Setenv("OTEL_TRACES_SAMPLER_ARG", "0")
			tracer, err := open(t)
			if err != nil {
				t.Fatal(err)
			}
			span := tracer.Command(request(tt.from), path, time.Now())
			span.Answered(http.StatusOK, nil)
			tracer.Close()
			if (exports == 1) != tt.want {
				t.Errorf("%d exports", exports)
			}
		})
	}
}

func TestACollectorSpeaksGRPC(t *testing.T) {
	unset(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	collector := &grpcCollector{got: make(chan *tracespb.ExportTraceServiceRequest, 1), keys: make(chan []string, 1)}
	server := grpc.NewServer()
	tracespb.RegisterTraceServiceServer(server, collector)
	go func() { _ = server.Serve(listener) }()
	defer server.Stop()
	t.Setenv(endpoint, "http://"+listener.Addr().String())
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", " grpc ") // blanks do not count
	t.Setenv("OTEL_EXPORTER_OTLP_HEADERS", "api-key=open%20sesame")
	tracer, err := open(t)
	if err != nil {
		t.Fatal(err)
	}
	calls(tracer, 3)
	tracer.Close()
	select {
	case got := <-collector.got:
		if spans := got.ResourceSpans[0].ScopeSpans[0].Spans; len(spans) != 3 || spans[0].Name != "POST "+path {
			t.Errorf("%v", got)
		}
		if keys := <-collector.keys; !slices.Equal(keys, []string{"open sesame"}) {
			t.Errorf("with the keys %q", keys)
		}
	default:
		t.Error("nothing was exported")
	}
}

type grpcCollector struct {
	tracespb.UnimplementedTraceServiceServer
	got  chan *tracespb.ExportTraceServiceRequest
	keys chan []string
}

func (c *grpcCollector) Export(ctx context.Context, r *tracespb.ExportTraceServiceRequest) (*tracespb.ExportTraceServiceResponse, error) {
	with, _ := metadata.FromIncomingContext(ctx)
	c.keys <- with.Get("api-key")
	c.got <- r
	return &tracespb.ExportTraceServiceResponse{}, nil
}

func TestACollectorThatRefusesIsLoggedOnceInAWhile(t *testing.T) {
	unset(t)
	collector := httptest.NewServer(http.NotFoundHandler())
	defer collector.Close()
	t.Setenv(endpoint, collector.URL)
	t.Setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "1")
	var log bytes.Buffer
	tracer, err := telemetry.Open(t.Context(), "instance-1", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	for range 5 {
		span := tracer.Receive(request(""), path, time.Now(), orders)
		span.Answered(http.StatusOK, nil)
	}
	tracer.Close()
	if n := strings.Count(log.String(), "Spans were lost"); n != 2 || strings.Count(log.String(), "404 Not Found") != 2 {
		t.Errorf("want a line at once and one at the end, with the reason; there are %d lines:\n%s", n, log.String())
	}
}

func TestAPageInPlaceOfACollectorIsNotLoggedWhole(t *testing.T) {
	unset(t)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, strings.Repeat("page ", 1<<16), http.StatusNotFound)
	}))
	defer collector.Close()
	t.Setenv(endpoint, collector.URL)
	var log bytes.Buffer
	tracer, err := telemetry.Open(t.Context(), "instance-1", slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	calls(tracer, 1)
	tracer.Close()
	if !strings.Contains(log.String(), "404 Not Found") || log.Len() > 1000 {
		t.Errorf("%d bytes: %.1000s", log.Len(), log.String())
	}
}
