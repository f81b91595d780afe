package telemetry_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

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
