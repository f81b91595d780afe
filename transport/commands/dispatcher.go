package commands

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
	"hooklog/domain/record"
	"hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/transport/telemetry"
)

// Journal is the log to append to.
type Journal interface {
	// AppendWait returns when the record is on the log, or with a fault of kind
	// Unavailable when that is not known in time.
	AppendWait(ctx context.Context, r *record.Record) (record.Position, error)
	// Append does not wait.
	Append(r *record.Record, done func(record.Position, error))
}

// Registry is the fold of the commands.
type Registry interface {
	// Await must be called before the append.
	Await(commandID, fingerprint string) (outcome <-chan registry.Outcome, stop func())
	Webhooks(after string, limit int, readable func(eventKey string) bool) ([]webhook.Webhook, error)
	Users() ([]access.User, error)
	Clients() ([]access.Client, error)
	Policy() access.Policy
	// Pipeline finds a version with its source, also one of a deleted pipeline.
	Pipeline(name string, version int) (pipeline.Pipeline, bool, error)
	Pipelines(after string, limit int, readable func(name string) bool) ([]pipeline.Pipeline, error)
}

// Sealer seals secrets.
type Sealer interface {
	Seal(field, id string, plain []byte) (secret.Sealed, error)
}

// Ring seals and opens secrets.
type Ring interface {
	Sealer
	Open(field, id string, s secret.Sealed) ([]byte, error)
	Fingerprint(data []byte) string
}

// Topics makes the topic of a new event key.
type Topics interface {
	Ensure(ctx context.Context, topic string) error
}

// Deps are the dispatcher's collaborators.
type Deps struct {
	Log      *slog.Logger
	Now      func() time.Time
	Tracer   *telemetry.Tracer // nil records nothing
	Journal  Journal
	Registry Registry
	Runs     Runs
	Traces   Traces
	Events   Events
	Audit    Audit
	Ring     Ring
	Topics   Topics
	// Hash makes the hash by which a password is verified.
	Hash func(secret.Password) (string, error)
	// AccessPartitions is how many partitions svc.access has.
	AccessPartitions func() int32
	Checkpoints      Checkpoints
	// Compile finds in a pipeline what the fold must know of it, or all its faults.
	Compile func(source []byte) (pipeline.Source, error)
	// RunPipeline runs a pipeline and gives its final body.
	RunPipeline func(ctx context.Context, run PipelineRun) (any, error)
	// Receipt proves that a record is on the log; nil where nothing is proved.
	Receipt func(ctx context.Context, at record.Position) (any, error)
}

// Config are the dispatcher's values.
type Config struct {
	// BaseURL is what webhook URLs begin with.
	BaseURL string
	// Timeout is how long a command may take before it is answered 503.
	Timeout time.Duration
	// Lease is how long another instance may answer from before a command.
	Lease time.Duration
	// ResultDeadline is how long a call may go without completion before it is failed.
	ResultDeadline time.Duration
}

// Dispatcher runs commands.
type Dispatcher struct {
	cfg Config
	Deps
	background sync.WaitGroup
}

// New makes a dispatcher.
func New(cfg Config, deps Deps) *Dispatcher { return &Dispatcher{cfg: cfg, Deps: deps} }

// Close waits for what goes on behind answers that were given.
func (d *Dispatcher) Close() { d.background.Wait() }

// Run carries out a command and gives its answer, to be shown as JSON.
func (d *Dispatcher) Run(ctx context.Context, req Request) (any, error) {
	switch req.Command.Name { // what takes its own time
	case catalog.PipelineRun:
		return d.runStored(ctx, req)
	case catalog.AuditExport:
		return d.look(req, func(req Request) (any, error) { return d.exportAudit(ctx, req) })
	case catalog.EventTail:
		return d.look(req, func(req Request) (any, error) { return d.tailEvents(ctx, req) })
	}
	ctx, cancel := d.inTime(ctx)
	defer cancel()
	switch req.Command.Name {
	case catalog.WebhookPut:
		return d.putWebhook(ctx, req)
	case catalog.WebhookGet:
		return d.getWebhook(ctx, req)
	case catalog.WebhookDelete:
		return d.deleteWebhook(ctx, req)
	case catalog.WebhookList:
		return d.look(req, d.listWebhooks)
	case catalog.UserPut:
		return d.putUser(ctx, req)
	case catalog.UserGet, catalog.UserDelete:
		return d.getOrDeleteUser(ctx, req)
	case catalog.ClientPut:
		return d.putClient(ctx, req)
	case catalog.ClientGet, catalog.ClientDelete:
		return d.getOrDeleteClient(ctx, req)
	case catalog.PolicyPut:
		return d.putRule(ctx, req)
	case catalog.PolicyGet, catalog.PolicyDelete:
		return d.getOrDeleteRule(ctx, req)
	case catalog.KeyRotate:
		return d.rotateKey(ctx, req)
	case catalog.PipelinePut:
		return d.putPipeline(ctx, req)
	case catalog.PipelineGet:
		return d.getPipeline(ctx, req)
	case catalog.PipelineDelete:
		return d.deletePipeline(ctx, req)
	case catalog.RunGet:
		return d.look(req, func(req Request) (any, error) { return d.getRuns(ctx, req) })
	case catalog.RunRetry:
		return d.retryRuns(ctx, req)
	case catalog.TraceGet:
		return d.look(req, func(req Request) (any, error) { return d.getTraces(ctx, req) })
	case catalog.EventGet:
		return d.look(req, func(req Request) (any, error) { return d.getEvent(ctx, req) })
	case catalog.CheckpointPut:
		return d.putCheckpoint(ctx, req)
	case catalog.CheckpointGet:
		return d.look(req, func(Request) (any, error) { return d.getCheckpoint(ctx) })
	case catalog.AuditGet:
		return d.look(req, d.getAudit)
	}
	return nil, fault.New(fault.NotFound, "There is no command %q.", req.Command.Name)
}

