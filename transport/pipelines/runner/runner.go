// Package runner runs the pipelines that listen to calls. It is a member of the
// group that shares the partitions of svc.call, runs each listener of an accepted
// call, and each attempt that was opened again, and appends one completion to the
// same partition. A run may happen more than once, when a member dies or loses its
// partition in the middle of it: the first completion counts, and commands have ids
// that a repeated run gives them again. It decides nothing about what a pipeline
// may do: that is transport/pipelines and its actions.
package runner

import (
	"context"
	"log/slog"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"hooklog/domain/call"
	"hooklog/domain/pipeline"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/transport/pipelines"
	"hooklog/transport/pipelines/actions"
	"hooklog/transport/telemetry"
)

// Claim is a partition of svc.call that this member was given.
type Claim interface {
	Partition() int32
	// End is the end of the log when the partition was given.
	End() int64
	Next(ctx context.Context) ([]record.Record, error)
	Commit(ctx context.Context, offset int64) error
}

// Consume is a member of the group as long as ctx lasts. It calls serve for each
// partition that it is given, with a context that ends when the partition is lost.
type Consume func(ctx context.Context, serve func(context.Context, Claim) error) error

// Calls is the fold of svc.call.
type Calls interface {
	// Wait returns when the record at the position is folded.
	Wait(ctx context.Context, at record.Position) error
	Run(correlationID string) (call.History, bool, error)
}

// Registry is the fold of the commands.
type Registry interface {
	// Pipeline finds a version with its source, also one of a deleted pipeline.
	Pipeline(name string, version int) (pipeline.Pipeline, bool, error)
	// Current returns when all that is on the log now is folded.
	Current(ctx context.Context) error
}

// Journal appends to a topic and partition.
type Journal interface {
	AppendWait(ctx context.Context, r *record.Record) (record.Position, error)
}

// Ring seals results and opens pipelines.
type Ring interface {
	Seal(field, id string, plain []byte) (secret.Sealed, error)
	Open(field, id string, s secret.Sealed) ([]byte, error)
}

// Steps carries out the steps of a run.
type Steps interface {
	pipelines.Steps
	// CommandID is the id of the command that the step at the path issued, if any.
	CommandID(path string) string
}

// Deps are the runner's collaborators.
type Deps struct {
	Log      *slog.Logger
	Now      func() time.Time
	Tracer   *telemetry.Tracer // nil records nothing
	Consume  Consume
	Calls    Calls
	Registry Registry
	Events   actions.Reader
	Journal  Journal
	Ring     Ring
	Catalog  pipelines.Catalog
	Steps    func(actions.Origin) Steps
	// Observe is told of each run that begins, and by what it gives, how it ended;
	// nil is nobody.
	Observe actions.Observe
}

// Config are the runner's values.
type Config struct {
	// Timeout ends a run.
	Timeout time.Duration
	// Parallel is how many runs there are at once. The calls of one event key get
	// a quarter of them at most, so that a busy webhook leaves room for the others. A
	// run that waits holds its place.
	Parallel int
}

const (
	// programs is how many compiled pipelines are kept.
	programs = 512
	// eventBytes bounds the memory of the events that are being worked on.
	eventBytes = 512 << 20
	// keyShare is the part of the runs, and of that memory, that one event key may
	// have: a quarter.
	keyShare = 4
	keyBytes = eventBytes / keyShare
)

// Runner runs pipelines.
type Runner struct {
	cfg Config
	Deps
	programs *lru.Cache[string, *program]
	slots    *semaphore.Weighted
	memory   *semaphore.Weighted
	keys     *shares
}

// New makes a runner; Run makes it go.
func New(cfg Config, deps Deps) (*Runner, error) {
	cache, err := lru.New[string, *program](programs)
	if err != nil {
		return nil, err
	}
	if deps.Observe == nil {
		deps.Observe = actions.Unobserved
	}
	return &Runner{
		cfg: cfg, Deps: deps, programs: cache,
		slots:  semaphore.NewWeighted(int64(cfg.Parallel)),
		memory: semaphore.NewWeighted(eventBytes),
		keys:   newShares(max(1, cfg.Parallel/keyShare)),
	}, nil
}

// Run runs pipelines until ctx ends, or until the log cannot be read any more. What
// is not complete by then is run again by whoever is given its partition.
func (r *Runner) Run(ctx context.Context) error { return r.Consume(ctx, r.serve) }
