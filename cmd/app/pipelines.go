package app

import (
	"context"
	"sync"
	"time"

	"hooklog/domain/pipeline"
	"hooklog/domain/record"
	"hooklog/transport/commands"
	"hooklog/transport/kafka"
	"hooklog/transport/pipelines"
	"hooklog/transport/pipelines/actions"
	"hooklog/transport/pipelines/outbound"
	"hooklog/transport/pipelines/runner"
)

// httpTimeout bounds a request that a pipeline makes.
const httpTimeout = 15 * time.Second

// openActions makes what the steps of pipelines do. They run commands, and
// commands compile and run pipelines, so the dispatcher exists before them.
func (a *App) openActions(dispatcher *commands.Dispatcher) (err error) {
	e := a.engine
	deps := actions.Deps{
		Log:            e.deps.Log,
		Now:            e.deps.Now,
		Tracer:         e.tracer,
		Commands:       dispatcher,
		Registry:       e.registry,
		Calls:          tracesView{e.traces, e.calls},
		Reader:         a.near,
		Topics:         e.events,
		Journal:        e.log,
		Ring:           e.ring,
		CallPartitions: e.callPartitions,
		Observe:        e.deps.metrics.Run,
	}
	if len(e.cfg.HTTPHosts) > 0 {
		if deps.HTTP, err = outbound.New(outbound.Config{
			Hosts: e.cfg.HTTPHosts, Timeout: httpTimeout, Observe: e.deps.metrics.Request,
		}); err != nil {
			return err
		}
		e.onClose(func() error { deps.HTTP.Close(); return nil })
	}
	a.actions = actions.New(actions.Config{
		BaseURL:       a.baseURL,
		MessageTopics: e.cfg.MessageTopics,
		Timeout:       e.cfg.RunDeadline,
		Parallel:      e.cfg.ParallelRuns,
	}, deps)
	return nil
}

// compile finds in a pipeline what the fold must know of it.
func (a *App) compile(source []byte) (pipeline.Source, error) {
	program, err := pipelines.Compile(source, a.actions)
	if err != nil {
		return pipeline.Source{}, err
	}
	return pipeline.Source{EventKeys: program.EventKeys, MessageKeys: program.MessageKeys, RunAs: program.RunAs}, nil
}

func (a *App) runPipeline(ctx context.Context, run commands.PipelineRun) (any, error) {
	return a.actions.Adhoc(ctx, run)
}

// openRunner lets this instance run the pipelines that listen to calls.
func (a *App) openRunner() error {
	e := a.engine
	r, err := runner.New(runner.Config{Timeout: e.cfg.RunDeadline, Parallel: e.cfg.ParallelRuns}, runner.Deps{
		Log:      e.deps.Log,
		Now:      e.deps.Now,
		Tracer:   e.tracer,
		Consume:  e.consumeCalls,
		Calls:    runsView{e.runs, e.calls},
		Registry: registryView{e.registry, e.commands},
		Events:   a.near,
		Journal:  e.log,
		Ring:     e.ring,
		Catalog:  a.actions,
		Steps:    func(o actions.Origin) runner.Steps { return a.actions.Steps(o) },
		Observe:  e.deps.metrics.Run,
	})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() {
		if err := r.Run(ctx); err != nil && ctx.Err() == nil {
			e.fail(err)
		}
	})
	e.onClose(func() error {
		cancel()
		running.Wait()
		return nil
	})
	return nil
}

// consumeCalls is a member of the group that runs pipelines.
func (e *engine) consumeCalls(ctx context.Context, serve func(context.Context, runner.Claim) error) error {
	return e.log.Consume(ctx, kafka.GroupPipelines, record.TopicCall, func(ctx context.Context, c *kafka.Claim) error {
		return serve(ctx, c)
	})
}
