// Package app wires hooklog: it opens the log, recovers the projections and puts
// the HTTP API in front, in one straight line, and ends them in the reverse
// order. It is the only place that knows both the transports and the
// projections; the command line and the tests start it alike.
package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/google/uuid"

	"hooklog/cmd/settings"
	"hooklog/domain/call"
	"hooklog/projections/fold"
	"hooklog/projections/registry"
	"hooklog/projections/results"
	"hooklog/transport/auth"
	"hooklog/transport/commands"
	"hooklog/transport/httpapi"
	"hooklog/transport/kafka"
	"hooklog/transport/kafka/embedded/window"
	"hooklog/transport/pipelines/actions"
	"hooklog/transport/telemetry"
	"hooklog/transport/telemetry/metrics"
)

// appendTimeout is a handler's own deadline for the log: what is not confirmed
// by then is answered 503.
const appendTimeout = 8 * time.Second

// hurry is how long the callers of a start that failed are waited for: none of
// them has been served.
const hurry = time.Second

// Deps are what a process gives to the service beside its settings.
type Deps struct {
	Log *slog.Logger
	// Out gets the text that greets the operator.
	Out io.Writer
	Now func() time.Time
	// Version is that of the program.
	Version string

	// metrics are those of a service; nil where nobody is served.
	metrics *metrics.Metrics
}

// App is a running service.
type App struct {
	fronts  *fronts
	engine  *engine
	api     *httpapi.API
	actions *actions.Actions
	near    *kafka.Near // reads events
	status  *status
	tracer  *telemetry.Tracer // nil when off
	baseURL string
	window  net.Addr // nil when off
	// instance names this process, on the log and to a collector.
	instance string
}

// Start recovers what is on the log, then serves. It returns when the service is
// ready; ctx bounds the start only.
func Start(ctx context.Context, cfg settings.Config, deps Deps) (_ *App, err error) {
	a := &App{status: newStatus(), instance: uuid.NewString()}
	if a.tracer, err = telemetry.Open(ctx, a.instance, deps.Log); err != nil {
		return nil, err
	}
	if deps.metrics, err = metrics.New(metrics.Config{Version: deps.Version, Ready: a.ready, Log: deps.Log}); err != nil {
		return nil, err
	}
	if a.fronts, err = listen(cfg, deps, a.status); err != nil {
		a.tracer.Close()
		return nil, err
	}
	a.baseURL = cfg.BaseURLAt(a.fronts.public.addr)
	if err := a.open(ctx, cfg, deps); err != nil {
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), hurry)
		defer cancel()
		err = errors.Join(err, a.fronts.close(ending))
		a.tracer.Close()
		return nil, err
	}
	a.fronts.public.serve(a.api.Handler())
	if a.fronts.ops != nil {
		a.fronts.ops.serve(a.api.OpsHandler())
	}
	a.status.serving()
	if err := greet(a, cfg, deps.Out); err != nil {
		deps.Log.Warn("The greeting was not written", "error", err)
	}
	return a, nil
}

// open makes all that stands behind the listeners.
func (a *App) open(ctx context.Context, cfg settings.Config, deps Deps) (err error) {
	if a.engine, err = openEngine(ctx, cfg, deps, a.status, a.tracer); err != nil {
		return err
	}
	for _, step := range []func() error{
		func() error { return a.engine.bootstrap(ctx) },
		a.engine.openCheckpoints,
		a.openWindow,
		a.openAPI,
		a.openRunner,
		a.openMetrics,
		a.announce,
	} {
		if err := step(); err != nil {
			return errors.Join(err, a.engine.close())
		}
	}
	return nil
}

// resultsView joins the rows of the calls with the barrier of their fold.
type resultsView struct {
	*results.Results
	runner *fold.Runner
}

func (v resultsView) Current(ctx context.Context) error { return v.runner.Current(ctx) }

// gatesView joins the gates with the freshness of their fold. An embedded log is
// written by this process alone, and every command is answered only when it is
// folded, so the gates are always fresh.
type gatesView struct {
	*registry.Registry
	engine *engine
}

func (v gatesView) Fresh() error { return v.engine.fresh() }

func (v gatesView) Current(ctx context.Context) error {
	if v.engine.lease == nil {
		return nil
	}
	return v.engine.commands.Current(ctx)
}

