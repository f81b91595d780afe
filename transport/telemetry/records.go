package telemetry

import (
	"slices"
	"strconv"
	"time"

	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"

	"hooklog/domain/record"
)

var (
	sends     = messaging("send")
	processes = messaging("process")
)

// messaging is what every span of a record says; type and name of the operations
// are the same words.
func messaging(operation string) attributes {
	return slices.Clip(attributes(nil).
		text(string(semconv.MessagingSystemKey), semconv.MessagingSystemKafka.Value.AsString()).
		text(string(semconv.MessagingOperationTypeKey), operation).
		text(string(semconv.MessagingOperationNameKey), operation))
}

// Send begins to send a record to the topic, which Mark tells where it is sent
// from. Sent ends it.
func (s *Span) Send(topic string) Span {
	if !s.recorded() {
		return s.same()
	}
	return s.below(recording{
		name: "send " + topic, kind: producer, began: time.Now(),
		attributes: append(make(attributes, 0, 320), sends...).text(string(semconv.MessagingDestinationNameKey), topic),
	})
}

// Mark puts on the record that it is sent here.
func (s *Span) Mark(r *record.Record) { r.Follow(s.TraceContext, s.of.TraceID, s.of.EventKey) }

// Sent ends a span of Send: the record lies there, or was not confirmed.
func (s *Span) Sent(at record.Position, err error) {
	if s.own == nil {
		return
	}
	if err == nil {
		s.own.attributes = s.own.attributes.place(at)
	}
	s.End(err)
}

// Folded tells that the projection has folded records of one partition since
// began. Each that was sent in a trace that is recorded gets a span there.
func (t *Tracer) Folded(projection string, records []record.Record, began time.Time) {
	ended := time.Now()
	for i := range records {
		r := &records[i]
		sent := r.TraceContext()
		if !t.follows(sent) {
			continue
		}
		from := t.At(sent, callOf(r))
		folded := from.below(recording{
			name: "process " + r.Topic, kind: consumer, began: began,
			attributes: consumed(r.Position).text("hooklog.projection", projection),
		})
		folded.endAt(ended)
	}
}

// consumed is what is said of a record that is processed.
func consumed(at record.Position) attributes {
	return append(make(attributes, 0, 384), processes...).text(string(semconv.MessagingDestinationNameKey), at.Topic).place(at)
}

func (a attributes) place(at record.Position) attributes {
	return a.text(string(semconv.MessagingDestinationPartitionIDKey), strconv.Itoa(int(at.Partition))).
		number(string(semconv.MessagingKafkaOffsetKey), int(at.Offset))
}
