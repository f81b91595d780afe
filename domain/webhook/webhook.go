// Package webhook holds the rules of a webhook: its fields, their limits and
// defaults, and what a put or a delete does to it. It decides about one webhook
// at a time; whether an event key is free is asked by domain/registry.
package webhook

import (
	"regexp"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

// PayloadType says how a payload travels in the event message.
type PayloadType string

// The payload types of the contract.
const (
	Base64 PayloadType = "base64"
	Raw    PayloadType = "raw"
	Ignore PayloadType = "ignore"
)

// PayloadTypes lists them in the order in which they are documented.
var PayloadTypes = []string{string(Raw), string(Base64), string(Ignore)}

// Limits of the record.
const (
	DefaultMaxPayloadLength = 512000
	MaxPayloadLength        = 4194304
	// MaxEventKeyLength lets "svc.event." and the key fit Kafka's 249 characters.
	MaxEventKeyLength = 239
)

var eventKeyPattern = regexp.MustCompile(`^webhook(\.[a-z0-9][a-z0-9-]*)+$`)

// Webhook is the folded state of one webhook. It is a value: an edit gives a
// new one.
type Webhook struct {
	Token            TokenRef
	EventKey         string
	PayloadType      PayloadType
	MaxPayloadLength int
	Enabled          bool
	Created          time.Time
	CreatedBy        string
	Updated          time.Time
	UpdatedBy        string
	Version          int
}

// TokenRef is how the log and the projections know a token: by its hash, by
// what people may see of it, and sealed, for those who may read it.
type TokenRef struct {
	Hash  secret.TokenHash
	Last6 string
	// Sealed is bound to SealedFor, the id of the command that brought it.
	Sealed    secret.Sealed
	SealedFor string
}

// CheckEventKey reports what is wrong with an event key.
func CheckEventKey(key string) error {
	if len(key) > MaxEventKeyLength {
		return fault.New(fault.Invalid, "eventKey has %d characters; at most %d are allowed.", len(key), MaxEventKeyLength)
	}
	if !eventKeyPattern.MatchString(key) {
		return fault.New(fault.Invalid, "eventKey must start with \"webhook.\" and consist of dot-separated groups of lower-case letters, digits and hyphens, for example webhook.orders.created.")
	}
	return nil
}

func checkPayloadType(t PayloadType) error {
	switch t {
	case Base64, Raw, Ignore:
		return nil
	}
	return fault.New(fault.Invalid, "payloadType must be one of raw, base64 and ignore.")
}

func checkMaxPayloadLength(n int) error {
	if n < 1 || n > MaxPayloadLength {
		return fault.New(fault.Invalid, "maxPayloadLength must lie between 1 and %d bytes.", MaxPayloadLength)
	}
	return nil
}

// Gate is what a receive needs to know of an enabled webhook, and no more: there
// may be a million of them in memory.
type Gate struct {
	EventKey         string
	Last6            string
	PayloadType      PayloadType
	MaxPayloadLength int
}

// Gate gives the webhook's gate; false means that it takes no calls.
func (w Webhook) Gate() (Gate, bool) {
	return Gate{w.EventKey, w.Token.Last6, w.PayloadType, w.MaxPayloadLength}, w.Enabled
}
