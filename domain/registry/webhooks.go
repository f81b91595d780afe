package registry

import (
	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

// decideWebhookPut asks for the right to the key that the webhook has and to the
// one that it gets, before it tells whether that is taken.
func decideWebhookPut(v View, c Command) (Event, Outcome, error) {
	var put webhook.Put
	if err := params(c, &put); err != nil {
		return nil, Outcome{}, err
	}
	if err := put.Check(); err != nil {
		return nil, Outcome{}, err
	}
	current := find(v, put.Token.Hash)
	if current != nil {
		if err := allow(v, c, current.EventKey); err != nil {
			return nil, Outcome{}, err
		}
	}
	event, err := put.Decide(current, webhook.Author(c.author()))
	if err != nil {
		return nil, Outcome{}, err
	}
	var after webhook.Webhook
	switch e := event.(type) {
	case webhook.Created:
		after = e.Webhook
	case webhook.Edited:
		after = e.After
	}
	if err := allow(v, c, after.EventKey); err != nil {
		return nil, Outcome{}, err
	}
	moved := current == nil || current.EventKey != after.EventKey
	if moved && v.KeyTaken(after.EventKey) {
		return nil, Outcome{}, fault.New(fault.Conflict, "The eventKey %s is taken by another webhook.", after.EventKey)
	}
	return event, Outcome{Webhook: &after}, nil
}

// decideWebhookGet answers with one webhook, or without a token with none:
// whoever asked for all reads those that the policy lets it read.
func decideWebhookGet(v View, c Command) (Event, Outcome, error) {
	if len(c.Params) == 0 {
		return nil, Outcome{}, nil
	}
	var get webhook.Get
	if err := params(c, &get); err != nil {
		return nil, Outcome{}, err
	}
	w, err := asOf(v, c, get)
	return nil, Outcome{Webhook: w}, err
}

// asOf finds the webhook that a get names, as it is or as it was, and asks for
// the right to the key that it has or had.
func asOf(v View, c Command, get webhook.Get) (*webhook.Webhook, error) {
	if get.At == nil {
		return named(v, c)
	}
	if get.At.Behind(webhook.Moment{Offset: c.Offset, Time: c.Time}) {
		return nil, fault.New(fault.Invalid, "at lies in the future.")
	}
	w, ok := v.WebhookAt(get.Token.Hash, *get.At)
	if !ok {
		return nil, fault.New(fault.NotFound, "No webhook had this uuid then.")
	}
	return &w, allow(v, c, w.EventKey)
}

func decideWebhookDelete(v View, c Command) (Event, Outcome, error) {
	w, err := named(v, c)
	if err != nil {
		return nil, Outcome{}, err
	}
	return webhook.Deleted{Webhook: *w}, Outcome{Webhook: w}, nil
}

// named finds the webhook that a command's parameters name by its token, and
// asks for the right to its key.
func named(v View, c Command) (*webhook.Webhook, error) {
	var ref webhook.TokenRef
	if err := params(c, &ref); err != nil {
		return nil, err
	}
	w := find(v, ref.Hash)
	if w == nil {
		return nil, webhook.ErrUnknown()
	}
	if err := allow(v, c, w.EventKey); err != nil {
		return nil, err
	}
	return w, nil
}

func find(v View, hash secret.TokenHash) *webhook.Webhook {
	if w, ok := v.Webhook(hash); ok {
		return &w
	}
	return nil
}

func allow(v View, c Command, eventKey string) error {
	return v.Policy().Allow(c.subject(), c.Name, eventKey)
}

func applyWebhook(s State, event webhook.Event, now webhook.Moment) {
	switch e := event.(type) {
	case webhook.Created:
		s.KeepWebhook(e.Webhook.Token.Hash, now, &e.Webhook)
		s.SetWebhook(e.Webhook)
		s.SetKey(e.Webhook.EventKey, e.Webhook.Token.Hash)
	case webhook.Edited:
		s.KeepWebhook(e.After.Token.Hash, now, &e.After)
		if e.Before.EventKey != e.After.EventKey {
			s.DropKey(e.Before.EventKey)
			s.SetKey(e.After.EventKey, e.After.Token.Hash)
		}
		s.SetWebhook(e.After)
	case webhook.Deleted:
		s.KeepWebhook(e.Webhook.Token.Hash, now, nil)
		s.DropKey(e.Webhook.EventKey)
		s.DropWebhook(e.Webhook)
	}
}
