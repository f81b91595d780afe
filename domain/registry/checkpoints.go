package registry

import (
	"hooklog/domain/fault"
	"hooklog/domain/proof"
)

// CheckpointKeyMade is the key that signs the checkpoints from now on.
type CheckpointKeyMade struct{ Key proof.Key }

func decideCheckpointInit(v View, c Command) (Event, error) {
	var key proof.Key
	if err := params(c, &key); err != nil {
		return nil, err
	}
	if _, made := v.CheckpointKey(); made {
		return nil, fault.New(fault.Conflict, "There is a key for checkpoints already.")
	}
	key.Created = c.Time
	return CheckpointKeyMade{Key: key}, key.Check()
}

// decideCheckpointPut asks for nothing but the right to the command: whoever wrote
// the record signs behind its outcome what has been folded.
func decideCheckpointPut(View, Command) (Event, Outcome, error) { return nil, Outcome{}, nil }
