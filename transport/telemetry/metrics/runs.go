package metrics

import (
	"context"
	"errors"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"hooklog/domain/call"
)

type runs struct {
	ended    metric.Int64Counter
	duration histogram
	inFlight metric.Int64UpDownCounter
	steps    metric.Int64Counter
	// pipelines are the labels of pipelines; one that a caller brought has no name.
	pipelines *names[attribute.KeyValue]

	requests        metric.Int64Counter
	requestDuration histogram
}

func newRuns(mk *maker) runs {
	r := runs{
		ended:    mk.counter("hooklog_runs_total", "Runs of pipelines that ended."),
		duration: mk.histogram("hooklog_run_duration_seconds", "How long a run of a pipeline took."),
		inFlight: mk.upDown("hooklog_runs_in_flight", "Runs of pipelines that are under way."),
		steps:    mk.counter("hooklog_steps_total", "Steps of the runs that ended."),
		pipelines: newNames(func(name string) attribute.KeyValue {
			return attribute.String("pipeline", name)
		}),
		requests:        mk.counter("hooklog_outbound_requests_total", "Requests of the step http.request, by the class of their status or by the fault."),
		requestDuration: mk.histogram("hooklog_outbound_request_duration_seconds", "How long a request of the step http.request took."),
	}
	r.inFlight.Add(background, 0)
	return r
}

// Run counts a run that begins; ended takes what came of it and must be called.
func (m *Metrics) Run(pipeline string) (ended func(steps []call.Step, err error)) {
	began := time.Now()
	m.runs.inFlight.Add(background, 1)
	return func(steps []call.Step, err error) {
		m.runs.inFlight.Add(background, -1)
		m.runs.duration.take(time.Since(began), nil)
		m.runs.ended.Add(background, 1, metric.WithAttributes(
			m.runs.pipelines.of(pipeline), attribute.String("outcome", runOutcome(err))))
		for i := range steps {
			m.runs.steps.Add(background, 1, metric.WithAttributes(
				attribute.String("command", steps[i].Command), attribute.String("outcome", stepOutcome(&steps[i]))))
		}
	}
}

// runOutcome tells a run that was given up, and is made again elsewhere, from one
// that failed.
func runOutcome(err error) string {
	if errors.Is(err, context.Canceled) {
		return "given-up"
	}
	return outcome(err)
}

func stepOutcome(s *call.Step) string {
	switch {
	case s.Error != "":
		return "failed"
	case s.Attempt == 0:
		return "left-out"
	}
	return "ok"
}

// Request counts a request that a pipeline made; a status of 0 means that there
// was no answer.
func (m *Metrics) Request(status int, took time.Duration, err error) {
	came := outcome(err)
	if err == nil {
		came = strconv.Itoa(status/100) + "xx"
	}
	m.runs.requests.Add(background, 1, metric.WithAttributes(attribute.String("outcome", came)))
	m.runs.requestDuration.take(took, nil)
}
