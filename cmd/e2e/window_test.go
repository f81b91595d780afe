package e2e_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"hooklog/cmd/settings"
	"hooklog/domain/secret"
)

// withWindow turns the window on, with a password that the service makes.
func withWindow(c *settings.Config) { c.EmbeddedListen = "127.0.0.1:0" }

func readerFile(s *service) string { return filepath.Join(s.cfg.KeysDir(), "reader-password") }

// kcatLine is the printed line in two parts: the client, and what it consumes.
// The group is what operators are told to end the line with instead.
func kcatLine(t *testing.T, s *service) (client, consume, group string) {
	t.Helper()
	lines := printed(s.out)
	if len(lines) != 5 {
		t.Fatalf("printed %q", lines)
	}
	client, consume, found := strings.Cut(lines[3], " -C ")
	if !found || !strings.HasPrefix(client, "kcat -b "+s.app.WindowAddr().String()+" ") {
		t.Fatalf("no kcat line is printed: %q", lines)
	}
	return client, "-C " + consume, lines[4]
}

func TestKcatReadsTheEventsOfTheEmbeddedLog(t *testing.T) {
	if _, err := exec.LookPath("kcat"); err != nil {
		t.Skip("kcat is not installed: the printed line is not tried here")
	}
	needTools(t, "bash")
	s := start(t, withWindow)
	hook := s.put("eventKey=webhook.demo")
	first := s.called(hook.UUID, asJSON, `{"n":1}`)

	t.Run("with the printed line, and its headers", func(t *testing.T) {
		client, consume, _ := kcatLine(t, s)
		stdout, stderr, err := bash(t, nil, client+" "+consume+" -e") // not waiting for more
		for _, part := range []string{"ce_id=" + first.CorrelationID, "ce_type=webhook.demo", "svc-trace-id=" + first.TraceID, `"eventKey":"webhook.demo"`} {
			if !strings.Contains(stdout, part) {
				t.Errorf("%s is not in %q: %v\n%s", part, stdout, err, stderr)
			}
		}
	})
	t.Run("in a group that goes on where it was, also after a restart", func(t *testing.T) {
		read := func(want ...result) {
			t.Helper()
			client, _, group := kcatLine(t, s)
			stdout, stderr, err := bash(t, nil, client+" -e -f '%h\n' "+group)
			got := strings.Count(stdout, "ce_id=")
			if err != nil || got != len(want) {
				t.Fatalf("read %d records, want %d: %v\n%s\n%s", got, len(want), err, stdout, stderr)
			}
			for _, call := range want {
				if !strings.Contains(stdout, "ce_id="+call.CorrelationID) {
					t.Errorf("call %s is not in %q", call.TraceID, stdout)
				}
			}
		}
		read(first)
		second := s.called(hook.UUID, asJSON, `{"n":2}`)
		read(second)
		s.restart()
		third := s.called(hook.UUID, asJSON, `{"n":3}`)
		read(third)
	})
	t.Run("is refused when it writes", func(t *testing.T) {
		before := countWithKcat(t, s, "svc.event.webhook.demo")
		client, _, _ := kcatLine(t, s)
		_, stderr, err := bash(t, nil, "echo intruder | "+client+" -P -t svc.event.webhook.demo")
		if err == nil || !strings.Contains(stderr, "authorization failed") {
			t.Errorf("%v: %s", err, stderr)
		}
		if after := countWithKcat(t, s, "svc.event.webhook.demo"); before != 3 || after != before {
			t.Errorf("%d records before, %d after", before, after)
		}
	})
	t.Run("does not see the service's own topics", func(t *testing.T) {
		client, _, _ := kcatLine(t, s)
		stdout, stderr, err := bash(t, nil, client+" -L")
		if err != nil || !strings.Contains(stdout, "svc.event.webhook.demo") || !strings.Contains(stdout, "svc.call") {
			t.Fatalf("%v\n%s\n%s", err, stdout, stderr)
		}
		for _, own := range []string{"svc.command", "svc.access", "svc.session"} {
			if strings.Contains(stdout, own) {
				t.Errorf("it sees %s", own)
			}
		}
	})
}

// countWithKcat is how many records a topic has.
func countWithKcat(t *testing.T, s *service, topic string) int {
	t.Helper()
	client, _, _ := kcatLine(t, s)
	stdout, stderr, err := bash(t, nil, client+" -C -t "+topic+" -o beginning -e -q -f '%o\n'")
	if err != nil {
		t.Fatalf("%v\n%s", err, stderr)
	}
	return len(strings.Fields(stdout))
}

func TestThePasswordOfTheReader(t *testing.T) {
	t.Run("is made once, for its owner alone", func(t *testing.T) {
		s := start(t, withWindow)
		info, err := os.Stat(readerFile(s))
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Fatalf("%v, %v", info, err)
		}
		before, err := os.ReadFile(readerFile(s))
		if err != nil || len(before) < 20 || strings.Contains(s.out.String()+s.logs.String(), strings.TrimSpace(string(before))) {
			t.Fatalf("a password of %d characters: %v\n%s", len(before), err, s.out)
		}
		s.restart()
		if after, err := os.ReadFile(readerFile(s)); err != nil || !bytes.Equal(after, before) {
			t.Errorf("a restart made another one: %v", err)
		}
	})
	t.Run("is the operator's where there is one", func(t *testing.T) {
		s := startEmbedded(t)
		if _, err := os.Stat(readerFile(s)); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("another one was made: %v", err)
		}
		if text := s.out.String(); !strings.Contains(text, `sasl.password="$HOOKLOG_EMBEDDED_READER_PASSWORD"`) || strings.Contains(text, readerPassword) {
			t.Errorf("printed %s", text)
		}
	})
}

func TestTheWindowIsOffUnlessAskedFor(t *testing.T) {
	s := start(t, func(c *settings.Config) { c.EmbeddedReaderPassword = secret.NewPassword(readerPassword) })
	if s.app.WindowAddr() != nil || strings.Contains(s.out.String(), "kcat") {
		t.Errorf("it is open at %v\n%s", s.app.WindowAddr(), s.out)
	}
	if _, err := os.Stat(readerFile(s)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it has a password: %v", err)
	}
	s.send(http.MethodGet, "/readyz", nil).want(http.StatusOK)
}
