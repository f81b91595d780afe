package e2e_test

import (
	"bytes"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// What a webhook is, what its fields may hold, and what an edit changes.
func TestWebhookRecord(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start()
		t.Run("the answer is the whole record, with payloadType base64, maxPayloadLength 512000, enabled and version 1", func(t *testing.T) {
			wholeRecord(t, s.in(t))
		})
		t.Run("the token is a new UUID for each webhook", func(t *testing.T) {
			s := s.in(t)
			one, two := s.put("eventKey=webhook.token.one"), s.put("eventKey=webhook.token.two")
			if !isUUID.MatchString(one.UUID) || one.UUID == two.UUID {
				t.Errorf("got %s and %s", one.UUID, two.UUID)
			}
		})
		t.Run("maxPayloadLength lies between 1 and 4194304", func(t *testing.T) { payloadLengths(t, s.in(t)) })
		t.Run("payloadType is raw, base64 or ignore", func(t *testing.T) { payloadTypes(t, s.in(t)) })
		t.Run("payloadHandling is an input alias of payloadType", func(t *testing.T) { payloadHandling(t, s.in(t)) })
		t.Run("eventKey is webhook. and groups of lower-case letters, digits and hyphens, at most 239 characters", func(t *testing.T) {
			eventKeys(t, s.in(t))
		})
		t.Run("eventKey is unique among living webhooks", func(t *testing.T) { uniqueKeys(t, s.in(t)) })
		t.Run("an edit keeps what it omits, and never changes the uuid", func(t *testing.T) { edits(t, s.in(t)) })
		t.Run("version is the expected version of an edit; a mismatch is answered 409", func(t *testing.T) { versions(t, s.in(t)) })
		t.Run("an unknown uuid is answered 404, never a silent creation", func(t *testing.T) {
			s := s.in(t)
			before := s.command("webhook.get").want(http.StatusOK).body
			nobody := "uuid=" + uuid.NewString()
			s.command("webhook.put", nobody, "eventKey=webhook.silent").refused(http.StatusNotFound)
			s.command("webhook.put", nobody).refused(http.StatusNotFound)
			s.command("webhook.get", nobody).refused(http.StatusNotFound)
			s.command("webhook.delete", nobody).refused(http.StatusNotFound)
			if after := s.command("webhook.get").want(http.StatusOK).body; !bytes.Equal(after, before) {
				t.Errorf("the webhooks were\n%s\nand are\n%s", before, after)
			}
		})
		t.Run("a uuid that is no lower-case UUID is answered 400", func(t *testing.T) {
			s := s.in(t)
			upper := strings.ToUpper(s.put("eventKey=webhook.upper").UUID)
			for _, wrong := range []string{"", "webhook.upper", upper, uuid.NewString() + " "} {
				for _, command := range []string{"webhook.put", "webhook.get", "webhook.delete"} {
					s.command(command, "uuid="+wrong).refused(http.StatusBadRequest)
				}
			}
		})
	})
}

var isUUID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

func wholeRecord(t *testing.T, s *service) {
	earliest := s.clock.now().Truncate(time.Millisecond)
	a := s.command("webhook.put", "eventKey=webhook.record").want(http.StatusOK)
	if got := a.header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
	want := []string{
		"created", "createdBy", "enabled", "eventKey", "maxPayloadLength", "payloadType",
		"updated", "updatedBy", "uuid", "version", "webhookUrl",
	}
	if got := slices.Sorted(maps.Keys(a.object())); !slices.Equal(got, want) {
		t.Errorf("fields %v, want %v", got, want)
	}
	var got webhook
	a.json(&got)
	if got.Created.Before(earliest) || got.Created.After(s.clock.now()) || got.Created.Location() != time.UTC {
		t.Errorf("created %s, which is not now in UTC", got.Created)
	}
	if got != (webhook{
		EventKey: "webhook.record", UUID: got.UUID,
		WebhookURL:  s.app.BaseURL() + "/api/v3/command/webhook.receive?token=" + got.UUID,
		PayloadType: "base64", MaxPayloadLength: 512000, Enabled: true,
		Created: got.Created, CreatedBy: "admin", Updated: got.Created, UpdatedBy: "admin", Version: 1,
	}) {
		t.Errorf("got %+v", got)
	}
}

func payloadLengths(t *testing.T, s *service) {
	hook := s.put("eventKey=webhook.length")
	for text, want := range map[string]int{"1": 1, "512000": 512000, "4194303": 4194303, "4194304": 4194304} {
		if got := s.put("uuid="+hook.UUID, "maxPayloadLength="+text).MaxPayloadLength; got != want {
			t.Errorf("an edit to %s gives %d", text, got)
		}
		if got := s.put("eventKey=webhook.length."+text, "maxPayloadLength="+text).MaxPayloadLength; got != want {
			t.Errorf("a creation with %s gives %d", text, got)
		}
	}
	for _, text := range []string{"0", "-1", "4194305", "9223372036854775808", "1.5", "1e3", "many", ""} {
		s.command("webhook.put", "uuid="+hook.UUID, "maxPayloadLength="+text).refused(http.StatusBadRequest)
		s.command("webhook.put", "eventKey=webhook.length.wrong", "maxPayloadLength="+text).refused(http.StatusBadRequest)
	}
}

func payloadTypes(t *testing.T, s *service) {
	for _, kind := range []string{"raw", "base64", "ignore"} {
		if got := s.put("eventKey=webhook.type."+kind, "payloadType="+kind).PayloadType; got != kind {
			t.Errorf("payloadType=%s gives %s", kind, got)
		}
	}
	for _, kind := range []string{"", "RAW", "text"} {
		s.command("webhook.put", "eventKey=webhook.type.wrong", "payloadType="+kind).refused(http.StatusBadRequest)
		s.command("webhook.put", "eventKey=webhook.type.wrong", "payloadHandling="+kind).refused(http.StatusBadRequest)
	}
}

