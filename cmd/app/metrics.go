package app

import (
	"context"

	"hooklog/transport/httpapi"
	"hooklog/transport/kafka"
	"hooklog/transport/telemetry/metrics"
)

// measure lets the metrics see what the log does. Verbs that open the log and
// serve nobody have none.
func (e *engine) measure(cfg *kafka.Config) {
	if m := e.deps.metrics; m != nil {
		cfg.Observe = m.Append
		cfg.Hooks = append(cfg.Hooks, m.Kafka())
	}
}

func (a *App) observeCall(c httpapi.Observed) { a.engine.deps.metrics.Call(metrics.Call(c)) }

// openMetrics lets scrapes look into what is open now.
func (a *App) openMetrics() error {
	e := a.engine
	sources := metrics.Sources{
		Projections:        e.progress,
		Store:              func() metrics.Store { return metrics.Store(e.rows.Stats()) },
		Load:               a.load,
		Unproven:           e.unproven,
		SinkFailures:       e.checkpoints.Failures,
		CheckpointInterval: e.cfg.CheckpointInterval,
	}
	if e.broker != nil {
		sources.EmbeddedLog = func() (used, limit int64) {
			used, _ = e.broker.Size()
			return used, e.broker.EventLimit()
		}
	}
	stop, err := e.deps.metrics.Watch(sources)
	if err != nil {
		return err
	}
	e.onClose(stop)
	return nil
}

func (e *engine) progress(ctx context.Context) []metrics.Projection {
	var all []metrics.Projection
	for _, r := range e.runners() {
		all = append(all, metrics.Projection(r.Progress(ctx)))
	}
	return all
}

func (a *App) load() metrics.Load {
	api := a.api.Load()
	records, bytes := a.engine.log.Buffered()
	return metrics.Load{
		HeldPolls: int64(api.HeldPolls), AwaitedResults: int64(a.engine.results.Watched()),
		BudgetUsed: api.BudgetUsed, BudgetLimit: api.BudgetLimit,
		BufferedRecords: records, BufferedBytes: bytes,
	}
}
