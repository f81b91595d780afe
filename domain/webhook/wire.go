package webhook

import (
	"encoding/json"
	"fmt"
	"time"

	"hooklog/domain/secret"
)

// The wire forms stand on the log and in the projections for ever: fields may be
// added, never renamed. Absent means not given.

type tokenWire struct {
	Hash      string `json:"tokenHash"`
	Last6     string `json:"last6"`
	Sealed    string `json:"token,omitempty"`
	SealedFor string `json:"sealedFor,omitempty"`
}

func (t TokenRef) wire() tokenWire {
	return tokenWire{Hash: t.Hash.String(), Last6: t.Last6, Sealed: t.Sealed.Reveal(), SealedFor: t.SealedFor}
}

func (w tokenWire) ref() (TokenRef, error) {
	hash, err := secret.ParseTokenHash(w.Hash)
	if err != nil {
		return TokenRef{}, fmt.Errorf("tokenHash: %w", err)
	}
	return TokenRef{Hash: hash, Last6: w.Last6, Sealed: secret.NewSealed(w.Sealed), SealedFor: w.SealedFor}, nil
}

type putWire struct {
	Create bool `json:"create,omitempty"`
	tokenWire
	EventKey         *string      `json:"eventKey,omitempty"`
	PayloadType      *PayloadType `json:"payloadType,omitempty"`
	MaxPayloadLength *int         `json:"maxPayloadLength,omitempty"`
	Enabled          *bool        `json:"enabled,omitempty"`
	Version          *int         `json:"version,omitempty"`
}

// MarshalJSON gives the parameters as they stand in a command record.
func (p Put) MarshalJSON() ([]byte, error) {
	return json.Marshal(putWire{p.Create, p.Token.wire(), p.EventKey, p.PayloadType, p.MaxPayloadLength, p.Enabled, p.Version})
}

// UnmarshalJSON reads the parameters of a command record.
func (p *Put) UnmarshalJSON(data []byte) error {
	var w putWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	token, err := w.ref()
	*p = Put{w.Create, token, w.EventKey, w.PayloadType, w.MaxPayloadLength, w.Enabled, w.Version}
	return err
}

// MarshalJSON and UnmarshalJSON let a command name a webhook by its token.
func (t TokenRef) MarshalJSON() ([]byte, error) { return json.Marshal(t.wire()) }

// UnmarshalJSON is the reverse of MarshalJSON.
func (t *TokenRef) UnmarshalJSON(data []byte) error {
	var w tokenWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	ref, err := w.ref()
	*t = ref
	return err
}

// Get is the wish to see one webhook, as it is or as it was at a moment.
type Get struct {
	Token TokenRef
	At    *Moment
}

type getWire struct {
	tokenWire
	At *Moment `json:"at,omitempty"`
}

// MarshalJSON gives the parameters as they stand in a command record.
func (g Get) MarshalJSON() ([]byte, error) { return json.Marshal(getWire{g.Token.wire(), g.At}) }

// UnmarshalJSON reads the parameters of a command record.
func (g *Get) UnmarshalJSON(data []byte) error {
	var w getWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	token, err := w.ref()
	*g = Get{token, w.At}
	return err
}

type stateWire struct {
	tokenWire
	EventKey         string      `json:"eventKey"`
	PayloadType      PayloadType `json:"payloadType"`
	MaxPayloadLength int         `json:"maxPayloadLength"`
	Enabled          bool        `json:"enabled"`
	Created          time.Time   `json:"created"`
	CreatedBy        string      `json:"createdBy"`
	Updated          time.Time   `json:"updated"`
	UpdatedBy        string      `json:"updatedBy"`
	Version          int         `json:"version"`
}

// MarshalJSON gives the state as a projection stores it: with the token sealed.
// What callers see is made by the transport.
func (w Webhook) MarshalJSON() ([]byte, error) {
	return json.Marshal(stateWire{
		w.Token.wire(), w.EventKey, w.PayloadType, w.MaxPayloadLength, w.Enabled,
		w.Created, w.CreatedBy, w.Updated, w.UpdatedBy, w.Version,
	})
}

// UnmarshalJSON rehydrates a stored state; it checks no rule.
func (w *Webhook) UnmarshalJSON(data []byte) error {
	var s stateWire
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	token, err := s.ref()
	*w = Webhook{
		token, s.EventKey, s.PayloadType, s.MaxPayloadLength, s.Enabled,
		s.Created, s.CreatedBy, s.Updated, s.UpdatedBy, s.Version,
	}
	return err
}