func payloadHandling(t *testing.T, s *service) {
	a := s.command("webhook.put", "eventKey=webhook.alias", "payloadHandling=raw").want(http.StatusOK)
	var hook webhook
	a.json(&hook)
	if hook.PayloadType != "raw" {
		t.Errorf("payloadHandling=raw gives payloadType %s", hook.PayloadType)
	}
	got := s.command("webhook.get", "uuid="+hook.UUID).want(http.StatusOK)
	for _, shown := range []answer{a, got, s.command("webhook.list").want(http.StatusOK)} {
		if strings.Contains(string(shown.body), "payloadHandling") {
			t.Errorf("payloadHandling is returned: %s", shown.body)
		}
	}
	if both := s.put("uuid="+hook.UUID, "payloadType=ignore", "payloadHandling=ignore"); both.PayloadType != "ignore" {
		t.Errorf("both names with one value give %s", both.PayloadType)
	}
	s.command("webhook.put", "uuid="+hook.UUID, "payloadType=raw", "payloadHandling=ignore").refused(http.StatusBadRequest)
}

func eventKeys(t *testing.T, s *service) {
	longest := "webhook." + strings.Repeat("k", 239-len("webhook."))
	for _, key := range []string{"webhook.a", "webhook.0", "webhook.a-b.c-", "webhook.x.y.z.1", longest} {
		hook := s.put("eventKey=" + key)
		if hook.EventKey != key {
			t.Errorf("%s became %s", key, hook.EventKey)
		}
		s.called(hook.UUID, asText, "as long as its topic")
	}
	if got := len(s.events(longest)); got != 1 {
		t.Errorf("%d events with the longest key", got)
	}
	for _, key := range []string{
		"", "webhook", "webhook.", "webhook..a", "webhook.a.", "webhook.-a", "Webhook.a", "webhook.A", "webhook.a_b",
		"webhook.a b", "webhook.ä", "webhook.a\n", "other.a", "xwebhook.a", "svc.event.webhook.a", longest + "k",
	} {
		s.command("webhook.put", "eventKey="+key).refused(http.StatusBadRequest)
	}
	s.command("webhook.put").refused(http.StatusBadRequest)
	s.command("webhook.put", "payloadType=raw").refused(http.StatusBadRequest)
}

func uniqueKeys(t *testing.T, s *service) {
	first := s.put("eventKey=webhook.unique", "enabled=false")
	s.command("webhook.put", "eventKey=webhook.unique").refused(http.StatusConflict)
	other := s.put("eventKey=webhook.unique.other")
	s.command("webhook.put", "uuid="+other.UUID, "eventKey=webhook.unique", "payloadType=raw").refused(http.StatusConflict)
	var now webhook
	s.command("webhook.get", "uuid="+other.UUID).want(http.StatusOK).json(&now)
	if now != other {
		t.Errorf("a refused edit changed %+v to %+v", other, now)
	}
	if same := s.put("uuid="+first.UUID, "eventKey=webhook.unique"); same.Version != 2 {
		t.Errorf("an edit to its own key gives %+v", same)
	}
	s.put("uuid="+first.UUID, "eventKey=webhook.unique.moved")
	if moved := s.put("uuid="+other.UUID, "eventKey=webhook.unique"); moved.EventKey != "webhook.unique" {
		t.Errorf("a key that was left is not free: %+v", moved)
	}
}

func edits(t *testing.T, s *service) {
	want := s.put("eventKey=webhook.edit", "payloadType=raw", "maxPayloadLength=1000", "enabled=false")
	for _, edit := range []struct {
		param string
		set   func()
	}{
		{"eventKey=webhook.edited", func() { want.EventKey = "webhook.edited" }},
		{"payloadType=ignore", func() { want.PayloadType = "ignore" }},
		{"maxPayloadLength=2000", func() { want.MaxPayloadLength = 2000 }},
		{"enabled=true", func() { want.Enabled = true }},
		{"version=5", func() {}},
	} {
		s.clock.forward(time.Second)
		got := s.put("uuid="+want.UUID, edit.param)
		if moved := got.Updated.Sub(want.Updated); moved < time.Second {
			t.Errorf("%s: updated moved by %s", edit.param, moved)
		}
		edit.set()
		want.Updated = got.Updated
		want.Version++
		if got != want {
			t.Errorf("%s gives\n%+v, want\n%+v", edit.param, got, want)
		}
	}
	s.called(want.UUID, asText, "the token still opens it")
	if got := len(s.events("webhook.edited")); got != 1 {
		t.Errorf("%d events under the new key", got)
	}
}

func versions(t *testing.T, s *service) {
	hook := s.put("eventKey=webhook.version")
	if got := s.put("uuid="+hook.UUID, "version=1", "payloadType=raw"); got.Version != 2 {
		t.Errorf("version %d after one edit", got.Version)
	}
	for _, stale := range []string{"1", "3", "0", "-1"} {
		s.command("webhook.put", "uuid="+hook.UUID, "version="+stale, "payloadType=ignore").refused(http.StatusConflict)
	}
	s.command("webhook.put", "uuid="+hook.UUID, "version=two").refused(http.StatusBadRequest)
	s.command("webhook.put", "eventKey=webhook.version.new", "version=1").refused(http.StatusBadRequest)
	if got := s.put("uuid=" + hook.UUID); got.Version != 3 || got.PayloadType != "raw" {
		t.Errorf("refused edits left %+v", got)
	}
}
