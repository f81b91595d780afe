// Package registry is the folded state of svc.command: who exists, which
// webhooks live, and what each command came to. Decide is pure and reads only
// the record and the state before it, so every instance that folds the same
// records comes to the same answers. It knows neither settings nor key ring.
package registry

import (
	"encoding/json"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

// View is what Decide may look at.
type View interface {
	Cluster() (Cluster, bool)
	User(name string) (access.User, bool)
	Webhook(hash secret.TokenHash) (webhook.Webhook, bool)
	KeyTaken(eventKey string) bool
	Outcome(commandID string) (Outcome, bool)
	// LastTime is the time of the last command that was decided.
	LastTime() time.Time
}

// State is a View that Apply may write.
type State interface {
	View
	SetCluster(Cluster)
	SetUser(access.User)
	SetWebhook(webhook.Webhook)
	DropWebhook(webhook.Webhook)
	SetKey(eventKey string, hash secret.TokenHash)
	DropKey(eventKey string)
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

// Outcome is what a command came to: a fault, or the state it answers with.
type Outcome struct {
	Fingerprint string           `json:"fingerprint,omitempty"`
	Fault       string           `json:"fault,omitempty"`
	Detail      string           `json:"detail,omitempty"`
	Webhook     *webhook.Webhook `json:"webhook,omitempty"`
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
	// ClusterStarted is the first command.
	ClusterStarted struct {
		Cluster Cluster
		Admin   access.User
	}
	// UserChanged is a new state of a user.
	UserChanged struct{ User access.User }
)

// Fold decides a command, applies what it changes, and remembers its outcome.
func Fold(s State, c Command) Outcome {
	if first, repeated := s.Outcome(c.ID); repeated {
		if first.Fingerprint != c.Fingerprint {
			return failed(c, fault.New(fault.Conflict, "The Idempotency-Key was used before with other parameters."))
		}
		return first
	}
	c.Time = latest(s.LastTime(), c.Time)
	event, answer, err := decide(s, c)
	outcome := Outcome{Fingerprint: c.Fingerprint, Webhook: answer}
	if err != nil {
		outcome = failed(c, err)
	} else {
		apply(s, event)
	}
	s.SetLastTime(c.Time)
	s.SetOutcome(c.ID, outcome)
	return outcome
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

// decide answers with the change, if any, and with the webhook to show.
func decide(v View, c Command) (Event, *webhook.Webhook, error) {
	switch c.Name {
	case ClusterInit, AdminReset, LogAccept:
		event, err := decideInternal(v, c)
		return event, nil, err
	}
	if err := access.Allow(c.Principal, c.Roles, c.Name); err != nil {
		return nil, nil, err
	}
	switch c.Name {
	case catalog.WebhookPut:
		return decidePut(v, c)
	case catalog.WebhookGet:
		return decideGet(v, c)
	case catalog.WebhookDelete:
		return decideDelete(v, c)
	}
	return nil, nil, fault.New(fault.NotFound, "There is no command %q.", c.Name)
}

func decidePut(v View, c Command) (Event, *webhook.Webhook, error) {
	var put webhook.Put
	if err := params(c, &put); err != nil {
		return nil, nil, err
	}
	if err := put.Check(); err != nil {
		return nil, nil, err
	}
	current := find(v, put.Token.Hash)
	event, err := put.Decide(current, webhook.Author{Name: c.Principal, At: c.Time})
	if err != nil {
		return nil, nil, err
	}
	var after webhook.Webhook
	switch e := event.(type) {
	case webhook.Created:
		after = e.Webhook
	case webhook.Edited:
		after = e.After
	}
	moved := current == nil || current.EventKey != after.EventKey
	if moved && v.KeyTaken(after.EventKey) {
		return nil, nil, fault.New(fault.Conflict, "The eventKey %s is taken by another webhook.", after.EventKey)
	}
	return event, &after, nil
}

// decideGet answers with one webhook, or without a token with none: whoever
// asked for all reads them once the command is allowed.
func decideGet(v View, c Command) (Event, *webhook.Webhook, error) {
	if len(c.Params) == 0 {
		return nil, nil, nil
	}
	w, err := named(v, c)
	return nil, w, err
}

func decideDelete(v View, c Command) (Event, *webhook.Webhook, error) {
	w, err := named(v, c)
	if err != nil {
		return nil, nil, err
	}
	return webhook.Deleted{Webhook: *w}, w, nil
}

// named finds the webhook that a command's parameters name by its token.
func named(v View, c Command) (*webhook.Webhook, error) {
	var ref webhook.TokenRef
	if err := params(c, &ref); err != nil {
		return nil, err
	}
	w := find(v, ref.Hash)
	if w == nil {
		return nil, webhook.ErrUnknown()
	}
	return w, nil
}

func find(v View, hash secret.TokenHash) *webhook.Webhook {
	if w, ok := v.Webhook(hash); ok {
		return &w
	}
	return nil
}

func params(c Command, into any) error {
	if err := json.Unmarshal(c.Params, into); err != nil {
		return fault.New(fault.Invalid, "The parameters of the record cannot be read.").Because(err)
	}
	return nil
}

func apply(s State, event Event) {
	switch e := event.(type) {
	case ClusterStarted:
		s.SetCluster(e.Cluster)
		s.SetUser(e.Admin)
	case UserChanged:
		s.SetUser(e.User)
	case webhook.Created:
		s.SetWebhook(e.Webhook)
		s.SetKey(e.Webhook.EventKey, e.Webhook.Token.Hash)
	case webhook.Edited:
		if e.Before.EventKey != e.After.EventKey {
			s.DropKey(e.Before.EventKey)
			s.SetKey(e.After.EventKey, e.After.Token.Hash)
		}
		s.SetWebhook(e.After)
	case webhook.Deleted:
		s.DropKey(e.Webhook.EventKey)
		s.DropWebhook(e.Webhook)
	}
}
