package auth

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"golang.org/x/crypto/argon2"

	"hooklog/domain/secret"
)

// Cost of a hash: 19 MiB, two passes, one lane. More memory would let a few
// log-ins at once push the service out of its own.
const (
	memoryKiB  = 19 * 1024
	passes     = 2
	lanes      = 1
	saltLength = 16
	hashLength = 32
)

var encoding = base64.RawStdEncoding

// Hash gives the argon2id hash of a password in PHC form.
func Hash(p secret.Password) (string, error) {
	salt := make([]byte, saltLength)
	if _, err := rand.Read(salt); err != nil {
		return "", err
	}
	sum := argon2.IDKey([]byte(p.Reveal()), salt, passes, memoryKiB, lanes, hashLength)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKiB, passes, lanes,
		encoding.EncodeToString(salt), encoding.EncodeToString(sum)), nil
}

var errHash = errors.New("not an argon2id hash that this release verifies")

// Verify compares a password with a hash that Hash made. The cost is fixed, so
// that a forged record cannot make a log-in expensive.
func Verify(hash string, p secret.Password) (bool, error) {
	parts := strings.Split(hash, "$")
	want := fmt.Sprintf("v=%d$m=%d,t=%d,p=%d", argon2.Version, memoryKiB, passes, lanes)
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2]+"$"+parts[3] != want {
		return false, errHash
	}
	salt, err := encoding.DecodeString(parts[4])
	if err != nil {
		return false, errHash
	}
	sum, err := encoding.DecodeString(parts[5])
	if err != nil || len(sum) != hashLength {
		return false, errHash
	}
	got := argon2.IDKey([]byte(p.Reveal()), salt, passes, memoryKiB, lanes, hashLength)
	return subtle.ConstantTimeCompare(got, sum) == 1, nil
}

// NewPassword makes a password with at least 128 bits from a cryptographic source.
func NewPassword() secret.Password { return secret.NewPassword(strings.ToLower(rand.Text())) }
