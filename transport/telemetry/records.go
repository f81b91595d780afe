package telemetry

import (
	"slices"
	"strconv"
	"time"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"hooklog/domain/record"
)

var (
	sendAttributes = []attribute.KeyValue{
		semconv.MessagingSystemKafka, semconv.MessagingOperationTypeSend, semconv.MessagingOperationName("send"),
	}
	processAttributes = []attribute.KeyValue{
		semconv.MessagingSystemKafka, semconv.MessagingOperationTypeProcess, semconv.MessagingOperationName("process"),
	}
)

// Send begins to send a record to the topic. The record carries the span's
// context, and Sent ends it.
func (s *Span) Send(topic string) Span {
	if !s.recorded() {
		return s.same()
	}
	return s.below("send "+topic, trace.SpanKindProducer, append(slices.Clip(sendAttributes), semconv.MessagingDestinationName(topic)))
}

// Sent ends a span of Send: the record lies there, or was not confirmed.
func (s *Span) Sent(at record.Position, err error) {
	if s.span == nil {
		return
	}
	if err == nil {
		s.span.SetAttributes(partition(at.Partition), semconv.MessagingKafkaOffset(int(at.Offset)))
	}
	s.End(err)
}

// Folded tells that the projection has folded records of one partition since
// began. Each that was sent in a recorded trace gets a span there.
func (t *Tracer) Folded(projection string, records []record.Record, began time.Time) {
	ended := time.Now()
	for i := range records {
		r := &records[i]
		place := r.TraceContext()
		if !place.Sampled {
			continue
		}
		s := t.At(place, callOf(r))
		s = s.below("process "+r.Topic, trace.SpanKindConsumer,
			append(consumed(r.Position), attribute.String("hooklog.projection", projection)), trace.WithTimestamp(began))
		s.endAt(ended)
	}
}

// consumed is what is said of a record that is processed.
func consumed(at record.Position) []attribute.KeyValue {
	return append(slices.Clip(processAttributes),
		semconv.MessagingDestinationName(at.Topic), partition(at.Partition), semconv.MessagingKafkaOffset(int(at.Offset)))
}

func partition(n int32) attribute.KeyValue {
	return semconv.MessagingDestinationPartitionID(strconv.Itoa(int(n)))
}
