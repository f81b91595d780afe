package session

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"

	"hooklog/domain/secret"
)

// The random parts of a token.
type (
	// FamilyID is common to all tokens of a family.
	FamilyID [16]byte
	// TokenKey is a token's own.
	TokenKey [32]byte
)

// encoding has one text for the same bytes, so that a token has one hash.
var encoding = base64.RawURLEncoding.Strict()

var (
	idLength    = encoding.EncodedLen(len(FamilyID{}))
	tokenLength = idLength + 1 + encoding.EncodedLen(len(TokenKey{}))
)

// ErrToken is returned by ParseToken for what cannot be a refresh token. It does
// not repeat what was given.
var ErrToken = errors.New("a refresh token is a family id and a key in base64url, joined by a dot")

// Token is a refresh token. It is printed like any other secret.
type Token struct {
	secret.Password
}

// NewToken makes the text of a token from its parts.
func NewToken(id FamilyID, key TokenKey) Token {
	return Token{secret.NewPassword(encoding.EncodeToString(id[:]) + "." + encoding.EncodeToString(key[:]))}
}

// ParseToken accepts exactly the form that NewToken gives.
func ParseToken(given secret.Password) (Token, error) {
	text := given.Reveal()
	if len(text) != tokenLength || text[idLength] != '.' {
		return Token{}, ErrToken
	}
	var id FamilyID
	var key TokenKey
	// Strictness about line ends is not part of the encoding's.
	if n, err := encoding.Decode(id[:], []byte(text[:idLength])); err != nil || n != len(id) {
		return Token{}, ErrToken
	}
	if n, err := encoding.Decode(key[:], []byte(text[idLength+1:])); err != nil || n != len(key) {
		return Token{}, ErrToken
	}
	return Token{given}, nil
}

// Successor is another token of the same family.
func (t Token) Successor(key TokenKey) Token {
	return Token{secret.NewPassword(t.Reveal()[:idLength+1] + encoding.EncodeToString(key[:]))}
}

// Family is the hash of the family's id, which families are found by.
func (t Token) Family() Hash { return sha256.Sum256([]byte(t.Reveal()[:idLength])) }

// Hash is the hash of the whole token.
func (t Token) Hash() Hash { return sha256.Sum256([]byte(t.Reveal())) }
