// Package secret holds the values that must never be shown: they are redacted
// by their type, not by the care of whoever logs them. A value lives in a
// closure, because fmt prints the fields of a struct without asking the
// methods of those that are unexported.
package secret

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"unsafe"
)

const redacted = "[redacted]"

// value is the part all secrets share: it can be revealed only by its owner's
// explicit word, and every printing interface gives the redaction.
type value struct {
	reveal func() string
}

func hold(s string) value { return value{reveal: func() string { return s }} }

// Reveal gives the secret in the clear. Call it where the secret is used, not
// where it is passed on.
func (v value) Reveal() string {
	if v.reveal == nil {
		return ""
	}
	return v.reveal()
}

// IsZero reports that no secret is held.
func (v value) IsZero() bool { return v.reveal == nil }

// Format implements fmt.Formatter for every verb.
func (value) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// LogValue implements slog.LogValuer.
func (value) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText keeps secrets out of JSON, YAML and text encodings.
func (value) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// Password is a password, client secret or other credential of free form.
type Password struct{ value }

// NewPassword holds s; an empty s is the zero Password.
func NewPassword(s string) Password {
	if s == "" {
		return Password{}
	}
	return Password{hold(s)}
}

// UnmarshalText lets settings be decoded into a Password.
func (p *Password) UnmarshalText(text []byte) error {
	*p = NewPassword(string(text))
	return nil
}

// Sealed is an encrypted secret in its text form, as it stands on the log.
type Sealed struct{ value }

// NewSealed holds the text form of something sealed.
func NewSealed(s string) Sealed {
	if s == "" {
		return Sealed{}
	}
	return Sealed{hold(s)}
}

// TokenLength is the number of characters of a token.
const TokenLength = 36

// ErrToken is returned by ParseToken for anything but 36 lower-case characters
// in the form of a UUID. It does not repeat what was given.
var ErrToken = errors.New("a token is a UUID of 36 lower-case characters")

// Token is the secret that identifies and opens a webhook.
type Token struct{ value }

// tokenForm is the form of a token; x stands for a hexadecimal digit.
const tokenForm = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"

// tokenKinds maps the characters of tokens to those of tokenForm.
var tokenKinds = func() (kinds [256]byte) {
	kinds['-'] = '-'
	for _, c := range "0123456789abcdef" {
		kinds[c] = 'x'
	}
	return kinds
}()

// ParseToken accepts exactly the canonical lower-case form of a UUID. No branch
// depends on a character, because the processor would guess most of them wrong.
func ParseToken(s string) (Token, error) {
	if len(s) != TokenLength {
		return Token{}, ErrToken
	}
	var wrong byte
	for i := range TokenLength {
		wrong |= tokenKinds[s[i]] ^ tokenForm[i]
	}
	if wrong != 0 {
		return Token{}, ErrToken
	}
	return Token{hold(s)}, nil
}

// TokenHash is what a token is looked up by: it can be stored and compared, and
// does not lead back to the token.
type TokenHash [sha256.Size]byte

// Hash is the token's SHA-256.
func (t Token) Hash() TokenHash {
	s := t.Reveal()
	// The bytes are only read: hashing needs no copy of the token.
	return sha256.Sum256(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// Last6Length is the number of characters of a token that people may see.
const Last6Length = 6

// Last6 is the part of a token that people may see: the last six characters.
func (t Token) Last6() string {
	if s := t.Reveal(); len(s) == TokenLength {
		return s[TokenLength-Last6Length:]
	}
	return ""
}

// String is the hash in hexadecimal.
func (h TokenHash) String() string { return hex.EncodeToString(h[:]) }

// ParseTokenHash reads the hexadecimal form back.
func ParseTokenHash(s string) (TokenHash, error) {
	var h TokenHash
	if len(s) != hex.EncodedLen(len(h)) {
		return h, errors.New("a token hash has 64 hexadecimal characters")
	}
	_, err := hex.Decode(h[:], []byte(s))
	return h, err
}
