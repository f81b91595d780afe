// Package metrics measures the service for Prometheus: what the other rooms tell
// it, and what it reads of them when it is asked. It exports nothing by itself;
// an operator's Prometheus comes for it. A label is an outcome, a stage, a
// command, an event key or the name of a pipeline, and never anything that a
// caller sent: each has few values, or is held to a number of them. The rooms
// that are measured know hooks of their own, and nothing of this package: cmd
// joins them.
package metrics

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"go.opentelemetry.io/otel/attribute"
	exporter "go.opentelemetry.io/otel/exporters/prometheus"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/exemplar"

	"hooklog/domain/fault"
)

const (
	// MaxNames is how many event keys, and how many pipelines, get series of their
	// own: the first since the start. All others are Other together.
	MaxNames = 200
	// Other stands for the names beyond them.
	Other = "other"

	// maxSeries is above what the names with all outcomes come to; the SDK would put
	// what lies beyond it into one series without a name.
	maxSeries = 4096
	// maxScrapes is how many scrapes are answered at a time.
	maxScrapes = 4
)

// Config is what the service says of itself.
type Config struct {
	Version string
	// Ready is nil, or why the service is not ready.
	Ready func() error
	Log   *slog.Logger
}

// Metrics takes measurements. Its methods may be called by many at a time.
type Metrics struct {
	log      *slog.Logger
	registry *prometheus.Registry
	meter    metric.Meter

	calls    calls
	appends  appends
	commands commands
	runs     runs
	kafka    kafkaClient
}

// New makes metrics with a registry of their own.
func New(cfg Config) (*Metrics, error) {
	m := &Metrics{log: cfg.Log, registry: prometheus.NewRegistry()}
	reader, err := exporter.New(exporter.WithRegisterer(m.registry), exporter.WithAggregationSelector(aggregation),
		exporter.WithoutScopeInfo(), exporter.WithoutTargetInfo())
	if err != nil {
		return nil, err
	}
	// Nobody reads exemplars here, and each measurement would pay for them.
	m.meter = sdk.NewMeterProvider(sdk.WithReader(reader), sdk.WithCardinalityLimit(maxSeries),
		sdk.WithExemplarFilter(exemplar.AlwaysOffFilter)).Meter("hooklog")
	mk := maker{meter: m.meter}
	m.calls = newCalls(&mk)
	m.appends = newAppends(&mk)
	m.commands = newCommands(&mk)
	m.runs = newRuns(&mk)
	m.kafka = newKafkaClient(&mk)
	return m, errors.Join(mk.err, m.describe(cfg),
		m.registry.Register(collectors.NewGoCollector()),
		m.registry.Register(collectors.NewProcessCollector(collectors.ProcessCollectorOpts{})))
}

// Handler answers scrapes.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{
		ErrorLog:            slog.NewLogLogger(m.log.Handler(), slog.LevelWarn),
		ErrorHandling:       promhttp.ContinueOnError,
		MaxRequestsInFlight: maxScrapes,
	})
}

// describe exports what the service is, and whether it is ready.
func (m *Metrics) describe(cfg Config) error {
	build := metric.WithAttributes(attribute.String("version", cfg.Version), attribute.String("go_version", runtime.Version()))
	w := watcher{maker: maker{meter: m.meter}}
	info := w.gauge("hooklog_build_info", "1, with the version of this program and of Go as labels.")
	ready := w.gauge("hooklog_ready", "Whether the service is ready: 1 or 0.")
	_, err := w.watch(func(_ context.Context, o metric.Observer) error {
		o.ObserveFloat64(info, 1, build)
		is := 0.0
		if cfg.Ready() == nil {
			is = 1
		}
		o.ObserveFloat64(ready, is)
		return nil
	})
	return err
}

// outcome is ok, or the kind of the fault.
func outcome(err error) string {
	if err == nil {
		return "ok"
	}
	return fault.From(err).Kind.String()
}
