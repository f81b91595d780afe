package metrics

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	sdk "go.opentelemetry.io/otel/sdk/metric"
)

// bounds are those of every histogram, in seconds: from a call on a quiet machine to a
// run that waits.
var bounds = []float64{.00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// aggregation keeps no least and most of a histogram, which Prometheus does not
// take: each measurement would pay for them.
func aggregation(kind sdk.InstrumentKind) sdk.Aggregation {
	if kind == sdk.InstrumentKindHistogram {
		return sdk.AggregationExplicitBucketHistogram{Boundaries: bounds, NoMinMax: true}
	}
	return sdk.DefaultAggregationSelector(kind)
}

// background is for measurements: no context changes them.
var background = context.Background()

// maker makes instruments and keeps what failed. Their names are those that
// Prometheus sees, so that one search finds them everywhere.
type maker struct {
	meter metric.Meter
	err   error
}

func (m *maker) counter(name, help string) metric.Int64Counter {
	made, err := m.meter.Int64Counter(name, metric.WithDescription(help))
	m.err = errors.Join(m.err, err)
	return made
}

// seconds makes a counter of time.
func (m *maker) seconds(name, help string) metric.Float64Counter {
	made, err := m.meter.Float64Counter(name, metric.WithDescription(help))
	m.err = errors.Join(m.err, err)
	return made
}

func (m *maker) histogram(name, help string) histogram {
	made, err := m.meter.Float64Histogram(name, metric.WithDescription(help))
	m.err = errors.Join(m.err, err)
	return histogram{made}
}

func (m *maker) upDown(name, help string) metric.Int64UpDownCounter {
	made, err := m.meter.Int64UpDownCounter(name, metric.WithDescription(help))
	m.err = errors.Join(m.err, err)
	return made
}

// histogram takes durations.
type histogram struct{ metric.Float64Histogram }

func (h histogram) take(d time.Duration, labels []metric.RecordOption) {
	h.Record(background, d.Seconds(), labels...)
}

// label is labels made ahead, in the forms that counters and histograms take: to
// make them for each measurement would cost more than to measure.
type label struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

func labelled(pairs ...attribute.KeyValue) label {
	option := metric.WithAttributeSet(attribute.NewSet(pairs...))
	return label{[]metric.AddOption{option}, []metric.RecordOption{option}}
}

// watcher makes instruments that are read at each scrape.
type watcher struct {
	maker
	all []metric.Observable
}

func (w *watcher) gauge(name, help string) metric.Float64ObservableGauge {
	made, err := w.meter.Float64ObservableGauge(name, metric.WithDescription(help))
	w.err = errors.Join(w.err, err)
	w.all = append(w.all, made)
	return made
}

func (w *watcher) counter(name, help string) metric.Float64ObservableCounter {
	made, err := w.meter.Float64ObservableCounter(name, metric.WithDescription(help))
	w.err = errors.Join(w.err, err)
	w.all = append(w.all, made)
	return made
}

// watch lets the instruments be read, until the returned function is called.
func (w *watcher) watch(read metric.Callback) (stop func() error, err error) {
	if w.err != nil {
		return nil, w.err
	}
	registered, err := w.meter.RegisterCallback(read, w.all...)
	if err != nil {
		return nil, err
	}
	return registered.Unregister, nil
}
