package access

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

// KeyAlgorithm is what the realm signs with.
const KeyAlgorithm = "ES256"

const (
	// earlierKeys is how many keys stay to verify behind the one that signs.
	earlierKeys = 4
	// keyRest is how long a key stays after a newer one signs: longer than any
	// token that it signed.
	keyRest = time.Hour
)

// SigningKey is a key of the realm: the public half in the clear, the private
// half for those who have the key ring.
type SigningKey struct {
	ID        string
	Algorithm string
	// Public is a JWK.
	Public json.RawMessage
	// Sealed is bound to SealedFor, the id of the command that brought it.
	Sealed    secret.Sealed
	SealedFor string
	// Created is when the key began to sign.
	Created time.Time
}

// Check reports what is wrong with a new key.
func (k SigningKey) Check() error {
	if k.ID == "" || k.Algorithm != KeyAlgorithm || !bytes.HasPrefix(k.Public, []byte("{")) || k.Sealed.IsZero() || k.SealedFor == "" {
		return fault.New(fault.Invalid, "The signing key is incomplete.")
	}
	return nil
}

// Shown is the key without its private half, for answers.
func (k SigningKey) Shown() SigningKey {
	k.Sealed, k.SealedFor = secret.Sealed{}, ""
	return k
}

// SigningKeys are the realm's keys, the one that signs first.
type SigningKeys []SigningKey

// Rotate gives the keys with a new one in front. The earlier ones stay to verify;
// who verifies decides by time for how long. It refuses to drop one that may
// still be needed.
func (k SigningKeys) Rotate(key SigningKey, now time.Time) (SigningKeys, error) {
	if err := key.Check(); err != nil {
		return nil, err
	}
	if slices.ContainsFunc(k, func(other SigningKey) bool { return other.ID == key.ID }) {
		return nil, fault.New(fault.Conflict, "The signing key is there already.")
	}
	kept := k
	if len(k) > earlierKeys {
		if now.Sub(k[earlierKeys-1].Created) < keyRest {
			return nil, fault.New(fault.Conflict, "The keys were rotated %d times within %s; tokens of the oldest may still be in use.", earlierKeys, keyRest)
		}
		kept = k[:earlierKeys]
	}
	key.Created = now
	return slices.Insert(slices.Clone(kept), 0, key), nil
}

type keyWire struct {
	ID        string          `json:"id"`
	Algorithm string          `json:"algorithm"`
	Public    json.RawMessage `json:"public"`
	Sealed    string          `json:"sealed,omitempty"`
	SealedFor string          `json:"sealedFor,omitempty"`
	Created   time.Time       `json:"created,omitzero"`
}

// MarshalJSON gives the key as it stands on the log and in the projections, for
// ever: fields may be added, never renamed.
func (k SigningKey) MarshalJSON() ([]byte, error) {
	return json.Marshal(keyWire{k.ID, k.Algorithm, k.Public, k.Sealed.Reveal(), k.SealedFor, k.Created})
}

// UnmarshalJSON is the reverse of MarshalJSON.
func (k *SigningKey) UnmarshalJSON(data []byte) error {
	var w keyWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*k = SigningKey{w.ID, w.Algorithm, w.Public, secret.NewSealed(w.Sealed), w.SealedFor, w.Created}
	return nil
}
