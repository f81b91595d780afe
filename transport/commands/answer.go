package commands

import (
	"encoding/json"
	"time"

	"hooklog/domain/access"
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

// User is a user as a caller sees it: never with the password's hash.
type User struct {
	Username string   `json:"username"`
	Roles    []string `json:"roles"`
	Version  int      `json:"version"`
	access.Trail
}

// Client is an OAuth client as a caller sees it.
type Client struct {
	ID     string `json:"id"`
	Public bool   `json:"public"`
	// Secret is there only in the answer of the put that made it.
	Secret  string `json:"secret,omitempty"`
	Version int    `json:"version"`
	access.Trail
}

// Rule is a rule of the policy as a caller sees it.
type Rule struct {
	Name     string   `json:"name"`
	Users    []string `json:"users"`
	Roles    []string `json:"roles"`
	Commands []string `json:"commands"`
	Keys     []string `json:"keys"`
	RunAs    []string `json:"runAs"`
	Version  int      `json:"version"`
	access.Trail
}

// SigningKey is a key of the realm as a caller sees it.
type SigningKey struct {
	ID        string          `json:"id"`
	Algorithm string          `json:"algorithm"`
	Public    json.RawMessage `json:"public"`
	Created   time.Time       `json:"created"`
}

// Pipeline is a pipeline as a caller sees it. Who updated it owns it.
type Pipeline struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	// Body is there only in the answer to who asked for this one.
	Body        string    `json:"body,omitempty"`
	EventKeys   []string  `json:"eventKeys"`
	MessageKeys []string  `json:"messageKeys"`
	RunAs       []string  `json:"runAs"`
	Created     time.Time `json:"created"`
	CreatedBy   string    `json:"createdBy"`
	Updated     time.Time `json:"updated"`
	UpdatedBy   string    `json:"updatedBy"`
}
