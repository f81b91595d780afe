package keyring_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hooklog/domain/secret"
	"hooklog/transport/keyring"
)

func newRing(t *testing.T) (*keyring.Ring, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys", "ring")
	if err := keyring.Create(path); err != nil {
		t.Fatal(err)
	}
	ring, err := keyring.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return ring, path
}

func TestSealing(t *testing.T) {
	ring, _ := newRing(t)
	other, _ := newRing(t)
	const plain = "a value nobody may see"
	sealed, err := ring.Seal("webhook.token", "cmd-1", []byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("opens for the same field and id", func(t *testing.T) {
		got, err := ring.Open("webhook.token", "cmd-1", sealed)
		if err != nil || string(got) != plain {
			t.Fatalf("got %q, %v", got, err)
		}
	})
	t.Run("does not show the value", func(t *testing.T) {
		if strings.Contains(sealed.Reveal(), plain) {
			t.Fatal("the sealed text holds the value")
		}
	})
	t.Run("two seals of one value differ", func(t *testing.T) {
		again, err := ring.Seal("webhook.token", "cmd-1", []byte(plain))
		if err != nil || again.Reveal() == sealed.Reveal() {
			t.Fatalf("equal seals, %v", err)
		}
	})
	text := sealed.Reveal()
	for name, try := range map[string]func() ([]byte, error){
		"another field":     func() ([]byte, error) { return ring.Open("user.key", "cmd-1", sealed) },
		"another record":    func() ([]byte, error) { return ring.Open("webhook.token", "cmd-2", sealed) },
		"another ring":      func() ([]byte, error) { return other.Open("webhook.token", "cmd-1", sealed) },
		"an altered value":  func() ([]byte, error) { return ring.Open("webhook.token", "cmd-1", secret.NewSealed(flip(text))) },
		"a shortened value": func() ([]byte, error) { return ring.Open("webhook.token", "cmd-1", secret.NewSealed(text[:14])) },
		"no sealed value":   func() ([]byte, error) { return ring.Open("webhook.token", "cmd-1", secret.Sealed{}) },
	} {
		t.Run("refuses "+name, func(t *testing.T) {
			if got, err := try(); !errors.Is(err, keyring.ErrOpen) {
				t.Fatalf("got %q, %v", got, err)
			}
		})
	}
}

// flip changes a character in the middle of the box: the last one of base64 may
// hold unused bits.
func flip(text string) string {
	b := []byte(text)
	i := len(b) - 8
	if b[i] == 'A' {
		b[i] = 'B'
	} else {
		b[i] = 'A'
	}
	return string(b)
}

func TestRotation(t *testing.T) {
	ring, path := newRing(t)
	sealed, err := ring.Seal("f", "1", []byte("old"))
	if err != nil {
		t.Fatal(err)
	}
	_, newer := newRing(t)
	front, _ := os.ReadFile(newer)
	back, _ := os.ReadFile(path)
	if err := os.WriteFile(path, append(front, back...), 0o600); err != nil {
		t.Fatal(err)
	}
	both, err := keyring.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := both.Open("f", "1", sealed); err != nil || string(got) != "old" {
		t.Fatalf("the old value is lost: %q, %v", got, err)
	}
	if both.Fingerprint([]byte("x")) != ring.Fingerprint([]byte("x")) {
		t.Fatal("a new key in front changed the fingerprints")
	}
	fresh, err := both.Seal("f", "2", []byte("new"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ring.Open("f", "2", fresh); !errors.Is(err, keyring.ErrOpen) {
		t.Fatalf("the new key does not seal: %v", err)
	}
}

func TestFile(t *testing.T) {
	_, path := newRing(t)
	t.Run("is private", func(t *testing.T) {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("mode %v, %v", info.Mode(), err)
		}
	})
	t.Run("is never overwritten", func(t *testing.T) {
		before, _ := os.ReadFile(path)
		if err := keyring.Create(path); err == nil {
			t.Fatal("Create overwrote a ring")
		}
		if after, _ := os.ReadFile(path); !bytes.Equal(after, before) {
			t.Fatal("the file changed")
		}
	})
	t.Run("is refused when others may read it", func(t *testing.T) {
		loose := filepath.Join(t.TempDir(), "ring")
		data, _ := os.ReadFile(path)
		if err := os.WriteFile(loose, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(loose, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := keyring.Load(loose); err == nil || !strings.Contains(err.Error(), "chmod 600") {
			t.Fatalf("got %v", err)
		}
	})
	for name, text := range map[string]string{
		"is empty":               "# nothing\n",
		"holds a short key":      "k1 AAAA\n",
		"holds a line of prose":  "hello\n",
		"holds an id with a dot": "k.1 " + strings.Repeat("A", 43) + "=\n",
	} {
		t.Run("is refused when it "+name, func(t *testing.T) {
			bad := filepath.Join(t.TempDir(), "ring")
			if err := os.WriteFile(bad, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := keyring.Load(bad); err == nil {
				t.Fatal("loaded")
			}
		})
	}
}