// inTime bounds a command. A caller that hangs up does not undo what is under way.
func (d *Dispatcher) inTime(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), d.cfg.Timeout)
}

// change is a command on its way to the log.
type change struct {
	id string
	// request is what the caller asked for, without anything generated, so that a
	// repeat is the same.
	request any
	// params is what goes on the record; nil is none.
	params any
}

// decide appends the command and waits until this instance has folded it.
func (d *Dispatcher) decide(ctx context.Context, req Request, c change) (registry.Outcome, error) {
	command, err := d.command(req, c)
	if err != nil {
		return registry.Outcome{}, err
	}
	rec, err := command.Encode()
	if err != nil {
		return registry.Outcome{}, err
	}
	outcomes, stop := d.Registry.Await(command.ID, command.Fingerprint)
	defer stop()
	sending := req.Span.Send(rec.Topic)
	sending.Mark(&rec)
	at, err := d.Journal.AppendWait(ctx, &rec)
	sending.Sent(at, err)
	if err != nil {
		return registry.Outcome{}, undecided(command.ID, err)
	}
	select {
	case outcome := <-outcomes:
		return outcome, outcome.Err()
	case <-ctx.Done():
		return registry.Outcome{}, undecided(command.ID, ctx.Err())
	}
}

func undecided(id string, cause error) error {
	return fault.New(fault.Unavailable, "The log did not confirm the command in time; it may still be carried out. Its id is %s.", id).
		Because(cause).After(2 * time.Second)
}

func (d *Dispatcher) command(req Request, c change) (registry.Command, error) {
	// A run that is repeated may come to other parameters than the first time, and
	// still gets the first outcome: only a run itself makes such an id. What a retry
	// does is done behind its outcome, which must be about the same runs.
	if req.CommandID != "" && req.Command.Name != catalog.RunRetry {
		c.request = nil
	}
	asked, err := json.Marshal(c.request)
	if err != nil {
		return registry.Command{}, err
	}
	command := registry.Command{
		ID:            c.id,
		Name:          req.Command.Name,
		Fingerprint:   d.Ring.Fingerprint(append([]byte(req.Command.Name+"\x00"), asked...)),
		Principal:     req.Caller.Principal,
		PrincipalName: req.Caller.Name,
		Effective:     req.Caller.subject().Principal,
		Roles:         req.Caller.Roles,
		Owner:         req.Caller.Owner,
		Via:           req.Caller.Via,
		Call:          req.Caller.Call,
		Client:        req.Caller.Client,
		Address:       req.Caller.Address,
		Time:          d.Now().UTC().Truncate(time.Millisecond),
	}
	if c.params != nil {
		command.Params, err = json.Marshal(c.params)
	}
	return command, err
}

// decideNamed decides a command that names a user, a client or a rule by the
// parameter; without it the command is about all of them.
func (d *Dispatcher) decideNamed(ctx context.Context, req Request, parameter string) (registry.Outcome, error) {
	c := change{id: commandID(req)}
	if name := catalog.Arg[string](req.Args, parameter); name != nil {
		named := access.Named{Name: *name}
		if err := named.Check(); err != nil {
			return registry.Outcome{}, err
		}
		c.request, c.params = named, named
	}
	return d.decide(ctx, req, c)
}

// commandID is given, or with an Idempotency-Key the same for every repeat, or
// random.
func commandID(req Request) string {
	if req.CommandID != "" {
		return req.CommandID
	}
	if req.IdempotencyKey == "" {
		return uuid.NewString()
	}
	sum := sha256.Sum256([]byte(req.Caller.Principal + "\x00" + req.Command.Name + "\x00" + req.IdempotencyKey))
	return hex.EncodeToString(sum[:])
}
