package client_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hooklog/cmd/settings"
)

// changed is the world with one call that failed and one that did not, a webhook
// that was changed, one that was deleted, and one that was not made.
func (sh *shell) changed(s *service) world {
	sh.t.Helper()
	w := s.prepare()
	s.finished(s.call(w.uuid, `{"order":7}`).text("correlationId"))
	sh.hooklog("webhook", "edit", "webhook.orders", "--payload-type", "raw", "--max-payload-length", "1000").want(0)
	sh.hooklog("webhook", "delete", "webhook.quiet").want(0)
	sh.hooklog("command", "webhook.put", "eventKey=webhook.orders").want(1)
	return w
}

func TestWhatIsShownOfCallsAndOfTheAudit(t *testing.T) {
	s := start(t, func(c *settings.Config) { c.CheckpointInterval = 0 })
	sh := s.asAdmin(t)
	w := sh.changed(s)
	var b strings.Builder
	for _, format := range []string{"table", "json", "yaml"} {
		for _, words := range [][]string{
			{"trace", "webhook.orders"},
			{"trace", w.uuid[30:], "--limit", "1"},
			{"trace", w.correlationID},
			{"webhook", "tail", "webhook.orders", "--from-start", "--count", "2"},
			{"audit", "--webhook", "webhook.orders", "--command", "webhook.put"},
			{"audit", "--command", "webhook.delete", "--limit", "1"},
			{"audit", "export", "--outcome", "conflict"},
			{"checkpoint", "put"},
			{"checkpoint", "get"},
		} {
			b.WriteString(sh.transcript(append(words, "-o", format)...))
		}
	}
	for _, words := range [][]string{
		{"trace", "webhook.order"},
		{"trace", "0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f"},
		{"trace", "abcdef:aaaaaaaaaa"},
		{"trace", "webhook.orders", "--receipt", "receipt.json"},
		{"trace", "webhook.orders", "--from", "yesterday"},
		{"trace", "webhook.orders", "--limit", "0"},
		{"trace", "webhook.orders", "--limit", "5", "--all"},
		{"webhook", "tail", "webhook.order"},
		{"listen", "webhook.order", "--forward", "http://127.0.0.1:1"},
		{"listen", "webhook.orders"},
		{"listen", "webhook.orders", "--forward", "3000"},
		{"audit", "--outcome", "forbidden"},
		{"audit", "--from", "yesterday"},
		{"audit", "exprt"},
		{"audit", "export", "--from", "yesterday"},
		{"checkpoint", "sign"},
	} {
		b.WriteString(sh.transcript(words...))
	}
	nobody := s.asNobody(t)
	b.WriteString(nobody.transcript("checkpoint", "put") + nobody.transcript("checkpoint", "get"))
	sh.write("receipt.json", w.receipt)
	sh.write("checkpoint.pub", w.publicKey)
	for _, words := range [][]string{
		{"verify", "--receipt", "receipt.json", "--key", "checkpoint.pub", "-o", "table"},
		{"verify", "--receipt", "receipt.json", "--key", "checkpoint.pub", "-o", "json"},
		{"verify", "--receipt", "checkpoint.pub", "--key", "checkpoint.pub"},
	} {
		b.WriteString(sh.transcript(words...))
	}
	golden(t, "calls", strings.ReplaceAll(b.String(), w.uuid[30:], "<last6>"))

	t.Run("with a receipt that is right", func(t *testing.T) {
		sh.hooklog("trace", w.correlationID, "--receipt", "stored.json").want(0)
		if e := sh.hooklog("verify", "--receipt", "stored.json", "--key", "checkpoint.pub").want(0); !strings.HasPrefix(e.stdout, "Proved: ") {
			t.Errorf("it says %q", e.stdout)
		}
		later := s.call(w.uuid, `{"order":8}`).text("correlationId")
		if e := sh.hooklog("trace", later, "--receipt", "later.json").want(1); !strings.Contains(e.stderr, "checkpoint") {
			t.Errorf("of a call that no checkpoint covers it says %q", e.stderr)
		}
	})
	t.Run("with the signed note of a checkpoint", func(t *testing.T) {
		signed := sh.hooklog("checkpoint", "put").want(0).object()
		if note := sh.hooklog("checkpoint", "get", "-o", "table").want(0).stdout; note != signed["note"] {
			t.Errorf("signed %q, shown %q", signed["note"], note)
		}
	})
}

func TestTheAuditIsExportedWholeOrNotAtAll(t *testing.T) {
	s := start(t)
	s.prepare()
	sh := s.asAdmin(t)
	printed := sh.hooklog("audit", "export", "--command", "webhook.put").want(0).stdout
	sh.hooklog("audit", "export", "--command", "webhook.put", "--file", "audit.jsonl").want(0)
	stored, err := os.ReadFile(filepath.Join(sh.dir, "audit.jsonl"))
	if err != nil || string(stored) != printed || strings.Count(printed, "\n") != 2 {
		t.Errorf("printed\n%s\nstored\n%s %v", printed, stored, err)
	}
	for line := range strings.Lines(printed) {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
	t.Run("and a stream that breaks off is told", func(t *testing.T) {
		address := s.through(t, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
			w.Header().Set("Content-Type", "application/x-ndjson")
			_, _ = w.Write([]byte("{\"n\":1}\n{\"n\":2}\n"))
			_ = http.NewResponseController(w).Flush()
			cut(w)
		})
		sh := s.asAdmin(t, "HOOKLOG_URL="+address)
		e := sh.hooklog("audit", "export", "--file", "part.jsonl").want(4)
		if !strings.Contains(e.stderr, "the export is not whole, it ended after 2 entries") || !strings.Contains(e.stderr, "broke off") {
			t.Errorf("it says %q", e.stderr)
		}
		if left, _ := filepath.Glob(filepath.Join(sh.dir, "*.jsonl")); len(left) > 0 {
			t.Errorf("a part is left: %q", left)
		}
	})
}
