package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"hooklog/cmd/settings"
	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/projections/audit"
	"hooklog/projections/fold"
	"hooklog/projections/proof"
	"hooklog/projections/registry"
	"hooklog/projections/results"
	"hooklog/projections/runs"
	"hooklog/projections/sessions"
	"hooklog/projections/store"
	"hooklog/projections/traces"
	"hooklog/transport/checkpoints"
	"hooklog/transport/kafka"
	"hooklog/transport/kafka/embedded"
	"hooklog/transport/keyring"
	"hooklog/transport/telemetry"
)

const (
	// progressEvery is how often a long start says how far it is.
	progressEvery = 5 * time.Second
	// callsPause is how much later a result may be seen when many calls come.
	callsPause = 5 * time.Millisecond
	// accessPause is the same for looks and log-ins on the audit.
	accessPause = 100 * time.Millisecond
	// flushTimeout bounds the wait for records whose callers have been answered.
	flushTimeout = 4 * time.Second
)

// engine is the part without callers: the log, and what is folded from it.
type engine struct {
	cfg      settings.Config
	deps     Deps
	ring     *keyring.Ring
	broker   *embedded.Broker // nil with brokers elsewhere
	log      *kafka.Log
	events   *kafka.EventTopics
	source   *source
	rows     *store.Store
	registry *registry.Registry
	results  *results.Results
	runs     *runs.Runs
	traces   *traces.Traces
	sessions *sessions.Sessions
	audit    *audit.Audit
	commands *fold.Runner
	calls    *fold.Runner
	wishes   *fold.Runner // about sessions
	accesses *fold.Runner // looks and log-ins
	lease    *fold.Lease  // of the commands; nil with an embedded log
	trees    proof.Forest
	status   *status
	tracer   *telemetry.Tracer // nil when off

	checkpoints *checkpoints.Signer
	opened      time.Time
	proved      atomic.Pointer[time.Time] // when all that was on the log was last seen to be

	failed  chan error
	closers []func() error
}

// openEngine recovers everything, in the order in which one thing needs the
// other, and returns when the projections have reached the end of the log.
func openEngine(ctx context.Context, cfg settings.Config, deps Deps, st *status, tracer *telemetry.Tracer) (*engine, error) {
	e, err := openBase(ctx, cfg, deps, st, false)
	if err != nil {
		return nil, err
	}
	e.tracer = tracer
	if err := e.fold(ctx); err != nil {
		return nil, errors.Join(err, e.close())
	}
	return e, nil
}

// openBase opens the log, and nothing that is folded from it. An embedded log
// that has lost an end is refused, unless that is accepted.
func openBase(ctx context.Context, cfg settings.Config, deps Deps, st *status, acceptTruncation bool) (_ *engine, err error) {
	e := &engine{cfg: cfg, deps: deps, status: st, opened: deps.Now(), failed: make(chan error, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, e.close())
		}
	}()
	lock, err := embedded.Lock(cfg.DataDir)
	if err != nil {
		return nil, err
	}
	e.onClose(lock.Close)
	if e.ring, err = openRing(cfg); err != nil {
		return nil, err
	}
	if err := e.openLog(ctx, acceptTruncation); err != nil {
		return nil, err
	}
	return e, nil
}

// fold starts the projections and returns when they have reached the end.
func (e *engine) fold(ctx context.Context) error {
	if err := e.openProjections(); err != nil {
		return err
	}
	if err := e.recovered(ctx); err != nil {
		return err
	}
	if e.lease != nil {
		e.lease.Renew(ctx)
	}
	return nil
}

// openRing loads the key ring. Only an embedded log that is still empty gets a
// new one: for any other, a missing ring means that secrets could not be read.
func openRing(cfg settings.Config) (*keyring.Ring, error) {
	path := cfg.KeyRingPath()
	_, err := os.Stat(path)
	if !errors.Is(err, os.ErrNotExist) {
		return keyring.Load(path)
	}
	if !cfg.Embedded() {
		return nil, fmt.Errorf("key ring %s is missing; copy it from another instance, or for a new installation run: hooklog keys init %s", path, path)
	}
	if hasLog(cfg) {
		return nil, fmt.Errorf("key ring %s is missing, and the log in %s was sealed with it; restore it from a backup", path, cfg.DataDir)
	}
	if err := keyring.Create(path); err != nil {
		return nil, err
	}
	return keyring.Load(path)
}

// hasLog reports that the data folder holds an embedded log.
func hasLog(cfg settings.Config) bool {
	_, err := os.Stat(filepath.Join(cfg.DataDir, "log"))
	return err == nil
}

func (e *engine) openLog(ctx context.Context, acceptTruncation bool) (err error) {
	if e.cfg.Embedded() {
		e.broker, err = embedded.Open(embedded.Config{
			Dir:              e.cfg.DataDir,
			Sync:             e.cfg.EmbeddedSync,
			MaxBytes:         int64(e.cfg.EmbeddedMaxBytes),
			AcceptTruncation: acceptTruncation,
			Log:              e.deps.Log,
		})
		if err != nil {
			return err
		}
		e.onClose(func() error { e.broker.Close(); return nil })
	}
	cfg, err := logConfig(e.cfg, e.broker, e.deps.Log)
	if err != nil {
		return err
	}
	e.measure(&cfg)
	if e.log, err = kafka.Open(cfg); err != nil {
		return err
	}
	e.onClose(func() error {
		defer e.log.Close()
		ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
		defer cancel()
		return e.log.Flush(ctx)
	})
	e.events = kafka.NewEventTopics(e.log, eventTopic(e.cfg))
	if e.source, err = reach(ctx, e.cfg, e.log, e.waiting()); err != nil {
		return err
	}
	e.status.waiting(errStarting) // for the log no more
	return nil
}

