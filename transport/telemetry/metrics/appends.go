package metrics

import (
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"hooklog/domain/record"
)

// ownPrefix begins the names of the service's own topics.
const ownPrefix = "svc."

type appends struct {
	duration histogram
	failures metric.Int64Counter
	// event are the topics of all webhooks, message those of others that pipelines
	// send to; each topic of the service's own is a class.
	event, message label
	own            *names[label]
}

func newAppends(mk *maker) appends {
	class := func(name string) label { return labelled(attribute.String("class", name)) }
	a := appends{
		duration: mk.histogram("hooklog_append_duration_seconds", "How long the log took to confirm a record."),
		failures: mk.counter("hooklog_append_failures_total", "Records that the log did not take."),
		event:    class("event"), message: class("message"), own: newNames(class),
	}
	// So that the first failure is seen to be one more.
	for _, topic := range []string{record.EventTopicPrefix, record.TopicCall, record.TopicCommand, record.TopicAccess, record.TopicSession} {
		a.failures.Add(background, 0, a.of(topic).add...)
	}
	return a
}

func (a *appends) of(topic string) label {
	if strings.HasPrefix(topic, record.EventTopicPrefix) {
		return a.event
	}
	if own, ok := strings.CutPrefix(topic, ownPrefix); ok {
		return a.own.of(own)
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
