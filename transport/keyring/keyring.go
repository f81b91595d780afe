// Package keyring seals what must not stand in the clear on the log. The ring is
// a file outside the log's folder; each sealed value has a key of its own,
// derived from a ring key, and is bound to its field and to the id of the record
// that carries it, so it can be neither moved nor swapped. It stores nothing and
// knows no record.
package keyring

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"hooklog/domain/secret"
)

// form is the version of the sealed text: "1.<key id>.<base64url>".
const form = "1"

const keyLength = 32

// ErrOpen is returned when a sealed value cannot be opened: another ring sealed
// it, or it was altered or moved.
var ErrOpen = errors.New("the key ring cannot open this value")

type key struct {
	id     string
	secret []byte
}

// Ring holds the keys; the first one seals, all of them open.
type Ring struct {
	keys []key
}

// Seal encrypts plain for the named field of the record with that id.
func (r *Ring) Seal(field, id string, plain []byte) (secret.Sealed, error) {
	k := r.keys[0]
	aead, err := k.aead(field, id)
	if err != nil {
		return secret.Sealed{}, err
	}
	nonce := make([]byte, aead.NonceSize(), aead.NonceSize()+len(plain)+aead.Overhead())
	if _, err := rand.Read(nonce); err != nil {
		return secret.Sealed{}, err
	}
	box := aead.Seal(nonce, nonce, plain, binding(k.id, field, id))
	return secret.NewSealed(form + "." + k.id + "." + base64.RawURLEncoding.EncodeToString(box)), nil
}

// Open decrypts what Seal made for the same field and id.
func (r *Ring) Open(field, id string, s secret.Sealed) ([]byte, error) {
	version, rest, _ := strings.Cut(s.Reveal(), ".")
	keyID, text, ok := strings.Cut(rest, ".")
	if !ok || version != form {
		return nil, ErrOpen
	}
	box, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return nil, ErrOpen
	}
	for _, k := range r.keys {
		if k.id != keyID {
			continue
		}
		aead, err := k.aead(field, id)
		if err != nil {
			return nil, err
		}
		if len(box) < aead.NonceSize() {
			return nil, ErrOpen
		}
		plain, err := aead.Open(nil, box[:aead.NonceSize()], box[aead.NonceSize():], binding(keyID, field, id))
		if err != nil {
			return nil, ErrOpen
		}
		return plain, nil
	}
	return nil, ErrOpen
}

// Fingerprint is a keyed digest, for telling equal requests from different ones
// without giving away what may be guessed, such as a password.
func (r *Ring) Fingerprint(data []byte) string {
	// The last key is the oldest: it stays when a new one is put in front, so a
	// repeated request has the same fingerprint after a rotation.
	k := r.keys[len(r.keys)-1]
	mac := hmac.New(sha256.New, k.secret)
	_, _ = mac.Write([]byte("hooklog fingerprint\x00"))
	_, _ = mac.Write(data)
	return hex.EncodeToString(mac.Sum(nil))
}

func (k key) aead(field, id string) (cipher.AEAD, error) {
	derived, err := hkdf.Key(sha256.New, k.secret, nil, "hooklog seal\x00"+field+"\x00"+id, keyLength)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	block, err := aes.NewCipher(derived)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func binding(keyID, field, id string) []byte {
	return []byte(keyID + "\x00" + field + "\x00" + id)
}
