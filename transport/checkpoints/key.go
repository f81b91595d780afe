package checkpoints

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"

	"hooklog/domain/proof"
	"hooklog/domain/secret"
	"hooklog/transport/commands"
)

// keyField is what the sealed key is bound to, beside its command.
const keyField = "checkpoint.key"

// Opener opens what was sealed.
type Opener interface {
	Open(field, id string, s secret.Sealed) ([]byte, error)
}

// NewKey makes a key that the command with that id is to bring. Its name, by which
// its checkpoints are told from those of other logs, is random.
func NewKey(ring commands.Sealer, commandID string) (proof.Key, error) {
	var random [4]byte
	if _, err := rand.Read(random[:]); err != nil {
		return proof.Key{}, err
	}
	origin := "hooklog-" + hex.EncodeToString(random[:])
	private, public, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		return proof.Key{}, fmt.Errorf("make the key of the checkpoints: %w", err)
	}
	sealed, err := ring.Seal(keyField, commandID, []byte(private))
	return proof.Key{Origin: origin, Public: public, Sealed: sealed, SealedFor: commandID}, err
}

func open(ring Opener, key proof.Key) (note.Signer, error) {
	private, err := ring.Open(keyField, key.SealedFor, key.Sealed)
	if err != nil {
		return nil, fmt.Errorf("open the key of the checkpoints: %w", err)
	}
	signer, err := note.NewSigner(string(private))
	if err != nil {
		return nil, errors.New("the key of the checkpoints cannot be read") // the cause may quote it
	}
	return signer, nil
}
