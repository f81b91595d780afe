package pipeline

import (
	"encoding/json"
	"errors"
	"time"

	"hooklog/domain/secret"
)

// The wire forms stand on the log and in the projections for ever: fields may be
// added, never renamed. Absent means not given.

type sourceWire struct {
	Body        string   `json:"body,omitempty"`
	SealedFor   string   `json:"sealedFor,omitempty"`
	EventKeys   []string `json:"eventKeys,omitempty"`
	MessageKeys []string `json:"messageKeys,omitempty"`
	RunAs       []string `json:"runAs,omitempty"`
}

func (s Source) wire() sourceWire {
	return sourceWire{s.Body.Reveal(), s.SealedFor, s.EventKeys, s.MessageKeys, s.RunAs}
}

func (w sourceWire) source() Source {
	return Source{secret.NewSealed(w.Body), w.SealedFor, w.EventKeys, w.MessageKeys, w.RunAs}
}

var errUnnamed = errors.New("a pipeline needs a name")

type putWire struct {
	Name string `json:"name"`
	sourceWire
	Version *int `json:"version,omitempty"`
}

// MarshalJSON gives the parameters as they stand in a command record.
func (p Put) MarshalJSON() ([]byte, error) {
	return json.Marshal(putWire{p.Name, p.wire(), p.Version})
}

// UnmarshalJSON reads the parameters of a command record.
func (p *Put) UnmarshalJSON(data []byte) error {
	var w putWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if w.Name == "" {
		return errUnnamed
	}
	*p = Put{w.Name, w.source(), w.Version}
	return nil
}

type stateWire struct {
	Name    string `json:"name"`
	Version int    `json:"version"`
	Deleted bool   `json:"deleted,omitempty"`
	sourceWire
	Created   time.Time `json:"created"`
	CreatedBy string    `json:"createdBy"`
	Updated   time.Time `json:"updated"`
	UpdatedBy string    `json:"updatedBy"`

	OwnerRoles []string `json:"ownerRoles,omitempty"`
}

// MarshalJSON gives the state as a projection stores it: with the source sealed.
// What callers see is made by the transport.
func (p Pipeline) MarshalJSON() ([]byte, error) {
	return json.Marshal(stateWire{
		p.Name, p.Version, p.Deleted, p.wire(),
		p.Created, p.CreatedBy, p.Updated, p.UpdatedBy, p.OwnerRoles,
	})
}

// UnmarshalJSON rehydrates a stored state; it checks no rule.
func (p *Pipeline) UnmarshalJSON(data []byte) error {
	var w stateWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	if w.Name == "" {
		return errUnnamed
	}
	*p = Pipeline{
		w.Name, w.Version, w.Deleted, w.source(),
		w.Created, w.CreatedBy, w.Updated, w.UpdatedBy, w.OwnerRoles,
	}
	return nil
}
