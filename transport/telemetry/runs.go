package telemetry

import (
	"time"

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
	began := recording{name: "run", kind: internal, began: time.Now()}
	if r.Cause != nil {
		began.kind, began.attributes = consumer, consumed(*r.Cause)
	}
	if r.Pipeline != "" {
		began.name += " " + r.Pipeline
		began.attributes = began.attributes.text("pipeline.name", r.Pipeline).number("pipeline.version", r.Version)
	}
	began.attributes = began.attributes.number("pipeline.attempt", r.Attempt)
	return s.below(began)
}

// Step begins a step of a run: the command at a path of the pipeline. End ends it.
func (s *Span) Step(path, command string) Span {
	if !s.recorded() {
		return s.same()
	}
	return s.below(recording{
		name: "step " + command, kind: internal, began: time.Now(),
		attributes: attributes(nil).text("pipeline.step", path).text("pipeline.command", command),
	})
}
