package registry

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/record"
)

// CommandType is the wire name and version of a command record.
const CommandType = "command/1"

// Internal commands: an operator's, on the machine itself. They are not in the
// catalog, because no caller can send them.
const (
	// ClusterInit is the first command of every log: it brings the check value of
	// the key ring and the administrator. Only the first one counts.
	ClusterInit = "cluster.init"
	// AdminReset gives the administrator a new password.
	AdminReset = "admin.reset"
	// KeyInit brings the realm's first signing key. Only the first one counts.
	KeyInit = "key.init"
	// CheckpointInit brings the key that signs checkpoints. Only the first one counts.
	CheckpointInit = "checkpoint.init"
	// LogAccept says that an operator went on with a log that has lost records.
	LogAccept = "log.accept"
)

// Command is a record of svc.command: who wants what. Whether it is done is
// decided by folding it, not by whoever wrote it.
type Command struct {
	// ID identifies the wish. A second record with it gets the first's outcome.
	ID   string `json:"id"`
	Name string `json:"name"`
	// Fingerprint is a keyed digest of the request, which tells a repeat from
	// another request under the same id.
	Fingerprint string          `json:"fingerprint,omitempty"`
	Params      json.RawMessage `json:"params,omitempty"`
	Principal   string          `json:"principal"`
	// PrincipalName is what an outside issuer calls the principal.
	PrincipalName string `json:"principalName,omitempty"`
	// Effective is the user whose rights count: the principal itself, but where a
	// pipeline runs as another user.
	Effective string `json:"effective"`
	// Roles are those of the effective user.
	Roles []string `json:"roles,omitempty"`
	// Owner is whose rights the pipeline borrows that issued the command. Via names
	// that pipeline as name@version, where it is a stored one, and Call is the call
	// that started it, or the command by which a caller runs it.
	Owner   string    `json:"owner,omitempty"`
	Via     string    `json:"via,omitempty"`
	Call    string    `json:"call,omitempty"`
	Client  string    `json:"client,omitempty"`
	Address string    `json:"address,omitempty"`
	Time    time.Time `json:"time"`
	// Offset is where the record lies, which it cannot say itself.
	Offset int64 `json:"-"`
}

// Encode gives the record to append.
func (c Command) Encode() (record.Record, error) {
	c.Effective = cmp.Or(c.Effective, c.Principal)
	value, err := json.Marshal(c)
	if err != nil {
		return record.Record{}, fmt.Errorf("encode command %s: %w", c.Name, err)
	}
	return record.Record{
		Position: record.Position{Topic: record.TopicCommand},
		Time:     c.Time,
		Key:      []byte(c.ID),
		Headers:  []record.Header{{Key: record.HeaderType, Value: []byte(CommandType)}},
		Value:    value,
	}, nil
}

// DecodeCommand reads a command record; an error means that the record is an
// invalid command, in every version and for ever.
func DecodeCommand(r *record.Record) (Command, error) {
	var c Command
	if t := r.Header(record.HeaderType); t != CommandType {
		return c, fmt.Errorf("record type %q is not %s", t, CommandType)
	}
	if err := json.Unmarshal(r.Value, &c); err != nil {
		return c, fmt.Errorf("decode command: %w", err)
	}
	if c.ID == "" || c.Name == "" || c.Principal == "" {
		return c, errors.New("a command needs id, name and principal")
	}
	c.Effective = cmp.Or(c.Effective, c.Principal) // the first records had none
	c.Offset = r.Offset
	return c, nil
}

func (c Command) subject() access.Subject {
	return access.Subject{Principal: c.Effective, Roles: c.Roles}
}

func (c Command) author() access.Author { return access.Author{Name: c.Effective, At: c.Time} }
