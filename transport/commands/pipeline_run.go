package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"

	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/registry"
	"hooklog/transport/telemetry"
)

// PipelineRun is a pipeline that a caller was allowed to run.
type PipelineRun struct {
	// Caller is whom the pipeline runs as.
	Caller Caller
	// CommandID is the id of the command that runs it. The ids of the commands that
	// the run issues are derived from it, so that a repeat does nothing twice.
	CommandID string
	// Name and Version are those of a stored pipeline, Owner is who put it, and Put
	// when. Where the caller brought the pipeline there is none of them.
	Name       string
	Version    int
	Owner      string
	OwnerRoles []string // of an outside issuer's user, when he put it
	Put        time.Time
	Source     []byte
	// Body is what it begins with, as JSON.
	Body json.RawMessage
	// Span is what the run is below.
	Span telemetry.Span
}

// maxNesting is how deep pipelines may run each other.
const maxNesting = 8

type nestingKey struct{}

// runStored runs a stored pipeline by its name.
func (d *Dispatcher) runStored(ctx context.Context, req Request) (any, error) {
	body := json.RawMessage("null")
	if given := catalog.Arg[string](req.Args, "body"); given != nil {
		body = json.RawMessage(*given)
	}
	if !json.Valid(body) {
		return nil, fault.New(fault.Invalid, "body must be JSON.")
	}
	params := registry.RunParams{Name: *catalog.Arg[string](req.Args, "name")}
	if err := params.Check(); err != nil {
		return nil, err
	}
	// What the pipeline begins with may be anybody's secret: nothing but a keyed
	// digest of it is recorded.
	c := change{id: commandID(req), params: params, request: struct {
		registry.RunParams
		Body json.RawMessage `json:"body"`
	}{params, body}}
	outcome, err := d.decideInTime(ctx, req, c)
	if err != nil {
		return nil, err
	}
	source, err := d.source(*outcome.Pipeline)
	if err != nil {
		return nil, err
	}
	return d.run(ctx, PipelineRun{
		Caller: req.Caller, CommandID: c.id, Source: source, Body: body, Span: req.Span,
		Name: outcome.Pipeline.Name, Version: outcome.Pipeline.Version,
		Owner: outcome.Pipeline.Owner(), OwnerRoles: outcome.Pipeline.OwnerRoles, Put: outcome.Pipeline.Updated,
	})
}

// RunSource runs a pipeline that the caller brought, which is not stored: the
// record has its digest.
func (d *Dispatcher) RunSource(ctx context.Context, req Request, source []byte) (any, error) {
	sum := sha256.Sum256(source)
	params := registry.RunParams{SHA256: hex.EncodeToString(sum[:])}
	c := change{id: commandID(req), request: params, params: params}
	if _, err := d.decideInTime(ctx, req, c); err != nil {
		return nil, err
	}
	return d.run(ctx, PipelineRun{Caller: req.Caller, CommandID: c.id, Source: source, Body: json.RawMessage("null"), Span: req.Span})
}

func (d *Dispatcher) decideInTime(ctx context.Context, req Request, c change) (registry.Outcome, error) {
	ctx, cancel := d.inTime(ctx)
	defer cancel()
	return d.decide(ctx, req, c)
}

// run hands the pipeline on. A run has a deadline of its own and, unlike what is
// on its way to the log, ends when its caller is gone.
func (d *Dispatcher) run(ctx context.Context, run PipelineRun) (any, error) {
	depth, _ := ctx.Value(nestingKey{}).(int)
	if depth == maxNesting {
		return nil, fault.New(fault.Invalid, "Pipelines run each other more than %d deep.", maxNesting)
	}
	return d.RunPipeline(context.WithValue(ctx, nestingKey{}, depth+1), run)
}
