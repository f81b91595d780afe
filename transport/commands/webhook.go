package commands

import (
	"context"
	"time"

	"github.com/google/uuid"

	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

// tokenField is what sealed tokens are bound to, beside their command.
const tokenField = "webhook.token"

func (d *Dispatcher) putWebhook(ctx context.Context, req Request) (any, error) {
	put := webhook.Put{
		EventKey:         catalog.Arg[string](req.Args, "eventKey"),
		MaxPayloadLength: catalog.Arg[int](req.Args, "maxPayloadLength"),
		Enabled:          catalog.Arg[bool](req.Args, "enabled"),
		Version:          catalog.Arg[int](req.Args, "version"),
	}
	if t := catalog.Arg[string](req.Args, "payloadType"); t != nil {
		put.PayloadType = (*webhook.PayloadType)(t)
	}
	if token := catalog.Arg[secret.Token](req.Args, "uuid"); token != nil {
		put.Token = refTo(*token)
	} else {
		put.Create = true
	}
	c := change{id: commandID(req), request: put}
	if put.Create {
		var err error
		if put.Token, err = d.newToken(c.id); err != nil {
			return nil, err
		}
	}
	put = put.WithDefaults()
	if err := put.Check(); err != nil {
		return nil, err
	}
	c.params = put
	outcome, err := d.decide(ctx, req, c)
	if err != nil {
		return nil, err
	}
	if outcome.Webhook.Enabled {
		d.prepareTopic(ctx, outcome.Webhook.EventKey)
	} else {
		time.Sleep(d.cfg.Lease) // as with a deletion
	}
	return d.show(*outcome.Webhook)
}

// prepareTopic makes the event topic behind the answer, so that consumers find
// it before the first call. A receive makes it too, so a failure only costs time.
func (d *Dispatcher) prepareTopic(ctx context.Context, eventKey string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), d.cfg.Timeout)
	d.background.Go(func() {
		defer cancel()
		if err := d.Topics.Ensure(ctx, record.EventTopic(eventKey)); err != nil {
			d.Log.Warn("Event topic was not made ahead of its first call", "event_key", eventKey, "error", err)
		}
	})
}

func (d *Dispatcher) newToken(commandID string) (webhook.TokenRef, error) {
	token, err := secret.ParseToken(uuid.NewString())
	if err != nil {
		return webhook.TokenRef{}, err
	}
	sealed, err := d.Ring.Seal(tokenField, commandID, []byte(token.Reveal()))
	if err != nil {
		return webhook.TokenRef{}, err
	}
	ref := refTo(token)
	ref.Sealed, ref.SealedFor = sealed, commandID
	return ref, nil
}

func refTo(token secret.Token) webhook.TokenRef {
	return webhook.TokenRef{Hash: token.Hash(), Last6: token.Last6()}
}

func (d *Dispatcher) getWebhook(ctx context.Context, req Request) (any, error) {
	c := change{id: commandID(req)}
	get, err := getOf(req)
	if err != nil {
		return nil, err
	}
	if get != nil {
		c.request, c.params = get, get
	}
	outcome, err := d.decide(ctx, req, c)
	if err != nil {
		return nil, err
	}
	if outcome.Webhook != nil {
		return d.show(*outcome.Webhook)
	}
	webhooks, err := d.Registry.Webhooks("", 0, d.readable(req))
	if err != nil {
		return nil, err
	}
	shown := make([]Webhook, len(webhooks))
	for i, w := range webhooks {
		if shown[i], err = d.show(w); err != nil {
			return nil, err
		}
	}
	return shown, nil
}

// getOf is which webhook is asked for, and as of when; nil is all as they are.
func getOf(req Request) (*webhook.Get, error) {
	token, at := catalog.Arg[secret.Token](req.Args, "uuid"), catalog.Arg[string](req.Args, "at")
	switch {
	case token == nil && at == nil:
		return nil, nil
	case token == nil:
		return nil, fault.New(fault.Invalid, "at needs the uuid of a webhook.")
	case at == nil:
		return &webhook.Get{Token: refTo(*token)}, nil
	}
	moment, err := webhook.ParseMoment(*at)
	return &webhook.Get{Token: refTo(*token), At: &moment}, err
}

// readable tells the keys that the caller may run the command on.
func (d *Dispatcher) readable(req Request) func(key string) bool {
	return d.Registry.Policy().Reads(req.Caller.subject(), req.Command.Name)
}

func (d *Dispatcher) deleteWebhook(ctx context.Context, req Request) (any, error) {
	ref := refTo(*catalog.Arg[secret.Token](req.Args, "uuid"))
	outcome, err := d.decide(ctx, req, change{id: commandID(req), request: ref, params: ref})
	if err != nil {
		return nil, err
	}
	// Once this is answered, no instance takes the token.
	time.Sleep(d.cfg.Lease)
	return d.show(*outcome.Webhook)
}

// show opens the token for a caller who may know it.
func (d *Dispatcher) show(w webhook.Webhook) (Webhook, error) {
	token, err := d.Ring.Open(tokenField, w.Token.SealedFor, w.Token.Sealed)
	if err != nil {
		return Webhook{}, fault.New(fault.Unavailable, "The service cannot open the token of %s; its operator must give it the right key ring.", w.EventKey).Because(err)
	}
	return Webhook{
		EventKey:         w.EventKey,
		UUID:             string(token),
		WebhookURL:       d.cfg.BaseURL + "/api/v3/command/" + catalog.WebhookReceive + "?token=" + string(token),
		PayloadType:      w.PayloadType,
		MaxPayloadLength: w.MaxPayloadLength,
		Enabled:          w.Enabled,
		Created:          w.Created,
		CreatedBy:        w.CreatedBy,
		Updated:          w.Updated,
		UpdatedBy:        w.UpdatedBy,
		Version:          w.Version,
	}, nil
}

func (d *Dispatcher) listWebhooks(req Request) (any, error) {
	after, limit, err := asked(req)
	if err != nil {
		return nil, err
	}
	webhooks, err := d.Registry.Webhooks(after, limit+1, d.readable(req))
	if err != nil {
		return nil, err
	}
	return pageUpTo(limit, webhooks, func(w webhook.Webhook) string { return w.EventKey }, showRow), nil
}

func showRow(w webhook.Webhook) WebhookRow {
	return WebhookRow{
		w.EventKey, w.Token.Last6, w.PayloadType, w.MaxPayloadLength, w.Enabled,
		w.Created, w.CreatedBy, w.Updated, w.UpdatedBy, w.Version,
	}
}
