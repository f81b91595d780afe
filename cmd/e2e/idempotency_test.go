package e2e_test

import (
	"bytes"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// repeat sends a command with an Idempotency-Key, as a client does that lost the
// first answer.
func (s *service) repeat(key, name, params string) answer {
	s.t.Helper()
	return s.run(http.MethodPost, name, asForm, params, "Idempotency-Key", key)
}

// same fails the test unless both answers are 200 with the same body.
func same(t *testing.T, first, again answer) {
	t.Helper()
	if first.want(http.StatusOK); again.status != first.status || !bytes.Equal(again.body, first.body) {
		t.Errorf("answered %d %s\nafter %d %s", again.status, again.body, first.status, first.body)
	}
}

// A command is carried out once, however often it is sent.
func TestIdempotencyKey(t *testing.T) {
	s := startOnOne(t, behindProxy(t)).reachPublicURL()
	const creation = "eventKey=webhook.once&payloadType=raw"
	first := s.repeat("create-1", "webhook.put", creation)
	t.Run("a repeat gets the first outcome, with the same uuid", func(t *testing.T) {
		same(t, first, s.in(t).repeat("create-1", "webhook.put", creation))
	})
	t.Run("a repeat is the same parameters, in whatever form", func(t *testing.T) {
		s := s.in(t)
		same(t, first, s.repeat("create-1", "webhook.put?eventKey=webhook.once", "payloadHandling=raw"))
		same(t, first, s.run(http.MethodPost, "webhook.put", asJSON, `{"payloadType":"raw","eventKey":"webhook.once"}`,
			"Idempotency-Key", "create-1"))
	})
	t.Run("the same key with other parameters is answered 409", func(t *testing.T) {
		s := s.in(t)
		s.repeat("create-1", "webhook.put", "eventKey=webhook.twice&payloadType=raw").refused(http.StatusConflict)
		s.repeat("create-1", "webhook.put", "eventKey=webhook.once").refused(http.StatusConflict)
		s.repeat("create-1", "webhook.put", creation+"&enabled=true").refused(http.StatusConflict)
		same(t, first, s.repeat("create-1", "webhook.put", creation))
	})
	t.Run("another key, and none, is another command", func(t *testing.T) {
		s := s.in(t)
		s.repeat("create-2", "webhook.put", creation).refused(http.StatusConflict)
		s.command("webhook.put", "eventKey=webhook.once", "payloadType=raw").refused(http.StatusConflict)
	})
	t.Run("a repeat gets the first outcome also when it was a refusal that would not be one now", func(t *testing.T) {
		s := s.in(t)
		holder := s.put("eventKey=webhook.held")
		s.repeat("refused", "webhook.put", "eventKey=webhook.held").refused(http.StatusConflict)
		s.command("webhook.delete", "uuid="+holder.UUID).want(http.StatusOK)
		s.repeat("refused", "webhook.put", "eventKey=webhook.held").refused(http.StatusConflict)
		s.repeat("not refused", "webhook.put", "eventKey=webhook.held").refused(http.StatusBadRequest)
		s.repeat("not-refused", "webhook.put", "eventKey=webhook.held").want(http.StatusOK)
	})
	t.Run("the same key on another command is independent, and a repeated deletion answers the last state", func(t *testing.T) {
		s := s.in(t)
		hook := s.put("eventKey=webhook.deleted.once")
		s.repeat("create-1", "webhook.get", "uuid="+hook.UUID).want(http.StatusOK)
		deleted := s.repeat("create-1", "webhook.delete", "uuid="+hook.UUID)
		same(t, deleted, s.repeat("create-1", "webhook.delete", "uuid="+hook.UUID))
		s.command("webhook.delete", "uuid="+hook.UUID).refused(http.StatusNotFound)
	})
	t.Run("a repeated edit counts once", func(t *testing.T) {
		s := s.in(t)
		hook := s.put("eventKey=webhook.edited.once")
		edit := "uuid=" + hook.UUID + "&maxPayloadLength=9"
		edited := s.repeat("edit", "webhook.put", edit)
		same(t, edited, s.repeat("edit", "webhook.put", edit))
		if got := s.put("uuid=" + hook.UUID); got.Version != 3 {
			t.Errorf("version %d after two edits", got.Version)
		}
	})
	t.Run("concurrent repeats get one outcome", func(t *testing.T) { concurrentRepeats(t, s.in(t)) })
	t.Run("a key is 1 to 255 visible ASCII characters", func(t *testing.T) {
		s := s.in(t)
		longest := strings.Repeat("k", 255)
		for _, wrong := range []string{"", "a b", "ä", longest + "k"} {
			s.repeat(wrong, "webhook.put", "eventKey=webhook.wrong").refused(http.StatusBadRequest)
		}
		s.run(http.MethodPost, "webhook.put?eventKey=webhook.wrong", "", "", "Idempotency-Key", "a", "Idempotency-Key", "b").
			refused(http.StatusBadRequest)
		same(t, s.repeat(longest, "webhook.put", "eventKey=webhook.longest"), s.repeat(longest, "webhook.put", "eventKey=webhook.longest"))
	})
	t.Run("a repeat gets the first outcome also after a restart", func(t *testing.T) {
		s.restart()
		same(t, first, s.repeat("create-1", "webhook.put", creation))
		s.repeat("create-1", "webhook.put", "eventKey=webhook.twice").refused(http.StatusConflict)
	})
}

func concurrentRepeats(t *testing.T, s *service) {
	answers := make([]answer, 16)
	var sending sync.WaitGroup
	for i := range answers {
		sending.Go(func() { answers[i] = s.repeat("at-once", "webhook.put", "eventKey=webhook.at-once") })
	}
	sending.Wait()
	for _, a := range answers[1:] {
		same(t, answers[0], a)
	}
	if got := strings.Count(string(s.command("webhook.get").body), `"webhook.at-once"`); got != 1 {
		t.Errorf("%d webhooks were created", got)
	}
}
