package secret_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hooklog/domain/secret"
)

func TestParseToken(t *testing.T) {
	tests := []struct {
		name  string
		given string
		valid bool
	}{
		{"36 lower-case characters are a token", plantedToken, true},
		{"the nil UUID has the form of a token", uuid.Nil.String(), true},
		{"upper case is refused", strings.ToUpper(plantedToken), false},
		{"one upper-case digit is refused", "5eedc0de-1234-4Abc-8def-0123456789ab", false},
		{"no hyphens are refused", strings.ReplaceAll(plantedToken, "-", ""), false},
		{"a hyphen in another place is refused", "5eedc0d-e1234-4abc-8def-0123456789ab", false},
		{"a hyphen in place of a digit is refused", "5eedc0de-1234-4abc-8def-0123456789a-", false},
		{"a letter behind f is refused", "geedc0de-1234-4abc-8def-0123456789ab", false},
		{"braces are refused", "{" + plantedToken + "}", false},
		{"the urn form is refused", "urn:uuid:" + plantedToken, false},
		{"a space around it is refused", " " + plantedToken, false},
		{"one character more is refused", plantedToken + "0", false},
		{"nothing is refused", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			token, err := secret.ParseToken(tt.given)
			if tt.valid {
				if err != nil || token.Reveal() != tt.given || token.IsZero() {
					t.Fatalf("refused: %v", err)
				}
				return
			}
			if !errors.Is(err, secret.ErrToken) || !token.IsZero() {
				t.Fatalf("err = %v, want ErrToken and no token", err)
			}
			if tt.given != "" && strings.Contains(err.Error(), strings.TrimSpace(tt.given)) {
				t.Errorf("the error repeats what was given: %v", err)
			}
		})
	}
}

// Another implementation of UUIDs is the oracle; ours is only stricter in form.
func FuzzParseToken(f *testing.F) {
	f.Add(plantedToken)
	f.Add("5EEDC0DE-1234-4ABC-8DEF-0123456789AB")
	f.Add("5eedc0de-1234-4abc-8def-0123456789a\x00")
	f.Add("{5eedc0de12344abc8def0123456789ab}")
	f.Fuzz(func(t *testing.T, s string) {
		id, err := uuid.Parse(s)
		canonical := err == nil && id.String() == s
		token, err := secret.ParseToken(s)
		if (err == nil) != canonical {
			t.Fatalf("ParseToken(%q): err = %v, canonical: %v", s, err, canonical)
		}
		if err == nil && token.Last6() != s[len(s)-6:] {
			t.Fatalf("last6 = %q of %q", token.Last6(), s)
		}
	})
}

func TestTokenHash(t *testing.T) {
	token, err := secret.ParseToken(plantedToken)
	if err != nil {
		t.Fatal(err)
	}
	hash := token.Hash()
	if want := sha256.Sum256([]byte(plantedToken)); !bytes.Equal(hash[:], want[:]) {
		t.Fatalf("hash = %s, want the SHA-256 %x", hash, want)
	}
	t.Run("its text reads back", func(t *testing.T) {
		back, err := secret.ParseTokenHash(hash.String())
		if err != nil || back != hash {
			t.Errorf("read back %s, err %v", back, err)
		}
	})
	t.Run("a text of another form is refused", func(t *testing.T) {
		text := hash.String()
		for _, bad := range []string{"", text[:62], text + "00", "zz" + text[2:]} {
			if _, err := secret.ParseTokenHash(bad); err == nil {
				t.Errorf("%q was taken", bad)
			}
		}
	})
	t.Run("people may see the last six characters", func(t *testing.T) {
		if got := token.Last6(); got != "6789ab" {
			t.Errorf("last6 = %q", got)
		}
	})
}

func TestTheZeroSecretsHoldNothing(t *testing.T) {
	tests := map[string]interface {
		IsZero() bool
		Reveal() string
	}{
		"the zero Token":            secret.Token{},
		"the zero Password":         secret.Password{},
		"an empty text as Password": secret.NewPassword(""),
		"an empty text as a Sealed": secret.NewSealed(""),
		"the zero Sealed":           secret.Sealed{},
	}
	for name, s := range tests {
		if !s.IsZero() || s.Reveal() != "" {
			t.Errorf("%s holds %q", name, s.Reveal())
		}
	}
	if got := (secret.Token{}).Last6(); got != "" {
		t.Errorf("last6 of the zero Token = %q", got)
	}
	if (secret.Token{}).Hash() == (secret.TokenHash{}) {
		t.Error("the zero Token has the zero hash, which stands for no webhook")
	}
}

func TestSettingsDecodeIntoAPassword(t *testing.T) {
	var settings struct{ Password secret.Password }
	if err := json.Unmarshal([]byte(`{"Password":"`+plantedPassword+`"}`), &settings); err != nil {
		t.Fatal(err)
	}
	if got := settings.Password.Reveal(); got != plantedPassword {
		t.Errorf("password = %q", got)
	}
}
