package e2e_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/cmd/settings"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/store"
)

// Two instances fold the same log, and so agree.
func TestTwoInstances(t *testing.T) {
	one, two := startTwo(t, func(*settings.Config) {}, func(c *settings.Config) {
		c.ResultLife, c.ResultDeadline = time.Minute, time.Hour
		c.PollHold, c.ResultWindow = time.Second, 0
	})
	t.Run("a webhook made on one is served by the other", func(t *testing.T) {
		one, two := one.in(t), two.in(t)
		hook := one.put("eventKey=webhook.shared")
		call := two.called(hook.UUID, asText, "hello")
		var polled result
		one.poll(call.CorrelationID, "").want(http.StatusOK).json(&polled)
		if polled.TraceID != call.TraceID {
			t.Errorf("polled %+v of the call %+v", polled, call)
		}
		want := hook
		want.WebhookURL = two.app.BaseURL() + receivePath + "?token=" + hook.UUID
		var got webhook
		two.command("webhook.get", "uuid="+hook.UUID).want(http.StatusOK).json(&got)
		if got != want {
			t.Errorf("the other instance answers %+v, want %+v", got, want)
		}
	})
	t.Run("a webhook edited on one is so on the other; once a deletion has answered, no instance takes the token", func(t *testing.T) {
		one, two := one.in(t), two.in(t)
		hook := one.put("eventKey=webhook.changed")
		if got := two.put("uuid="+hook.UUID, "version=1", "eventKey=webhook.moved"); got.Version != 2 {
			t.Errorf("edited to %+v", got)
		}
		one.command("webhook.put", "uuid="+hook.UUID, "version=1").refused(http.StatusConflict)
		began := time.Now()
		one.command("webhook.delete", "uuid="+hook.UUID).want(http.StatusOK)
		if took := time.Since(began); took < fold.LeaseLife {
			t.Errorf("answered after %s, when the other instance may not know it yet", took)
		}
		two.sameAsUnknown(hook.UUID)
		two.command("webhook.get", "uuid="+hook.UUID).refused(http.StatusNotFound)
	})
	t.Run("a repeat at the other instance gets the first outcome", func(t *testing.T) {
		var first, again webhook
		one.in(t).repeat("once", "webhook.put", "eventKey=webhook.once").want(http.StatusOK).json(&first)
		two.in(t).repeat("once", "webhook.put", "eventKey=webhook.once").want(http.StatusOK).json(&again)
		if again.UUID != first.UUID {
			t.Errorf("got %s after %s", again.UUID, first.UUID)
		}
	})
	t.Run("of 32 concurrent creations of one eventKey exactly one wins, the others get 409, and both agree", func(t *testing.T) {
		race(t, one.in(t), two.in(t))
	})
	t.Run("the fold of one log under two different settings gives equal dumps", func(t *testing.T) { equalDumps(t, one, two) })
}

func race(t *testing.T, one, two *service) {
	for _, s := range []*service{one, two} {
		s.command("webhook.list").want(http.StatusOK) // so that the password is known, and the race is about the key
	}
	answers := make([]answer, 32)
	var sending sync.WaitGroup
	for i := range answers {
		sending.Go(func() { answers[i] = []*service{one, two}[i%2].command("webhook.put", "eventKey=webhook.raced") })
	}
	sending.Wait()
	var winners []webhook
	for _, a := range answers {
		if a.status != http.StatusOK {
			a.refused(http.StatusConflict)
			continue
		}
		var w webhook
		a.json(&w)
		winners = append(winners, w)
	}
	if len(winners) != 1 {
		t.Fatalf("%d of 32 won: %+v", len(winners), winners)
	}
	for _, s := range []*service{one, two} {
		var all []webhook
		s.command("webhook.get").want(http.StatusOK).json(&all)
		var found []string
		for _, w := range all {
			if w.EventKey == "webhook.raced" {
				found = append(found, w.UUID)
			}
		}
		if len(found) != 1 || found[0] != winners[0].UUID {
			t.Errorf("%s knows %v, and %s won", s.app.BaseURL(), found, winners[0].UUID)
		}
		s.called(winners[0].UUID, asText, "the winner")
	}
}

// equalDumps ends both instances. What no release can decode is part of the fold.
func equalDumps(t *testing.T, one, two *service) {
	one.in(t).passwordGrant("admin", adminPassword).granted()
	one.in(t).called(one.in(t).listening("webhook.dumped", "dumped", "").UUID, asText, "x")
	for _, topic := range []string{record.TopicCommand, record.TopicCall, record.TopicSession} {
		one.in(t).produce(&kgo.Record{Topic: topic, Value: []byte("neither command nor call nor wish")})
	}
	both := []*service{one, two}
	for _, s := range both {
		s.stop() // which may write the last records
	}
	for _, s := range both {
		s.start() // which folds all that is on the log
	}
	var dumps []string
	for _, s := range both {
		s.stop()
		dumps = append(dumps, dump(t, s.cfg.StateDir()))
	}
	for _, part := range []string{"registry\\x00webhook", "registry\\x00outcome", "results\\x00", "runs\\x00", "traces\\x00", "sessions\\x00", "checkpoint\\x00", "parked\\x00registry", "parked\\x00calls", "parked\\x00sessions"} {
		if !strings.Contains(dumps[0], part) {
			t.Errorf("the dump has no %s", part)
		}
	}
	if dumps[0] != dumps[1] {
		t.Errorf("the first dump:\n%s\nthe second:\n%s", dumps[0], dumps[1])
	}
}

func dump(t *testing.T, dir string) string {
	t.Helper()
	rows, err := store.Open(dir, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := rows.Dump(&b); err != nil {
		t.Error(err)
	}
	if err := rows.Close(); err != nil {
		t.Error(err)
	}
	return b.String()
}
