package webhook

import (
	"errors"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

// Put is the wish to create or to edit a webhook. A nil field was not given: a
// creation must carry all but Version (whoever takes the request fills in the
// defaults, so that the fold needs no settings), an edit keeps what it omits.
type Put struct {
	Create           bool
	Token            TokenRef
	EventKey         *string
	PayloadType      *PayloadType
	MaxPayloadLength *int
	Enabled          *bool
	// Version, when given, is the version that the editor believes to edit.
	Version *int
}

// WithDefaults fills in what a creation may omit.
func (p Put) WithDefaults() Put {
	if p.Create {
		p.PayloadType = orDefault(p.PayloadType, Base64)
		p.MaxPayloadLength = orDefault(p.MaxPayloadLength, DefaultMaxPayloadLength)
		p.Enabled = orDefault(p.Enabled, true)
	}
	return p
}

func orDefault[T any](given *T, def T) *T {
	if given != nil {
		return given
	}
	return &def
}

// Check reports what is wrong with the fields themselves, whatever is stored.
func (p Put) Check() error {
	switch {
	case p.Create && p.EventKey == nil:
		return fault.New(fault.Invalid, "eventKey is required to create a webhook; to edit one, give its uuid.")
	case p.Create && p.Version != nil:
		return fault.New(fault.Invalid, "version is only for edits; to edit a webhook, give its uuid.")
	case p.Create && (p.PayloadType == nil || p.MaxPayloadLength == nil || p.Enabled == nil || p.Token.Sealed.IsZero()):
		return fault.New(fault.Invalid, "the creation is incomplete.")
	case p.Token.Hash == secret.TokenHash{}:
		return fault.New(fault.Invalid, "the webhook is not named.")
	}
	return errors.Join(
		checkIf(p.EventKey, CheckEventKey),
		checkIf(p.PayloadType, checkPayloadType),
		checkIf(p.MaxPayloadLength, checkMaxPayloadLength),
	)
}

func checkIf[T any](given *T, check func(T) error) error {
	if given == nil {
		return nil
	}
	return check(*given)
}

// Author is who changes a webhook, and when.
type Author struct {
	Name string
	At   time.Time
}

// Event is what happened to a webhook.
type Event interface{ webhookEvent() }

type (
	// Created is a new webhook.
	Created struct{ Webhook Webhook }
	// Edited replaces Before by After.
	Edited struct{ Before, After Webhook }
	// Deleted is the end of a webhook.
	Deleted struct{ Webhook Webhook }
)

func (Created) webhookEvent() {}
func (Edited) webhookEvent()  {}
func (Deleted) webhookEvent() {}

// Decide answers a checked put. current is the webhook with the put's token, or
// nil; that the event key is free is for the caller to ask first.
func (p Put) Decide(current *Webhook, by Author) (Event, error) {
	if p.Create {
		if current != nil {
			return nil, fault.New(fault.Conflict, "The generated token is taken; send the request again.")
		}
		return Created{Webhook: Webhook{
			Token:            p.Token,
			EventKey:         *p.EventKey,
			PayloadType:      *p.PayloadType,
			MaxPayloadLength: *p.MaxPayloadLength,
			Enabled:          *p.Enabled,
			Created:          by.At,
			CreatedBy:        by.Name,
			Updated:          by.At,
			UpdatedBy:        by.Name,
			Version:          1,
		}}, nil
	}
	if current == nil {
		return nil, ErrUnknown()
	}
	if p.Version != nil && *p.Version != current.Version {
		return nil, fault.New(fault.Conflict, "The webhook has version %d, not %d; read it again before editing.", current.Version, *p.Version)
	}
	return Edited{Before: *current, After: p.edit(*current, by)}, nil
}

func (p Put) edit(w Webhook, by Author) Webhook {
	set(&w.EventKey, p.EventKey)
	set(&w.PayloadType, p.PayloadType)
	set(&w.MaxPayloadLength, p.MaxPayloadLength)
	set(&w.Enabled, p.Enabled)
	w.Updated, w.UpdatedBy = by.At, by.Name
	w.Version++
	return w
}

func set[T any](field, given *T) {
	if given != nil {
		*field = *given
	}
}

// ErrUnknown is the answer to a uuid that no living webhook has.
func ErrUnknown() error {
	return fault.New(fault.NotFound, "No webhook has this uuid.")
}
