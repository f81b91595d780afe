// Package actions carries out the steps of pipelines that the language does not
// know itself: the commands of the service, events, messages, HTTP requests, and
// the question who a pipeline may run as. It asks for every right anew when a step
// is run, and gives every command an id that a repeated run gives it again. It
// reads no source, and does not know when a pipeline is run: that is
// transport/pipelines and its runner.
package actions

import (
	"context"
	"log/slog"
	"time"

	"golang.org/x/sync/semaphore"

	"hooklog/domain/access"
	"hooklog/domain/call"
	"hooklog/domain/pipeline"
	"hooklog/domain/record"
	"hooklog/transport/commands"
	"hooklog/transport/pipelines/outbound"
	"hooklog/transport/telemetry"
)

// Commands carries out the commands of the catalog.
type Commands interface {
	Run(ctx context.Context, req commands.Request) (any, error)
}

// Registry is the fold of the commands.
type Registry interface {
	Policy() access.Policy
	// User finds a local user that lives.
	User(name string) (access.User, bool, error)
	// Listeners are the pipelines that an event starts, as name@version.
	Listeners(eventKey string) []string
}

// Calls is the fold of svc.call: it knows where the events lie.
type Calls interface {
	// Current returns when all that is on the log now is folded.
	Current(ctx context.Context) error
	NewestEvent(pattern string, readable func(key string) bool) (call.Event, string, bool, error)
	EventOfTrace(traceID string, fits func(key string) bool) (call.Event, string, bool, error)
}

// Reader reads the log.
type Reader interface {
	ReadAt(ctx context.Context, at record.Position) (record.Record, error)
}

// Topics appends events to their topics, which it makes first where they are
// missing. release is called when the log has let go of the record.
type Topics interface {
	AppendHeld(ctx context.Context, r *record.Record, release func()) (record.Position, error)
}

// Journal appends to a topic and partition.
type Journal interface {
	AppendWait(ctx context.Context, r *record.Record) (record.Position, error)
}

// Ring makes what cannot be guessed without the key ring.
type Ring interface {
	Fingerprint(data []byte) string
}

// Deps are the collaborators of Actions.
type Deps struct {
	Log      *slog.Logger
	Now      func() time.Time
	Tracer   *telemetry.Tracer // nil records nothing
	Commands Commands
	Registry Registry
	Calls    Calls
	Reader   Reader
	Topics   Topics
	Journal  Journal
	Ring     Ring
	// CallPartitions is how many partitions svc.call has.
	CallPartitions func() int32
	// HTTP sends requests; nil means that there is no http.request.
	HTTP *outbound.Client
	// Observe is told of the runs that callers make; nil is nobody.
	Observe Observe
}

// Observe is told that a run of a pipeline begins, and by what it gives, what was
// done and how it ended. A pipeline that a caller brought has no name.
type Observe func(pipeline string) (ended func(steps []call.Step, err error))

// Unobserved tells nobody.
func Unobserved(string) func([]call.Step, error) { return func([]call.Step, error) {} }

// Config are the values of Actions.
type Config struct {
	// BaseURL is what the sources of events begin with.
	BaseURL string
	// MessageTopics are the only ones that message.send writes to.
	MessageTopics []string
	// Timeout bounds a pipeline that a caller runs.
	Timeout time.Duration
	// Parallel is how many such pipelines run at once.
	Parallel int
}

// Actions carries out steps.
type Actions struct {
	cfg Config
	Deps
	callers *semaphore.Weighted
}

// New makes the actions.
func New(cfg Config, deps Deps) *Actions {
	if deps.Observe == nil {
		deps.Observe = Unobserved
	}
	return &Actions{cfg: cfg, Deps: deps, callers: semaphore.NewWeighted(int64(cfg.Parallel))}
}

// Origin is what a run comes from.
type Origin struct {
	// Call is the correlation id of the call that triggered the run, or the id of the
	// command by which a caller runs it.
	Call     string
	Pipeline string
	Version  int
	// Attempt is the run's, which run.retry raises.
	Attempt int
	// Caller is whom the run begins as. What a call triggers begins as anonymousUser.
	Caller commands.Caller
	// Owner is whose rights the pipeline borrows; empty is the caller. Put is when the
	// owner put it.
	Owner      string
	OwnerRoles []string // of an outside issuer's user, when he put it
	Put        time.Time
	// Trigger is the event that started the run; nil when a caller did.
	Trigger *Trigger
}

// via names the pipeline as records do; what a caller brought has no name.
func (o Origin) via() string {
	if o.Pipeline == "" {
		return ""
	}
	return pipeline.Pipeline{Name: o.Pipeline, Version: o.Version}.Listener()
}

// Trigger is the event that started a run.
type Trigger struct {
	EventKey, TraceID, Last6 string
	// Accepted is where the accepted record of the call lies.
	Accepted record.Position
	// Depth counts the events that led to this one.
	Depth int
}
