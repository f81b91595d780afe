package proof

import (
	"encoding/json"
	"strings"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

// Key signs the checkpoints of a log: the public half in the clear, the private
// half for those who have the key ring. There is one for the life of the log, so
// that whoever has pinned it can trust every checkpoint.
type Key struct {
	// Origin is the key's name, and the first line of every checkpoint.
	Origin string
	// Public is the text that verifiers take.
	Public string
	// Sealed is bound to SealedFor, the id of the command that brought it.
	Sealed    secret.Sealed
	SealedFor string
	Created   time.Time
}

// Check reports what is wrong with a new key.
func (k Key) Check() error {
	if !isName(k.Origin) || !strings.HasPrefix(k.Public, k.Origin+"+") || k.Sealed.IsZero() || k.SealedFor == "" {
		return fault.New(fault.Invalid, "The key of the checkpoints is incomplete.")
	}
	return nil
}

type keyWire struct {
	Origin    string    `json:"origin"`
	Public    string    `json:"public"`
	Sealed    string    `json:"sealed"`
	SealedFor string    `json:"sealedFor"`
	Created   time.Time `json:"created,omitzero"`
}

// MarshalJSON gives the key as it stands on the log and in the projections, for
// ever: fields may be added, never renamed.
func (k Key) MarshalJSON() ([]byte, error) {
	return json.Marshal(keyWire{k.Origin, k.Public, k.Sealed.Reveal(), k.SealedFor, k.Created})
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (k *Key) UnmarshalJSON(data []byte) error {
	var w keyWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*k = Key{w.Origin, w.Public, secret.NewSealed(w.Sealed), w.SealedFor, w.Created}
	return nil
}
