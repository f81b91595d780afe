package metrics

import (
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"hooklog/domain/fault"
)

// Call is a webhook call that was answered.
type Call struct {
	// EventKey is empty where no webhook was found.
	EventKey string
	// Body, Event and Accepted are how long the stages took: to read and check the
	// request, to put the event on the log, and the accepted record behind it. One
	// that was not completed is 0.
	Body, Event, Accepted time.Duration
	// Whole is from the call's arrival to its answer.
	Whole time.Duration
	// Err is nil when the call was accepted.
	Err error
}

type calls struct {
	answered metric.Int64Counter
	duration histogram
	// outcomes are the labels of an event key: those of accepted calls, and behind
	// them those of each kind of fault.
	outcomes *names[[]label]

	body, event, accepted, whole label
}

func newCalls(mk *maker) calls {
	stage := func(name string) label { return labelled(attribute.String("stage", name)) }
	return calls{
		answered: mk.counter("hooklog_calls_total", "Webhook calls that were answered."),
		duration: mk.histogram("hooklog_call_duration_seconds", "How long the stages of a webhook call took."),
		outcomes: newNames(callOutcomes),
		body:     stage("body"), event: stage("event"), accepted: stage("accepted"), whole: stage("whole"),
	}
}

func callOutcomes(eventKey string) []label {
	webhook := attribute.String("webhook", eventKey)
	all := []label{labelled(webhook, attribute.String("outcome", outcome(nil)))}
	for _, kind := range fault.Kinds() {
		all = append(all, labelled(webhook, attribute.String("outcome", kind.String())))
	}
	return all
}

// Call counts a call.
func (m *Metrics) Call(c Call) {
	i := 0
	if c.Err != nil {
		i = 1 + int(fault.From(c.Err).Kind)
	}
	m.calls.answered.Add(background, 1, m.calls.outcomes.of(c.EventKey)[i].add...)
	m.calls.took(c.Body, m.calls.body)
	m.calls.took(c.Event, m.calls.event)
	m.calls.took(c.Accepted, m.calls.accepted)
	m.calls.took(c.Whole, m.calls.whole)
}

func (c *calls) took(d time.Duration, stage label) {
	if d > 0 {
		c.duration.take(d, stage.record)
	}
}
