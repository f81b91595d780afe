package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hooklog/cmd/settings"
)

// publicURL is how callers know a service that stands behind a proxy.
const publicURL = "http://hooks.example.com"

// behindProxy gives the service a public name, and an address that stays the
// same over restarts.
func behindProxy(t *testing.T) option {
	t.Helper()
	address := freeAddress(t)
	return func(c *settings.Config) { c.BaseURL, c.Listen = publicURL, address }
}

// freeAddress is below the ports that systems give to whoever asks for any, so
// that nobody takes it while the service is down.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", 20000+rand.IntN(10000)))
		if err != nil {
			continue
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return l.Addr().String()
	}
	t.Fatal("no port is free")
	return ""
}

// reachPublicURL plays the proxy: whatever the name in a URL, it dials the
// service.
func (s *service) reachPublicURL() *service {
	s.http.Transport.(*http.Transport).DialContext = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, s.cfg.Listen)
	}
	return s
}

// How a webhook is called, switched off, deleted, and found again.
func TestWebhookLife(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start(behindProxy(t)).reachPublicURL()
		var gone webhook
		t.Run("webhookUrl is built from the base URL, never from the Host header", func(t *testing.T) {
			a := s.in(t).run(http.MethodPost, "webhook.put?eventKey=webhook.host", "", "",
				"Host", "evil.example", "X-Forwarded-Host", "evil.example", "Forwarded", "host=evil.example")
			if got := a.want(http.StatusOK).object()["webhookUrl"].(string); !strings.HasPrefix(got, publicURL+"/api/v3/command/webhook.receive?token=") {
				t.Errorf("webhookUrl %s", got)
			}
		})
		t.Run("webhookUrl works as returned, by GET and by POST", func(t *testing.T) {
			s := s.in(t)
			url := s.put("eventKey=webhook.url").WebhookURL
			s.send(http.MethodGet, url, nil).want(http.StatusOK)
			s.send(http.MethodPost, url, strings.NewReader("{}"), "Content-Type", "application/json").want(http.StatusOK)
			if got := len(s.events("webhook.url")); got != 2 {
				t.Errorf("%d events", got)
			}
		})
		t.Run("enabled=false answers exactly like an unknown token, and keeps the token for later", func(t *testing.T) {
			s := s.in(t)
			hook := s.put("eventKey=webhook.switch")
			s.called(hook.UUID, asText, "on")
			s.put("uuid="+hook.UUID, "enabled=false")
			s.sameAsUnknown(hook.UUID)
			s.put("uuid="+hook.UUID, "enabled=true")
			s.called(hook.UUID, asText, "on again")
			if born := s.put("eventKey=webhook.switch.off", "enabled=false"); born.Enabled {
				t.Errorf("created %+v", born)
			} else {
				s.sameAsUnknown(born.UUID)
			}
		})
		t.Run("webhook.delete answers the last state; then nothing takes the token, and the eventKey is free", func(t *testing.T) {
			gone = deletion(t, s.in(t))
		})
		t.Run("webhooks and results are the same after a restart, and after DIR/state was deleted", func(t *testing.T) {
			survival(t, s, gone)
		})
	})
}

// sameAsUnknown fails the test unless a call with the token is answered as one
// with a token that never was.
func (s *service) sameAsUnknown(token string) {
	s.t.Helper()
	unknown := s.call(uuid.NewString(), asText, "x")
	unknown.refused(http.StatusNotFound)
	wantIdentical(s.t, unknown, s.call(token, asText, "x"))
}

func deletion(t *testing.T, s *service) (gone webhook) {
	s.put("eventKey=webhook.kept")
	hook := s.put("eventKey=webhook.gone", "payloadType=raw")
	s.called(hook.UUID, asText, "history")
	last := s.command("webhook.put", "uuid="+hook.UUID, "maxPayloadLength=7").want(http.StatusOK)
	if got := s.command("webhook.delete", "uuid="+hook.UUID).want(http.StatusOK); !bytes.Equal(got.body, last.body) {
		t.Errorf("deleted\n%s, want the last state\n%s", got.body, last.body)
	}
	s.sameAsUnknown(hook.UUID)
	for _, command := range []string{"webhook.get", "webhook.put", "webhook.delete"} {
		s.command(command, "uuid="+hook.UUID).refused(http.StatusNotFound)
	}
	if got := string(s.command("webhook.get").body); strings.Contains(got, "webhook.gone") || !strings.Contains(got, "webhook.kept") {
		t.Errorf("webhook.get answers %s", got)
	}
	if got := s.events("webhook.gone"); len(got) != 1 || got[0]["payload"] != "history" {
		t.Errorf("the history is %v", got)
	}
	again := s.put("eventKey=webhook.gone", "payloadType=raw")
	if again.UUID == hook.UUID || again.Version != 1 {
		t.Errorf("the key was created again as %+v", again)
	}
	s.called(again.UUID, asText, "new")
	s.sameAsUnknown(hook.UUID)
	payloads := map[any]bool{}
	for _, e := range s.events("webhook.gone") {
		payloads[e["payload"]] = true
	}
	if !payloads["history"] || !payloads["new"] || len(payloads) != 2 {
		t.Errorf("the topic holds %v", payloads)
	}
	return hook
}

func survival(t *testing.T, s *service, gone webhook) {
	hook := s.put("eventKey=webhook.survivor", "payloadType=raw", "maxPayloadLength=3")
	s.put("uuid="+hook.UUID, "enabled=false")
	s.put("uuid="+hook.UUID, "enabled=true")
	off := s.put("eventKey=webhook.survivor.off", "enabled=false")
	call := s.called(hook.UUID, asText, "abc")
	list := s.command("webhook.get").want(http.StatusOK).body
	if !json.Valid(list) || !strings.Contains(string(list), hook.UUID) {
		t.Fatalf("webhook.get answers %s", list)
	}
	result := s.poll(call.CorrelationID, "").want(http.StatusOK).body

	same := func(after string) {
		if got := s.command("webhook.get").want(http.StatusOK).body; !bytes.Equal(got, list) {
			t.Errorf("after %s webhook.get answers\n%s\nin place of\n%s", after, got, list)
		}
		if got := s.poll(call.CorrelationID, "").want(http.StatusOK).body; !bytes.Equal(got, result) {
			t.Errorf("after %s the result is\n%s\nin place of\n%s", after, got, result)
		}
		s.called(hook.UUID, asText, "abc")
		wantProblem(t, s.call(hook.UUID, asText, "abcd"), http.StatusRequestEntityTooLarge, true)
		s.sameAsUnknown(off.UUID)
		s.sameAsUnknown(gone.UUID)
	}
	s.restart()
	same("a restart")
	s.stop()
	if err := os.RemoveAll(s.cfg.StateDir()); err != nil {
		t.Fatal(err)
	}
	s.start()
	same("a new fold")
}
