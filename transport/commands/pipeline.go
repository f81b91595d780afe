package commands

import (
	"context"

	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
	"hooklog/domain/registry"
)

// putPipeline compiles the source before anything is appended: what cannot run is
// not stored. What the compiler found in it stands on the record in the clear, and
// the source itself sealed.
func (d *Dispatcher) putPipeline(ctx context.Context, req Request) (any, error) {
	put := pipeline.Put{
		Name:    *catalog.Arg[string](req.Args, "name"),
		Version: catalog.Arg[int](req.Args, "version"),
	}
	body := *catalog.Arg[string](req.Args, "body")
	if err := pipeline.CheckName(put.Name); err != nil {
		return nil, err
	}
	var err error
	if put.Source, err = d.Compile([]byte(body)); err != nil {
		return nil, err
	}
	// The clear text is a part of the request that repeats are told by; what is
	// recorded of it is a keyed digest.
	c := change{id: commandID(req), request: struct {
		Name    string `json:"name"`
		Body    string `json:"body"`
		Version *int   `json:"version"`
	}{put.Name, body, put.Version}}
	if put.Body, err = d.Ring.Seal(pipeline.BodyField, c.id, []byte(body)); err != nil {
		return nil, err
	}
	put.SealedFor = c.id
	if err := put.Check(); err != nil {
		return nil, err
	}
	c.params = put
	outcome, err := d.decide(ctx, req, c)
	if err != nil {
		return nil, err
	}
	return showPipeline(*outcome.Pipeline), nil
}

func (d *Dispatcher) getPipeline(ctx context.Context, req Request) (any, error) {
	name := catalog.Arg[string](req.Args, "name")
	if name == nil {
		return d.listPipelines(ctx, req)
	}
	ref := registry.PipelineRef{Name: *name}
	if err := pipeline.CheckName(ref.Name); err != nil {
		return nil, err
	}
	if version := catalog.Arg[int](req.Args, "version"); version != nil {
		if *version < 1 {
			return nil, fault.New(fault.Invalid, "version must be 1 or more.")
		}
		ref.Version = *version
	}
	outcome, err := d.decide(ctx, req, change{id: commandID(req), request: ref, params: ref})
	if err != nil {
		return nil, err
	}
	source, err := d.source(*outcome.Pipeline)
	if err != nil {
		return nil, err
	}
	shown := showPipeline(*outcome.Pipeline)
	shown.Body = string(source)
	return shown, nil
}

func (d *Dispatcher) listPipelines(ctx context.Context, req Request) (any, error) {
	if catalog.Arg[int](req.Args, "version") != nil {
		return nil, fault.New(fault.Invalid, "version needs the name of a pipeline.")
	}
	after, limit, err := asked(req)
	if err != nil {
		return nil, err
	}
	request := struct {
		After string `json:"after"`
		Limit int    `json:"limit"`
	}{after, limit}
	if _, err := d.decide(ctx, req, change{id: commandID(req), request: request}); err != nil {
		return nil, err
	}
	rows, err := d.Registry.Pipelines(after, limit+1, d.readable(req))
	if err != nil {
		return nil, err
	}
	return pageUpTo(limit, rows, func(p pipeline.Pipeline) string { return p.Name }, showPipeline), nil
}

func (d *Dispatcher) deletePipeline(ctx context.Context, req Request) (any, error) {
	del := pipeline.Delete{Name: *catalog.Arg[string](req.Args, "name")}
	if err := del.Check(); err != nil {
		return nil, err
	}
	outcome, err := d.decide(ctx, req, change{id: commandID(req), request: del, params: del})
	if err != nil {
		return nil, err
	}
	return showPipeline(*outcome.Pipeline), nil
}

// source opens the source of the version that an outcome shows.
func (d *Dispatcher) source(p pipeline.Pipeline) ([]byte, error) {
	stored, ok, err := d.Registry.Pipeline(p.Name, p.Version)
	if err == nil && !ok {
		err = pipeline.ErrUnknown()
	}
	if err != nil {
		return nil, err
	}
	source, err := d.Ring.Open(pipeline.BodyField, stored.SealedFor, stored.Body)
	if err != nil {
		return nil, fault.New(fault.Unavailable, "The service cannot open the pipeline %s; its operator must give it the right key ring.", p.Name).Because(err)
	}
	return source, nil
}

func showPipeline(p pipeline.Pipeline) Pipeline {
	return Pipeline{
		Name:        p.Name,
		Version:     p.Version,
		EventKeys:   orEmpty(p.EventKeys),
		MessageKeys: orEmpty(p.MessageKeys),
		RunAs:       orEmpty(p.RunAs),
		Created:     p.Created,
		CreatedBy:   p.CreatedBy,
		Updated:     p.Updated,
		UpdatedBy:   p.UpdatedBy,
	}
}
