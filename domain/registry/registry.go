// Package registry is the folded state of svc.command: who exists, what they may
// do, which webhooks and pipelines live, and what each command came to. Decide is
// pure and reads only the record and the state before it, so every instance that
// folds the same records comes to the same answers. It knows neither settings nor
// key ring.
package registry

import (
	"encoding/json"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
	"hooklog/domain/proof"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

// View is what Decide may look at.
type View interface {
	Cluster() (Cluster, bool)
	// User also finds what stays of a deleted user.
	User(name string) (access.User, bool)
	Client(id string) (access.Client, bool)
	Policy() access.Policy
	SigningKeys() access.SigningKeys
	CheckpointKey() (proof.Key, bool)
	Webhook(hash secret.TokenHash) (webhook.Webhook, bool)
	// WebhookAt finds what the webhook was at a moment of the past, also when it
	// was deleted since.
	WebhookAt(hash secret.TokenHash, at webhook.Moment) (webhook.Webhook, bool)
	KeyTaken(eventKey string) bool
	// Pipeline finds a version that was put, or with 0 what the name was last: its
	// latest version, or what stays of a deleted one. The latter may come without
	// its source.
	Pipeline(name string, version int) (pipeline.Pipeline, bool)
	Outcome(commandID string) (Outcome, bool)
	// LastTime is the time of the last command that was decided.
	LastTime() time.Time
}

// State is a View that Apply may write.
type State interface {
	View
	SetCluster(Cluster)
	SetUser(access.User)
	SetClient(access.Client)
	DropClient(id string)
	SetPolicy(access.Policy)
	SetSigningKeys(access.SigningKeys)
	SetCheckpointKey(proof.Key)
	SetWebhook(webhook.Webhook)
	DropWebhook(webhook.Webhook)
	// KeepWebhook keeps for ever what the webhook is since the moment, which has
	// offset and time; nil is that there is none.
	KeepWebhook(hash secret.TokenHash, since webhook.Moment, w *webhook.Webhook)
	SetKey(eventKey string, hash secret.TokenHash)
	DropKey(eventKey string)
	// SetPipeline makes it the last of its name, and keeps the versions before.
	SetPipeline(pipeline.Pipeline)
	SetOutcome(commandID string, o Outcome)
	SetLastTime(time.Time)
}

// Cluster is what the first command says of the whole installation.
type Cluster struct {
	// Check is a sealed constant: a key ring that cannot open it is the wrong one.
	Check     string    `json:"check"`
	CheckedBy string    `json:"checkedBy"`
	Created   time.Time `json:"created"`
}

// Outcome is what a command came to: a fault, or the state it answers with. It
// never holds a password's hash, the private half of a key or a pipeline's source.
type Outcome struct {
	Fingerprint string             `json:"fingerprint,omitempty"`
	Fault       string             `json:"fault,omitempty"`
	Detail      string             `json:"detail,omitempty"`
	Webhook     *webhook.Webhook   `json:"webhook,omitempty"`
	User        *access.User       `json:"user,omitempty"`
	Client      *access.Client     `json:"client,omitempty"`
	Rule        *access.Rule       `json:"rule,omitempty"`
	Key         *access.SigningKey `json:"key,omitempty"`
	Pipeline    *pipeline.Pipeline `json:"pipeline,omitempty"`
}

// Err is the outcome's fault, or nil.
func (o Outcome) Err() error {
	if o.Fault == "" {
		return nil
	}
	return fault.New(fault.ParseKind(o.Fault), "%s", o.Detail)
}

// Event is a change that a command made.
type Event interface{}

type (
	// ClusterStarted is the first command, with all that is there from the start.
	ClusterStarted struct {
		Cluster          Cluster
		Admin, Anonymous access.User
		Client           access.Client
		Policy           access.Policy
	}
	// UserChanged is a new state of a user, also that of a deleted one.
	UserChanged struct{ User access.User }
	// ClientChanged is a new state of a client.
	ClientChanged struct{ Client access.Client }
	// ClientDeleted is the end of a client.
	ClientDeleted struct{ ID string }
	// PolicyChanged replaces the policy, in which another rule of the name stands,
	// or none.
	PolicyChanged struct {
		Policy access.Policy
		Rule   string
	}
	// KeysChanged replaces the realm's signing keys.
	KeysChanged struct{ Keys access.SigningKeys }
)

// Fold decides a command, applies what it changes, and remembers its outcome.
func Fold(s State, c Command) Decision {
	c.Time = latest(s.LastTime(), c.Time)
	view := &sight{View: s}
	if first, repeated := s.Outcome(c.ID); repeated {
		outcome := repeat(view, c, first)
		return Decision{Command: c, Outcome: outcome, Repeated: true, Named: view.named}
	}
	event, outcome, err := decide(view, c)
	outcome.Fingerprint = c.Fingerprint
	d := Decision{Command: c, Outcome: outcome, Named: view.named}
	if err != nil {
		d.Outcome = failed(c, err)
	} else {
		d.Change = changeBy(s, event)
		apply(s, event, webhook.Moment{Offset: c.Offset, Time: c.Time})
	}
	s.SetLastTime(c.Time)
	s.SetOutcome(c.ID, d.Outcome)
	return d
}

// repeat answers a command under an id that was decided before.
func repeat(v View, c Command, first Outcome) Outcome {
	if first.Fingerprint != c.Fingerprint {
		return failed(c, fault.New(fault.Conflict, "The Idempotency-Key was used before with other parameters."))
	}
	// The first outcome is no longer shown to who has lost the right to it.
	if _, _, err := decide(v, c); fault.Is(err, fault.Forbidden) {
		return failed(c, err)
	}
	return first
}

func failed(c Command, err error) Outcome {
	f := fault.From(err)
	return Outcome{Fingerprint: c.Fingerprint, Fault: f.Kind.String(), Detail: f.Detail}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// deciders answer each command of the catalog that goes to this log, with the
// change, if any, and with what the answer shows.
var deciders = map[string]func(View, Command) (Event, Outcome, error){
	catalog.WebhookPut:    decideWebhookPut,
	catalog.WebhookGet:    decideWebhookGet,
	catalog.WebhookDelete: decideWebhookDelete,
	catalog.UserPut:       decideUserPut,
	catalog.UserGet:       decideUserGet,
	catalog.UserDelete:    decideUserDelete,
	catalog.ClientPut:     decideClientPut,
	catalog.ClientGet:     decideClientGet,
	catalog.ClientDelete:  decideClientDelete,
	catalog.PolicyPut:     decidePolicyPut,
	catalog.PolicyGet:     decidePolicyGet,
	catalog.PolicyDelete:  decidePolicyDelete,
	catalog.KeyRotate:     decideKeyRotate,

	catalog.PipelinePut:    decidePipelinePut,
	catalog.PipelineGet:    decidePipelineGet,
	catalog.PipelineDelete: decidePipelineDelete,
	catalog.PipelineRun:    decidePipelineRun,
	catalog.RunRetry:       decideRunRetry,

	catalog.CheckpointPut: decideCheckpointPut,
}

// decide asks for the right to the command before anything else, so that who has
// none learns nothing; the right to a key is asked for where the key is known.
func decide(v View, c Command) (Event, Outcome, error) {
	switch c.Name {
	case ClusterInit, AdminReset, KeyInit, CheckpointInit, LogAccept:
		event, err := decideInternal(v, c)
		return event, Outcome{}, err
	}
	if err := v.Policy().Allow(c.subject(), c.Name, ""); err != nil {
		return nil, Outcome{}, err
	}
	decider, ok := deciders[c.Name]
	if !ok {
		return nil, Outcome{}, fault.New(fault.NotFound, "There is no command %q.", c.Name)
	}
	return decider(v, c)
}

func params(c Command, into any) error {
	if err := json.Unmarshal(c.Params, into); err != nil {
		return fault.New(fault.Invalid, "The parameters of the record cannot be read.").Because(err)
	}
	return nil
}

// nameOf is the name of what a command's parameters name.
func nameOf(c Command) (string, error) {
	var named access.Named
	if err := params(c, &named); err != nil {
		return "", err
	}
	return named.Name, named.Check()
}

func apply(s State, event Event, now webhook.Moment) {
	switch e := event.(type) {
	case ClusterStarted:
		s.SetCluster(e.Cluster)
		s.SetUser(e.Admin)
		s.SetUser(e.Anonymous)
		s.SetClient(e.Client)
		s.SetPolicy(e.Policy)
	case UserChanged:
		s.SetUser(e.User)
	case ClientChanged:
		s.SetClient(e.Client)
	case ClientDeleted:
		s.DropClient(e.ID)
	case PolicyChanged:
		s.SetPolicy(e.Policy)
	case KeysChanged:
		s.SetSigningKeys(e.Keys)
	case CheckpointKeyMade:
		s.SetCheckpointKey(e.Key)
	case webhook.Event:
		applyWebhook(s, e, now)
	case pipeline.Event:
		applyPipeline(s, e)
	}
}
