package access

import (
	"time"

	"hooklog/domain/record"
)

// LookType is the wire name and version of a look on svc.access.
const LookType = "access.look/1"

// Look is the record of a command that only looked: who saw what, and when. It
// is written after the answer was decided, and the answer does not wait for it.
type Look struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Principal string `json:"principal"`
	// PrincipalName is what an outside issuer calls the principal.
	PrincipalName string `json:"principalName,omitempty"`
	// Effective is the user whose rights counted; it is the principal for direct
	// calls, and where an older record has none.
	Effective string   `json:"effective,omitempty"`
	Roles     []string `json:"roles,omitempty"`
	Client    string   `json:"client,omitempty"`
	Address   string   `json:"address,omitempty"`
	// EventKey and Last6 are those of the webhook that was asked for by them, and
	// Params what else was, without secrets.
	EventKey string         `json:"eventKey,omitempty"`
	Last6    string         `json:"last6,omitempty"`
	Params   map[string]any `json:"params,omitempty"`

	Outcome string    `json:"outcome"`
	Time    time.Time `json:"time"`
}

// Encode gives the record to append, for one of n partitions.
func (l Look) Encode(n int32) (record.Record, error) {
	return encodeAccess(LookType, l.ID, n, l.Time, l)
}
