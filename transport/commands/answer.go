package commands

import (
	"time"

	"hooklog/domain/webhook"
)

// Webhook is a webhook as a caller sees it who may know its token.
type Webhook struct {
	EventKey         string              `json:"eventKey"`
	UUID             string              `json:"uuid"`
	WebhookURL       string              `json:"webhookUrl"`
	PayloadType      webhook.PayloadType `json:"payloadType"`
	MaxPayloadLength int                 `json:"maxPayloadLength"`
	Enabled          bool                `json:"enabled"`
	Created          time.Time           `json:"created"`
	CreatedBy        string              `json:"createdBy"`
	Updated          time.Time           `json:"updated"`
	UpdatedBy        string              `json:"updatedBy"`
	Version          int                 `json:"version"`
}

// WebhookRow is the same for people who need not know the token.
type WebhookRow struct {
	EventKey         string              `json:"eventKey"`
	Last6            string              `json:"last6"`
	PayloadType      webhook.PayloadType `json:"payloadType"`
	MaxPayloadLength int                 `json:"maxPayloadLength"`
	Enabled          bool                `json:"enabled"`
	Created          time.Time           `json:"created"`
	CreatedBy        string              `json:"createdBy"`
	Updated          time.Time           `json:"updated"`
	UpdatedBy        string              `json:"updatedBy"`
	Version          int                 `json:"version"`
}

// Page is the answer of every command that lists; Next is the cursor of the rest.
type Page[T any] struct {
	Items []T    `json:"items"`
	Next  string `json:"next,omitempty"`
}
