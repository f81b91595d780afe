// Package httpapi is hooklog over HTTP: it takes webhook calls, runs management
// commands and answers polls for results. It puts a call on the log and reads
// what the projections say; it decides nothing about webhooks and stores
// nothing. Only cmd imports it.
package httpapi

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/transport/commands"
)

// Config is the values that answers depend on.
type Config struct {
	// BaseURL is how callers reach the service, without a slash at its end.
	BaseURL string
	// ResultWindow is how long the answer to a call waits for its pipelines.
	ResultWindow time.Duration
	// PollHold is how long a redirecting poll is held.
	PollHold time.Duration
	// AppendTimeout is how long a handler waits for the log.
	AppendTimeout time.Duration
	Limits        call.Limits
}

// Commands runs management commands. The answer is written as JSON.
type Commands interface {
	Run(ctx context.Context, req commands.Request) (any, error)
}

// Gates finds living, enabled webhooks, in memory.
type Gates interface {
	Gate(hash secret.TokenHash) (webhook.Gate, bool)
	// Fresh is nil while the gates may be answered from: they are then no older
	// than a deletion that was answered.
	Fresh() error
	// Current returns when the gates know all commands that were on the log when
	// it was asked.
	Current(ctx context.Context) error
}

// Journal appends to the log and returns when the record is there.
type Journal interface {
	AppendWait(ctx context.Context, r *record.Record) (record.Position, error)
}

// Results is the folded state of calls.
type Results interface {
	Call(correlationID string) (call.State, bool, error)
	// Current returns when all that was on svc.call when it was asked is folded.
	Current(ctx context.Context) error
	// Watch gives a channel that is closed at the next change of the call.
	Watch(correlationID string) (changed <-chan struct{}, stop func())
}

// Values opens sealed completion values.
type Values interface {
	Open(field, id string, s secret.Sealed) ([]byte, error)
}

// Deps is who the handlers work with.
type Deps struct {
	Log *slog.Logger
	Now func() time.Time
	// Authenticate finds out who runs a management command.
	Authenticate func(r *http.Request) (commands.Caller, error)
	Commands     Commands
	Gates        Gates
	// Listeners lists the pipelines of an event key as name@version.
	Listeners func(eventKey string) []string
	// Events takes events and makes their topics where they are missing; Calls
	// takes the records of svc.call.
	Events, Calls  Journal
	Results        Results
	Values         Values
	CallPartitions func() int32
	// Ready is nil, or why the service is not ready.
	Ready func() error
}

// API is the handlers.
type API struct {
	cfg    Config
	deps   Deps
	holds  holds
	paces  *paces
	polled string // the result endpoint's URL up to the correlation id
}

// New makes the handlers.
func New(cfg Config, deps Deps) *API {
	return &API{
		cfg:    cfg,
		deps:   deps,
		paces:  newPaces(),
		polled: cfg.BaseURL + resultPath + "?" + paramCorrelationID + "=",
	}
}

// Handler serves callers.
func (a *API) Handler() http.Handler { return a.guard(a.router(a.publicRoutes())) }

// OpsHandler serves operators: readiness with its reason, and profiles. It is
// not for a listener that callers reach.
func (a *API) OpsHandler() http.Handler { return a.guard(a.router(a.opsRoutes())) }

// Drain answers all held polls, and those that come later, with a redirect.
func (a *API) Drain() { a.holds.drain() }
