package registry_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hooklog/domain/catalog"
	domain "hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

var bySealedText = cmp.Comparer(func(a, b secret.Sealed) bool { return a.Reveal() == b.Reveal() })

// state is what the webhooks were behind a record.
type state map[secret.TokenHash]webhook.Webhook

// life draws a history of few webhooks, in which several commands may be of one
// moment and a clock may be behind.
func life(t *rapid.T) []domain.Command {
	commands := make([]domain.Command, rapid.IntRange(1, 60).Draw(t, "commands"))
	for i := range commands {
		n := rapid.IntRange(1, 3).Draw(t, "webhook")
		id, key := fmt.Sprint("c", i), fmt.Sprintf("webhook.%d", rapid.IntRange(1, 4).Draw(t, "key"))
		c := rapid.SampledFrom([]domain.Command{
			create(id, n, key), create(id, n, key), edit(id, n, webhook.Put{EventKey: &key}), enable(id, n, i%2 == 0), remove(id, n),
			command(id, catalog.WebhookGet, nil),
		}).Draw(t, "command")
		c.Time = monday.Add(time.Duration(max(0, i*3+rapid.IntRange(-6, 6).Draw(t, "drift"))) * time.Millisecond)
		commands[i] = c
	}
	return commands
}

// For 100 random moments in a random history, asked for by offset and by time, a
// webhook is what was recorded for that moment.
func TestAWebhookIsShownAsItWasAtAnyMoment(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		commands := life(rt)
		i := start(t)
		states := make([]state, len(commands))
		times := make([]time.Time, len(commands))
		last := time.Time{}
		for n, c := range commands {
			i.fold(c)
			states[n] = i.state()
			if c.Time.After(last) {
				last = c.Time
			}
			times[n] = last
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 0))
		for n := range 100 {
			hash, offset := ref(1+random.IntN(3)).Hash, random.IntN(len(commands))
			at := webhook.Moment{Offset: int64(offset)}
			if n%2 == 0 { // a time: what its last command left
				at = webhook.Moment{Time: monday.Add(time.Duration(random.Int64N(int64(last.Sub(monday)) + 1))).Truncate(time.Millisecond)}
				for offset = len(commands) - 1; offset >= 0 && times[offset].After(at.Time); offset-- {
				}
			}
			var want *webhook.Webhook
			if offset >= 0 {
				if w, ok := states[offset][hash]; ok {
					want = &w
				}
			}
			if diff := cmp.Diff(want, i.asked(fmt.Sprint("q", n), hash, at), bySealedText); diff != "" {
				rt.Fatalf("at %+v (-recorded +answered):\n%s", at, diff)
			}
		}
	})
}

func (i *instance) state() state {
	i.t.Helper()
	found, err := i.Webhooks("", 0, all)
	if err != nil {
		i.t.Fatal(err)
	}
	s := state{}
	for _, w := range found {
		s[w.Token.Hash] = w
	}
	return s
}

// asked is what a webhook.get of the moment comes to.
func (i *instance) asked(id string, hash secret.TokenHash, at webhook.Moment) *webhook.Webhook {
	i.t.Helper()
	c := command(id, catalog.WebhookGet, webhook.Get{Token: webhook.TokenRef{Hash: hash}, At: &at})
	c.Time = monday.Add(time.Hour)
	outcomes, stop := i.Await(c.ID, c.Fingerprint)
	defer stop()
	i.fold(c)
	outcome := <-outcomes
	if outcome.Fault != "" && outcome.Fault != "not-found" {
		i.t.Fatalf("at %+v: %s", at, outcome.Detail)
	}
	return outcome.Webhook
}

func TestThePastIsSeenWithinABatch(t *testing.T) {
	i := start(t)
	first, second := webhook.Moment{Offset: 0}, webhook.Moment{Offset: 1}
	asks := []domain.Command{
		command("g1", catalog.WebhookGet, webhook.Get{Token: ref(1), At: &first}),
		command("g2", catalog.WebhookGet, webhook.Get{Token: ref(1), At: &second}),
	}
	var outcomes []<-chan domain.Outcome
	for _, c := range asks {
		outcome, stop := i.Await(c.ID, c.Fingerprint)
		t.Cleanup(stop)
		outcomes = append(outcomes, outcome)
	}
	i.fold(create("c", 1, "webhook.a"), enable("off", 1, false), remove("d", 1), asks[0], asks[1])
	for n, enabled := range []bool{true, false} {
		if w := (<-outcomes[n]).Webhook; w == nil || w.Enabled != enabled {
			t.Errorf("at %d the webhook was %+v", n, w)
		}
	}
}
