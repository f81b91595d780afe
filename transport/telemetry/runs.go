package telemetry

import (
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"hooklog/domain/record"
)

// Run is a run of a pipeline.
type Run struct {
	// Pipeline is empty where a caller brought it.
	Pipeline string
	Version  int
	Attempt  int
	// Cause is where the record lies that asks for the run; nil where a caller does.
	Cause *record.Position
}

// Run begins a run, which End ends. What a record asks for is the processing of
// that record.
func (s *Span) Run(r Run) Span {
	if !s.recorded() {
		return s.same()
	}
	attributes, kind, name := []attribute.KeyValue(nil), trace.SpanKindInternal, "run"
	if r.Cause != nil {
		attributes, kind = consumed(*r.Cause), trace.SpanKindConsumer
	}
	if r.Pipeline != "" {
		name += " " + r.Pipeline
		attributes = append(attributes, attribute.String("pipeline.name", r.Pipeline), attribute.Int("pipeline.version", r.Version))
	}
	return s.below(name, kind, append(attributes, attribute.Int("pipeline.attempt", r.Attempt)))
}

// Step begins a step of a run: the command at a path of the pipeline. End ends it.
func (s *Span) Step(path, command string) Span {
	if !s.recorded() {
		return s.same()
	}
	return s.below("step "+command, trace.SpanKindInternal, []attribute.KeyValue{
		attribute.String("pipeline.step", path), attribute.String("pipeline.command", command),
	})
}
