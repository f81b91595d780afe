package registry

import (
	"hooklog/domain/access"
	"hooklog/domain/pipeline"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

// Decision is what the fold of a command tells: what it came to, and what of that
// only an audit wants to know.
type Decision struct {
	// Command has the time at which it was decided.
	Command Command
	Outcome
	// Repeated says that another command had the same id before, so that nothing
	// was changed.
	Repeated bool
	// Named is the webhook that the command named and the fold looked at, also
	// where the command was refused; nil is none.
	Named  *webhook.Webhook
	Change Change
}

// Change is what a command made of a webhook, user, client, rule, pipeline or
// signing key. Before is nil where there was none, After where there is none any
// more, and both where nothing changed.
type Change struct{ Before, After any }

// changeBy tells what an event is about to change.
func changeBy(v View, event Event) Change {
	switch e := event.(type) {
	case ClusterStarted: // all else that it brings is the same for every log
		return Change{After: e.Admin}
	case UserChanged:
		change := Change{Before: had(v.User(e.User.Name))}
		if !e.User.Deleted {
			change.After = e.User
		}
		return change
	case ClientChanged:
		return Change{had(v.Client(e.Client.ID)), e.Client}
	case ClientDeleted:
		return Change{Before: had(v.Client(e.ID))}
	case PolicyChanged:
		return Change{had(v.Policy().Rule(e.Rule)), had(e.Policy.Rule(e.Rule))}
	case KeysChanged:
		change := Change{After: e.Keys[0]}
		if before := v.SigningKeys(); len(before) > 0 {
			change.Before = before[0]
		}
		return change
	case CheckpointKeyMade:
		return Change{After: e.Key}
	case webhook.Created:
		return Change{After: e.Webhook}
	case webhook.Edited:
		return Change{e.Before, e.After}
	case webhook.Deleted:
		return Change{Before: e.Webhook}
	case pipeline.Stored:
		return Change{had(v.Pipeline(e.Pipeline.Name, 0)), e.Pipeline}
	case pipeline.Deleted:
		return Change{Before: e.Before}
	}
	return Change{}
}

// had is what there was of something; what stays of the deleted does not count.
func had[T any](state T, ok bool) any {
	switch s := any(state).(type) {
	case access.User:
		ok = ok && !s.Deleted
	case pipeline.Pipeline:
		ok = ok && !s.Deleted
	}
	if !ok {
		return nil
	}
	return state
}

// sight is a View that remembers which webhook was looked at.
type sight struct {
	View
	named *webhook.Webhook
}

func (s *sight) Webhook(hash secret.TokenHash) (webhook.Webhook, bool) {
	return s.saw(s.View.Webhook(hash))
}

func (s *sight) WebhookAt(hash secret.TokenHash, at webhook.Moment) (webhook.Webhook, bool) {
	return s.saw(s.View.WebhookAt(hash, at))
}

func (s *sight) saw(w webhook.Webhook, ok bool) (webhook.Webhook, bool) {
	if ok {
		s.named = &w
	}
	return w, ok
}
