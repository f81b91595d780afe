package metrics

import (
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"hooklog/domain/record"
)

// The classes of topics. There is an event topic for each webhook, and they are
// one class; message is what pipelines send to topics of others.
const (
	classEvent   = "event"
	classMessage = "message"
	ownPrefix    = "svc."
)

type appends struct {
	duration histogram
	failures metric.Int64Counter
	// classes are the labels of the service's own topics, by their names.
	classes        map[string]label
	event, message label
}

func newAppends(mk *maker) appends {
	class := func(name string) label { return labelled(attribute.String("class", name)) }
	a := appends{
		duration: mk.histogram("hooklog_append_duration_seconds", "How long the log took to confirm a record."),
		failures: mk.counter("hooklog_append_failures_total", "Records that the log did not take."),
		classes:  map[string]label{},
		event:    class(classEvent), message: class(classMessage),
	}
	for _, topic := range []string{record.TopicCall, record.TopicCommand, record.TopicAccess, record.TopicSession} {
		a.classes[topic] = class(strings.TrimPrefix(topic, ownPrefix))
		a.failures.Add(background, 0, a.classes[topic].add...)
	}
	a.failures.Add(background, 0, a.event.add...)
	return a
}

func (a *appends) of(topic string) label {
	if strings.HasPrefix(topic, record.EventTopicPrefix) {
		return a.event
	}
	if own, ok := a.classes[topic]; ok {
		return own
	}
	return a.message
}

// Append counts a record that was handed to the log.
func (m *Metrics) Append(topic string, took time.Duration, err error) {
	class := m.appends.of(topic)
	if err != nil {
		m.appends.failures.Add(background, 1, class.add...)
		return
	}
	m.appends.duration.take(took, class.record)
}
