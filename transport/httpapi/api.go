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
	"hooklog/domain/refused"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/transport/auth"
	"hooklog/transport/commands"
	"hooklog/transport/telemetry"
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

	// Instance names this process on the log.
	Instance string
	// Proxies are those in front of the service.
	Proxies auth.Proxies
	// BodyBudget is how many bytes of calls may be in memory at a time.
	BodyBudget int
	// What one webhook, and one user of the management commands, gets a second;
	// 0 is no limit.
	WebhookRate, WebhookBytes, UserRate int
}

// Commands runs management commands. The answer is written as JSON.
type Commands interface {
	Run(ctx context.Context, req commands.Request) (any, error)
	// RunSource runs a pipeline that the caller brought.
	RunSource(ctx context.Context, req commands.Request, source []byte) (any, error)
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

// Journal appends to the log and returns when the record is there, or when ctx
// ends. release is called once, when the log has let go of the record's bytes:
// that may be long after ctx ended.
type Journal interface {
	AppendHeld(ctx context.Context, r *record.Record, release func()) (record.Position, error)
}

// CallJournal also takes records that nobody waits for.
type CallJournal interface {
	Journal
	Append(r *record.Record, done func(record.Position, error))
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
	// Tracer records calls and commands; nil records none.
	Tracer *telemetry.Tracer
	// Authenticate finds out who runs a management command.
	Authenticate func(r *http.Request) (commands.Caller, error)
	// Realm serves the own realm below RealmPrefix; nil where there is none.
	Realm       http.Handler
	RealmPrefix string
	Commands    Commands
	Gates       Gates
	// Listeners lists the pipelines of an event key as name@version.
	Listeners func(eventKey string) []string
	// Events takes events and makes their topics where they are missing.
	Events Journal
	// Calls takes the records of svc.call.
	Calls          CallJournal
	Results        Results
	Values         Values
	CallPartitions func() int32
	// Ready is nil, or why the service is not ready.
	Ready func() error
	// Metrics answers scrapes of operators.
	Metrics http.Handler
	// ObserveCall and ObserveCommand are told what was answered; nil is nobody.
	ObserveCall    func(Observed)
	ObserveCommand func(command string, took time.Duration, err error)
}

// API is the handlers.
type API struct {
	cfg    Config
	deps   Deps
	holds  holds
	tails  holds // by user and event key
	paces  *paces
	polled string // the result endpoint's URL up to the correlation id

	appends  deadlines
	budget   *budget
	crowd    crowd
	refusals *auth.Counter
	// What webhooks and users get a second.
	webhookCalls, webhookBytes, userCommands *rates
}

// New makes the handlers.
func New(cfg Config, deps Deps) *API {
	deps.observed()
	return &API{
		cfg:     cfg,
		deps:    deps,
		paces:   newPaces(),
		polled:  cfg.BaseURL + resultPath + "?" + paramCorrelationID + "=",
		appends: deadlines{after: cfg.AppendTimeout},
		budget:  newBudget(int64(cfg.BodyBudget)),
		refusals: auth.NewCounter(auth.CounterDeps{
			Instance: cfg.Instance, Log: deps.Log, Now: deps.Now, Journal: deps.Calls,
			Encode: func(c refused.Counts) (record.Record, error) {
				return call.Rejected(c).Encode(record.Spread(c.Instance, deps.CallPartitions()))
			},
		}),
		webhookCalls: newRates(cfg.WebhookRate, cfg.WebhookRate),
		// The largest call has to fit into the burst.
		webhookBytes: newRates(cfg.WebhookBytes, max(cfg.WebhookBytes, webhook.MaxPayloadLength)),
		userCommands: newRates(cfg.UserRate, 2*cfg.UserRate),
	}
}

// Handler serves callers.
func (a *API) Handler() http.Handler {
	routes := a.publicRoutes()
	router := a.router(routes)
	if a.deps.Realm != nil {
		router.PathPrefix(a.deps.RealmPrefix + "/").Handler(a.deps.Realm)
	}
	return a.guard(a.shortcut(routes[0], router))
}

// OpsHandler serves operators: readiness with its reason, metrics, and profiles. It is
// not for a listener that callers reach.
func (a *API) OpsHandler() http.Handler { return a.guard(a.router(a.opsRoutes())) }

// Drain answers all held polls, and those that come later, with a redirect, and
// all who wait for events with what there is.
func (a *API) Drain() {
	a.holds.drain()
	a.tails.drain()
}

// Close hands what was counted to the log. It is called when no request is in
// flight any more.
func (a *API) Close() { a.refusals.Close() }
