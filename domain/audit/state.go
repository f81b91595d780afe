package audit

import (
	"time"

	"hooklog/domain/access"
	"hooklog/domain/pipeline"
	"hooklog/domain/proof"
	"hooklog/domain/registry"
	"hooklog/domain/webhook"
)

// The states that an entry shows, each without what is secret in it.
type (
	webhookState struct {
		EventKey         string              `json:"eventKey"`
		Last6            string              `json:"last6"`
		PayloadType      webhook.PayloadType `json:"payloadType"`
		MaxPayloadLength int                 `json:"maxPayloadLength"`
		Enabled          bool                `json:"enabled"`
		Version          int                 `json:"version"`
		access.Trail
	}
	userState struct {
		Username string   `json:"username"`
		Roles    []string `json:"roles"`
		// NewPassword says that the password is another one than before.
		NewPassword bool `json:"newPassword,omitempty"`
		Version     int  `json:"version"`
		access.Trail
	}
	clientState struct {
		ID     string `json:"id"`
		Public bool   `json:"public"`
		// NewSecret says that the secret is another one than before.
		NewSecret bool `json:"newSecret,omitempty"`
		Version   int  `json:"version"`
		access.Trail
	}
	pipelineState struct {
		Name        string   `json:"name"`
		EventKeys   []string `json:"eventKeys,omitempty"`
		MessageKeys []string `json:"messageKeys,omitempty"`
		RunAs       []string `json:"runAs,omitempty"`
		Version     int      `json:"version"`
		access.Trail
	}
	signingKeyState struct {
		ID        string    `json:"id"`
		Algorithm string    `json:"algorithm"`
		Created   time.Time `json:"created"`
	}
	checkpointKeyState struct {
		Public  string    `json:"public"`
		Created time.Time `json:"created"`
	}
)

// redacted are the two sides of a change without secrets; nil is none.
func redacted(c registry.Change) (before, after any) {
	before, after = state(c.Before), state(c.After)
	switch is := c.After.(type) {
	case access.User:
		was, _ := c.Before.(access.User)
		shown := after.(userState)
		shown.NewPassword = is.PasswordHash != was.PasswordHash
		after = shown
	case access.Client:
		was, _ := c.Before.(access.Client)
		shown := after.(clientState)
		shown.NewSecret = is.SecretHash != "" && is.SecretHash != was.SecretHash
		after = shown
	}
	return before, after
}

func state(of any) any {
	switch s := of.(type) {
	case nil:
		return nil
	case webhook.Webhook:
		return webhookState{
			s.EventKey, s.Token.Last6, s.PayloadType, s.MaxPayloadLength, s.Enabled, s.Version,
			access.Trail{Created: s.Created, CreatedBy: s.CreatedBy, Updated: s.Updated, UpdatedBy: s.UpdatedBy},
		}
	case access.User:
		return userState{Username: s.Name, Roles: s.Roles, Version: s.Version, Trail: s.Trail}
	case access.Client:
		return clientState{ID: s.ID, Public: s.Public, Version: s.Version, Trail: s.Trail}
	case access.Rule: // which has no secrets
		return s
	case access.SigningKey:
		return signingKeyState{s.ID, s.Algorithm, s.Created}
	case proof.Key:
		return checkpointKeyState{s.Public, s.Created}
	case pipeline.Pipeline:
		return pipelineState{
			s.Name, s.EventKeys, s.MessageKeys, s.RunAs, s.Version,
			access.Trail{Created: s.Created, CreatedBy: s.CreatedBy, Updated: s.Updated, UpdatedBy: s.UpdatedBy},
		}
	}
	panic("audit: a change of what has no state here")
}