// waiting tells why the log is waited for: probes always, the log lines once for
// each reason.
func (e *engine) waiting() func(error) {
	said := ""
	return func(err error) {
		e.status.waiting(err)
		if err.Error() != said {
			said = err.Error()
			e.deps.Log.Warn("Waiting for the log", "error", err)
		}
	}
}

// openProjections starts the folds; they end when the engine is closed, not with
// the context of the start.
func (e *engine) openProjections() error {
	rows, err := store.Open(e.cfg.StateDir(), nil, e.deps.Log)
	if err != nil {
		return err
	}
	e.rows = rows
	e.onClose(rows.Close)
	e.audit = audit.New(rows)
	if e.registry, err = registry.New(rows, e.audit); err != nil {
		return err
	}
	e.results = results.New(rows)
	e.runs = runs.New(rows)
	if e.traces, err = traces.New(rows, e.cfg.TraceRetention, e.deps.Now); err != nil {
		return err
	}
	e.sessions = sessions.New(rows)
	if e.trees, err = openTrees(rows); err != nil {
		return err
	}
	e.commands = fold.NewRunner(commandViews(e.registry, e.trees), rows, e.source, e.deps.Log)
	e.calls = fold.NewRunner(callViews(e.trees, e.results, e.runs, e.traces), rows, e.source, e.deps.Log).Paced(callsPause)
	e.accesses = fold.NewRunner(accessViews(e.audit, e.trees), rows, e.source, e.deps.Log).Paced(accessPause)
	e.traceFolds()
	e.wishes = fold.NewRunner(e.sessions, rows, e.source, e.deps.Log)

	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	for _, r := range e.runners() {
		running.Go(func() {
			if err := r.Run(ctx); err != nil && ctx.Err() == nil {
				e.fail(err)
			}
		})
	}
	if !e.cfg.Embedded() {
		e.lease = fold.NewLease(e.commands)
		running.Go(func() { e.lease.Run(ctx) })
	}
	e.onClose(func() error {
		cancel()
		running.Wait()
		return nil
	})
	return nil
}

// traceFolds makes the folds of calls and commands a part of their traces.
func (e *engine) traceFolds() {
	if e.tracer == nil {
		return
	}
	for _, r := range []*fold.Runner{e.commands, e.calls} {
		r.Traced(func(records []record.Record, began time.Time) { e.tracer.Folded(r.Name(), records, began) })
	}
}

func (e *engine) runners() []*fold.Runner {
	return []*fold.Runner{e.commands, e.calls, e.accesses, e.wishes}
}

// recovered returns when every projection runs.
func (e *engine) recovered(ctx context.Context) error {
	tick := time.NewTicker(progressEvery)
	defer tick.Stop()
	for _, r := range e.runners() {
		for waiting := true; waiting; {
			select {
			case <-r.Running():
				waiting = false
			case <-tick.C:
				done, of := r.Folded()
				e.deps.Log.Info("Folding the log", "projection", r.Name(), "folded", done, "of", of)
			case err := <-e.failed:
				return err
			case <-ctx.Done():
				return ctx.Err()
			}
		}
	}
	return nil
}

// commandViews are folded from svc.command by one reader.
func commandViews(registry *registry.Registry, trees proof.Forest) fold.Projection {
	return fold.Together("registry", registry, trees.Of(record.TopicCommand))
}

// callViews are folded from svc.call by one reader.
func callViews(trees proof.Forest, views ...fold.View[any]) fold.Projection {
	return fold.Together("calls", fold.Decoding("calls", record.TopicCall, call.Decode, views...), trees.Of(record.TopicCall))
}

// accessViews are folded from svc.access by one reader.
func accessViews(entries *audit.Audit, trees proof.Forest) fold.Projection {
	return fold.Together("access", entries, trees.Of(record.TopicAccess))
}

// runsView joins the runs with the fold of the calls.
type runsView struct {
	*runs.Runs
	runner *fold.Runner
}

func (v runsView) Current(ctx context.Context) error { return v.runner.Current(ctx) }

func (v runsView) Wait(ctx context.Context, at record.Position) error { return v.runner.Wait(ctx, at) }

// tracesView joins the calls that are found with their fold.
type tracesView struct {
	*traces.Traces
	runner *fold.Runner
}

func (v tracesView) Current(ctx context.Context) error { return v.runner.Current(ctx) }

var errStale = errors.New("the fold was not confirmed to be current")

// fresh is nil while the commands may be answered from.
func (e *engine) fresh() error {
	if e.lease == nil || e.lease.Valid() {
		return nil
	}
	return errStale
}

// leaseLife is how long an instance may answer from before a command.
func (e *engine) leaseLife() time.Duration {
	if e.lease == nil {
		return 0
	}
	return fold.LeaseLife
}

// fail reports the first fatal failure; from then on nothing is answered from a
// state that does not move.
func (e *engine) fail(err error) {
	e.status.breakDown(err)
	select {
	case e.failed <- err:
	default:
	}
}

func (e *engine) callPartitions() int32 { return e.source.topics[record.TopicCall].Partitions }

func (e *engine) accessPartitions() int32 { return e.source.topics[record.TopicAccess].Partitions }

func (e *engine) onClose(f func() error) { e.closers = append(e.closers, f) }

// close ends everything in the reverse order of its start.
func (e *engine) close() error {
	var faults []error
	for _, f := range slices.Backward(e.closers) {
		faults = append(faults, f())
	}
	e.closers = nil
	return errors.Join(faults...)
}