func (a *App) openAPI() error {
	e := a.engine
	proxies := auth.Proxies{Trusted: e.cfg.TrustedNetworks(), Header: e.cfg.ProxyHeader}
	id, err := a.openIdentity(a.instance, proxies)
	if err != nil {
		return err
	}
	if a.near, err = kafka.NewNear(e.log); err != nil {
		return err
	}
	dispatcher := commands.New(commands.Config{
		BaseURL: a.baseURL, Timeout: commandTimeout, Lease: e.leaseLife(), ResultDeadline: e.cfg.ResultDeadline,
	}, commands.Deps{
		Log:              e.deps.Log,
		Now:              e.deps.Now,
		Tracer:           e.tracer,
		Journal:          e.log,
		Registry:         e.registry,
		Ring:             e.ring,
		Topics:           e.events,
		Hash:             id.hash,
		AccessPartitions: e.accessPartitions,
		Runs:             runsView{e.runs, e.calls},
		Traces:           tracesView{e.traces, e.calls},
		Events:           a.near,
		Checkpoints:      e.checkpoints,
		Receipt:          e.receipt,
		Audit:            e.audit,
		Compile:          a.compile,
		RunPipeline:      a.runPipeline,
	})
	e.onClose(func() error { dispatcher.Close(); return nil })
	if err := a.openActions(dispatcher); err != nil {
		return err
	}
	a.api = httpapi.New(httpapi.Config{
		BaseURL:       a.baseURL,
		ResultWindow:  e.cfg.ResultWindow,
		PollHold:      e.cfg.PollHold,
		AppendTimeout: appendTimeout,
		Limits:        call.Limits{Life: e.cfg.ResultLife, Deadline: e.cfg.ResultDeadline},
		Instance:      a.instance,
		Proxies:       proxies,
		BodyBudget:    e.cfg.BodyBudget,
		WebhookRate:   e.cfg.WebhookRate,
		WebhookBytes:  e.cfg.WebhookBytes,
		UserRate:      e.cfg.UserRate,
	}, httpapi.Deps{
		Log:            e.deps.Log,
		Now:            e.deps.Now,
		Tracer:         e.tracer,
		Authenticate:   id.authenticator.Authenticate,
		Realm:          id.realm,
		RealmPrefix:    id.prefix,
		Commands:       dispatcher,
		Gates:          gatesView{e.registry, e},
		Listeners:      e.registry.Listeners,
		Events:         e.events,
		Calls:          e.log,
		Results:        resultsView{e.results, e.calls},
		Values:         e.ring,
		CallPartitions: e.callPartitions,
		Ready:          a.ready,
		Metrics:        e.deps.metrics.Handler(),
		ObserveCall:    a.observeCall,
		ObserveCommand: e.deps.metrics.Command,
	})
	e.onClose(func() error { a.api.Close(); return nil })
	return nil
}

// openWindow lets ordinary Kafka clients read the embedded log, where asked for.
func (a *App) openWindow() error {
	e := a.engine
	if e.cfg.EmbeddedListen == "" {
		return nil
	}
	password, err := readerPassword(e.cfg)
	if err != nil {
		return fmt.Errorf("password of the Kafka reader: %w", err)
	}
	w, err := window.Open(window.Config{
		Listen:   e.cfg.EmbeddedListen,
		Password: password,
		Dial: func(ctx context.Context) (net.Conn, error) {
			return e.broker.DialContext(ctx, "", "")
		},
		Log: e.deps.Log,
	})
	if err != nil {
		return err
	}
	a.window = w.Addr()
	var serving sync.WaitGroup
	serving.Go(func() {
		if err := w.Serve(); err != nil {
			// Callers need no window: the service goes on without it.
			e.deps.Log.Error("Kafka window closed", "error", err)
		}
	})
	e.onClose(func() error {
		err := w.Close()
		serving.Wait()
		return err
	})
	return nil
}

// ready is nil when calls should be sent here.
func (a *App) ready() error {
	if err := a.status.ready(); err != nil {
		return err
	}
	return a.engine.fresh()
}

// BaseURL is what callers put in front of every path.
func (a *App) BaseURL() string { return a.baseURL }

// OpsAddr is where operators ask, or nil.
func (a *App) OpsAddr() net.Addr {
	if a.fronts.ops == nil {
		return nil
	}
	return a.fronts.ops.addr
}

// WindowAddr is where Kafka clients read the embedded log, or nil.
func (a *App) WindowAddr() net.Addr { return a.window }

// Failed gives the failure after which the service cannot go on.
func (a *App) Failed() <-chan error { return a.engine.failed }

// Stop drains: it is not ready any more, lets calls in flight end and held polls
// go, then closes everything. A call that has not ended with ctx is cut off; the
// rest takes a few seconds at most.
func (a *App) Stop(ctx context.Context) error {
	a.status.drain()
	a.api.Drain()
	err := errors.Join(a.fronts.close(ctx), a.engine.close())
	a.tracer.Close() // last, so that all spans have ended
	return err
}
