package session_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"hooklog/domain/secret"
	"hooklog/domain/session"
)

func TestATokenIsAFamilyAndAKey(t *testing.T) {
	first := session.NewToken(session.FamilyID{0: 0xfb, 15: 1}, session.TokenKey{0: 0xff, 31: 2})
	const text = "-wAAAAAAAAAAAAAAAAAAAQ._wAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAI"
	if got := first.Reveal(); got != text {
		t.Fatalf("the token is %q, want %q", got, text)
	}
	parsed, err := session.ParseToken(secret.NewPassword(text))
	if err != nil {
		t.Fatal(err)
	}
	if parsed.Hash() != first.Hash() || parsed.Hash() != sha256.Sum256([]byte(text)) {
		t.Error("the hash is not that of the whole text")
	}
	if parsed.Family() != sha256.Sum256([]byte("-wAAAAAAAAAAAAAAAAAAAQ")) {
		t.Error("the family is not the hash of its id")
	}
	next := parsed.Successor(session.TokenKey{3})
	if next.Family() != first.Family() || next.Hash() == first.Hash() {
		t.Error("a successor is another token of the same family")
	}
	if _, err := session.ParseToken(next.Password); err != nil {
		t.Errorf("a successor is no token: %v", err)
	}
}

func TestOnlyTheFormOfATokenIsRead(t *testing.T) {
	id, key := strings.Repeat("A", 22), strings.Repeat("B", 42)+"A"
	if _, err := session.ParseToken(secret.NewPassword(id + "." + key)); err != nil {
		t.Fatalf("a planted token is refused: %v", err)
	}
	for name, text := range map[string]string{
		"nothing":                       "",
		"one part":                      id,
		"no dot":                        id + "-" + key,
		"a short id":                    id[1:] + "." + key,
		"a short key":                   id + "." + key[1:],
		"a long key":                    id + "." + key + "A",
		"padding":                       id[:21] + "=." + key,
		"letters of the other base64":   "+" + id[1:] + "." + key,
		"bits that no byte has in id":   id[:21] + "B." + key,
		"bits that no byte has in key":  id + "." + key[:42] + "B",
		"a line end inside the id":      id[:21] + "\n." + key,
		"a line end inside the key":     id + "." + key[:42] + "\n",
		"many line ends inside the key": id + "." + strings.Repeat("\r", 43),
		"a space before it":             " " + id + "." + key[1:],
		"another kind of token":         "0b5e7f0a-8f5e-4a57-9a63-2f1c34b0d9e1",
		"bytes that are no text":        strings.Repeat("\xff", 66),
	} {
		t.Run(name+" is none", func(t *testing.T) {
			if _, err := session.ParseToken(secret.NewPassword(text)); !errors.Is(err, session.ErrToken) {
				t.Errorf("err = %v", err)
			}
		})
	}
}

func TestATokenIsNeverPrinted(t *testing.T) {
	tok := token(5)
	var logged strings.Builder
	slog.New(slog.NewJSONHandler(&logged, nil)).Info("m", "token", tok, "holder", struct{ t session.Token }{tok})
	texts := []string{logged.String(), fmt.Sprint(tok), fmt.Sprintf("%v %+v %#v %q %x", tok, tok, tok, tok, tok), fmt.Sprintf("%+v", struct{ t session.Token }{tok})}
	for _, text := range texts {
		if _, key, _ := strings.Cut(tok.Reveal(), "."); strings.Contains(text, key) {
			t.Errorf("printed in the clear: %s", text)
		}
	}
	if !strings.Contains(texts[1], "redacted") {
		t.Errorf("printed as %q", texts[1])
	}
}
