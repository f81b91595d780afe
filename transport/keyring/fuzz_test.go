package keyring_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hooklog/domain/secret"
	"hooklog/transport/keyring"
)

// FuzzOpen holds that nothing opens but what was sealed, and only for its field
// and record.
func FuzzOpen(f *testing.F) {
	path := filepath.Join(f.TempDir(), "ring")
	if err := keyring.Create(path); err != nil {
		f.Fatal(err)
	}
	ring, err := keyring.Load(path)
	if err != nil {
		f.Fatal(err)
	}
	const field, id = "webhook.token", "command"
	plain := []byte("what was sealed")
	sealed, err := ring.Seal(field, id, plain)
	if err != nil {
		f.Fatal(err)
	}
	text := sealed.Reveal()
	f.Add(field, id, text)
	f.Add("webhook", ".token\x00command", text)
	f.Add(field, id, flip(text))
	f.Add(field, id, text[:len(text)-8])
	f.Add(field, id, "1..")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, field2, id2, text string) {
		opened, err := ring.Open(field2, id2, secret.NewSealed(text))
		switch {
		case err != nil && !errors.Is(err, keyring.ErrOpen):
			t.Fatalf("refused for another reason: %v", err)
		case err == nil && (field2 != field || id2 != id || !bytes.Equal(opened, plain)):
			t.Fatalf("%q opens as %q for %q of %q", text, opened, field2, id2)
		}
	})
}

// FuzzLoad holds that a file is a ring that seals and opens, or is refused
// without a word of what stands in it.
func FuzzLoad(f *testing.F) {
	path := filepath.Join(f.TempDir(), "ring")
	f.Add([]byte("# comment\n\n01020304 AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n"))
	f.Add([]byte("a AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\r\na AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAE="))
	f.Add([]byte("a.b AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="))
	f.Add([]byte("\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		ring, err := keyring.Load(path)
		if err != nil {
			for line := range bytes.Lines(data) {
				if line = bytes.TrimSpace(line); len(line) >= 20 && bytes.Contains([]byte(err.Error()), line) {
					t.Fatalf("the refusal repeats the file: %v", err)
				}
			}
			return
		}
		sealed, err := ring.Seal("field", "id", data)
		if err != nil {
			t.Fatal(err)
		}
		if opened, err := ring.Open("field", "id", sealed); err != nil || !bytes.Equal(opened, data) {
			t.Fatalf("sealed, and not opened: %v", err)
		}
	})
}
