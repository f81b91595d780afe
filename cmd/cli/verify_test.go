package cli_test

import (
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"hooklog/domain/proof"
	"hooklog/domain/record"
)

// newReceipt writes the receipt of the only record of a log, and the key to it.
func newReceipt(t *testing.T) (receipt, key string) {
	t.Helper()
	private, public, err := note.GenerateKey(rand.Reader, "hooklog-01234567")
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	r := record.Record{Position: record.Position{Topic: record.TopicCall}, Time: time.UnixMilli(1_700_000_000_000), Value: []byte("{}")}
	var tree proof.Tree
	tree.Append(proof.LeafHash(&r))
	c := proof.Checkpoint{Origin: "hooklog-01234567", Time: r.Time, Heads: []proof.Head{proof.HeadOf(record.TopicCall, 0, &tree)}}
	signed, err := note.Sign(&note.Note{Text: c.Text()}, signer)
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(proof.Receipt{Record: r, Checkpoint: string(signed)})
	if err != nil {
		t.Fatal(err)
	}
	return writtenFile(t, string(encoded)), writtenFile(t, public+"\n")
}

func writtenFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestVerifyOfAReceipt(t *testing.T) {
	good, key := newReceipt(t)
	_, otherKey := newReceipt(t)
	code, stdout, stderr := run(t, "verify", "--receipt", good, "--key", key)
	if code != 0 || !strings.HasPrefix(stdout, "Proved: svc.call/0@0 ") || stderr != "" {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
	code, stdout, stderr = run(t, "verify", "--receipt", good, "--key", key, "-o", "json")
	var proved struct{ Topic, Key string }
	if err := json.Unmarshal([]byte(stdout), &proved); err != nil || code != 0 || proved.Topic != record.TopicCall || proved.Key != "hooklog-01234567" {
		t.Errorf("%d %q %q %v", code, stdout, stderr, err)
	}
	for name, args := range map[string][]string{
		"another key": {"--receipt", good, "--key", otherKey},
		"no receipt":  {"--receipt", key, "--key", key},
	} {
		code, stdout, stderr := run(t, append([]string{"verify"}, args...)...)
		if code != 1 || stdout != "" || !strings.Contains(stderr, "proves nothing") {
			t.Errorf("%s: %d %q %q", name, code, stdout, stderr)
		}
	}
}

func TestVerifyThatCannotTellExitsWithThree(t *testing.T) {
	_, key := newReceipt(t)
	for name, args := range map[string][]string{
		"no log":        {"--data-dir", t.TempDir(), "--key", key},
		"no key":        {"--data-dir", t.TempDir()},
		"a wrong key":   {"--data-dir", t.TempDir(), "--key", writtenFile(t, "nonsense")},
		"no checkpoint": {"--data-dir", t.TempDir(), "--key", key, "--checkpoint", filepath.Join(t.TempDir(), "missing")},
		"a checkpoint in the clear": {
			"--data-dir", t.TempDir(), "--key", key, "--checkpoint", "http://example.org/checkpoint",
		},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := run(t, append([]string{"verify"}, args...)...)
			if code != 3 || stdout != "" || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%d %q %q", code, stdout, stderr)
			}
		})
	}
}

func TestWrongUsageOfVerify(t *testing.T) {
	for want, args := range map[string][]string{
		"hooklog: key: is required with brokers":    {"--brokers", "kafka:9092"},
		"hooklog: output: \"xml\" is not known":     {"-o", "xml"},
		"hooklog: checkpoint: a receipt brings":     {"--receipt", "r", "--checkpoint", "c"},
		"hooklog: brokers: \"kafka\" is no address": {"--brokers", "kafka", "--key", "k"},
	} {
		if code, _, stderr := run(t, append([]string{"verify"}, args...)...); code != 2 || !strings.HasPrefix(stderr, want) {
			t.Errorf("%v: %d %q, want %q", args, code, stderr, want)
		}
	}
}
