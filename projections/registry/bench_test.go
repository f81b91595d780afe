package registry_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	domain "hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/projections/projectiontest"
	"hooklog/projections/registry"
)

// BenchmarkFold folds creations of webhooks.
func BenchmarkFold(b *testing.B) {
	commands := make([]domain.Command, b.N)
	for i := range commands {
		commands[i] = create(fmt.Sprint("c", i), i, fmt.Sprint("webhook.k", i))
	}
	records := encode(commands...)
	i := start(b)
	b.ReportAllocs()
	b.ResetTimer()
	if err := i.runner.Wait(b.Context(), i.log.Append(records...)); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkListeners asks who listens to an event, as every call does.
func BenchmarkListeners(b *testing.B) {
	ask := func(r *registry.Registry, want int) func(b *testing.B) {
		return func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if len(r.Listeners("webhook.k7")) != want {
					b.Fatal("other listeners than were put")
				}
			}
		}
	}
	i := start(b)
	b.Run("with no pipelines", ask(i.Registry, 0))
	puts := make([]domain.Command, 10_000)
	for n := range puts {
		puts[n] = putPipeline(fmt.Sprint("p", n), fmt.Sprint("n", n), fmt.Sprint("webhook.k", n))
	}
	i.fold(puts...)
	b.Run("with 10000 pipelines", ask(i.Registry, 1))
	i.fold(putPipeline("w", "all", "webhook.*"))
	b.Run("with a wildcard among them", ask(i.Registry, 2))
}

// BenchmarkTokenLookup finds the gates of random tokens among a few and among
// many, in turns, so that whatever else the machine does meets both alike. A turn
// is short and the median counts, for the same reason.
func BenchmarkTokenLookup(b *testing.B) {
	if testing.Short() {
		b.Skip("makes a million webhooks")
	}
	few, many := newLookup(b, 10), newLookup(b, 1_000_000)
	b.ReportAllocs()
	for b.Loop() {
		few.turn(b)
		many.turn(b)
	}
	b.ReportMetric(few.median()/turn, "ns/lookup_10")
	b.ReportMetric(many.median()/turn, "ns/lookup_1M")
	b.ReportMetric(many.median()/few.median(), "ratio_1M_vs_10")
}

const (
	turn    = 1000
	lookups = 1 << 20
)

// lookup is a registry and the tokens that are asked of it, end to end in the
// order in which they are: a caller's token was just read, too.
type lookup struct {
	registry *registry.Registry
	tokens   string
	at       int
	turns    []time.Duration
}

func newLookup(b *testing.B, webhooks int) *lookup {
	b.Helper()
	r, err := registry.New(projectiontest.OpenStore(b))
	if err != nil {
		b.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, uint64(webhooks)))
	all := make([]webhook.Webhook, webhooks)
	tokens := make([]string, webhooks)
	for i := range all {
		tokens[i] = fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", rng.Uint32(), rng.UintN(1<<16), rng.UintN(1<<12), rng.UintN(1<<12), rng.Uint64N(1<<48))
		token, err := secret.ParseToken(tokens[i])
		if err != nil {
			b.Fatal(err)
		}
		all[i] = webhook.Webhook{
			Token:    webhook.TokenRef{Hash: token.Hash(), Last6: token.Last6()},
			EventKey: fmt.Sprint("webhook.orders.shop-", i), PayloadType: webhook.Base64, MaxPayloadLength: 1 + i, Enabled: true,
		}
	}
	r.OpenGates(all)
	asked := make([]byte, 0, lookups*secret.TokenLength)
	for range lookups {
		asked = append(asked, tokens[rng.IntN(webhooks)]...)
	}
	return &lookup{registry: r, tokens: string(asked)}
}

// turn asks for the next tokens.
func (l *lookup) turn(b *testing.B) {
	begin := time.Now()
	for range turn {
		token, err := secret.ParseToken(l.tokens[l.at : l.at+secret.TokenLength])
		if err != nil {
			b.Fatal(err)
		}
		if gate, ok := l.registry.Gate(token.Hash()); !ok || gate.MaxPayloadLength == 0 {
			b.Fatal("a token has no gate")
		}
		l.at = (l.at + secret.TokenLength) % len(l.tokens)
	}
	l.turns = append(l.turns, time.Since(begin))
}

// median is the median duration of a turn in nanoseconds.
func (l *lookup) median() float64 {
	slices.Sort(l.turns)
	return float64(l.turns[len(l.turns)/2])
}
