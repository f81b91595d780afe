package registry_test

import (
	"fmt"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/projections/registry"
)

// crowded gives hashes that lie as close together as hashes can: in one shard,
// wanting the same few slots, and different only at the end of what is compared.
func crowded(n int) (h secret.TokenHash) {
	h[0], h[1], h[19] = 7, byte(n%3)*127, byte(n)
	return h
}

// What is open is held against a map, through many rebuilds of one shard.
func TestGatesAreThoseOfTheLastChanges(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := &registry.Registry{}
		want := map[int]webhook.Gate{}
		for range rapid.IntRange(1, 400).Draw(rt, "changes") {
			n := rapid.IntRange(0, 60).Draw(rt, "webhook")
			w := webhook.Webhook{
				Token:            webhook.TokenRef{Hash: crowded(n), Last6: fmt.Sprintf("%06d", n)},
				EventKey:         fmt.Sprintf("webhook.k%d", rapid.IntRange(0, 9999).Draw(rt, "key")),
				PayloadType:      webhook.PayloadType(rapid.SampledFrom(webhook.PayloadTypes).Draw(rt, "payload type")),
				MaxPayloadLength: rapid.IntRange(1, webhook.MaxPayloadLength).Draw(rt, "length"),
				Enabled:          rapid.IntRange(0, 2).Draw(rt, "enabled") > 0,
			}
			r.OpenGates([]webhook.Webhook{w})
			delete(want, n)
			if gate, open := w.Gate(); open {
				want[n] = gate
			}
		}
		for n := range 62 {
			got, open := r.Gate(crowded(n))
			if gate, wantOpen := want[n]; open != wantOpen || got != gate {
				rt.Fatalf("gate %d: %+v, open %v, want %+v, %v", n, got, open, gate, wantOpen)
			}
		}
	})
}

func TestGatesThatAreClosedLeaveNothing(t *testing.T) {
	r := &registry.Registry{}
	for n := range 10_000 {
		w := webhook.Webhook{Token: ref(n), EventKey: "webhook.short-lived", PayloadType: webhook.Raw, Enabled: true}
		r.OpenGates([]webhook.Webhook{w})
		w.Enabled = false
		r.OpenGates([]webhook.Webhook{w})
	}
	if slots, names := r.GateMemory(); slots > 16*256 || names > 256*16*25 {
		t.Errorf("%d slots and %d bytes of names are left of gates that are all closed", slots, names)
	}
}

func TestManyGates(t *testing.T) {
	const n = 10_000
	all := make([]webhook.Webhook, n)
	for i := range all {
		all[i] = webhook.Webhook{Token: ref(i), EventKey: fmt.Sprint("webhook.k", i), PayloadType: webhook.Raw, MaxPayloadLength: 1 + i, Enabled: true}
	}
	r := &registry.Registry{}
	r.OpenGates(all)
	for i := range all {
		want, _ := all[i].Gate()
		if got, open := r.Gate(all[i].Token.Hash); !open || got != want {
			t.Fatalf("gate %d: %+v, open %v, want %+v", i, got, open, want)
		}
	}
	if got, open := r.Gate(token(n).Hash()); open {
		t.Errorf("a token that nobody has opens %+v", got)
	}
}

// A call that is received while others are created and deleted finds its gate.
func TestGatesAreFoundWhileOthersChange(t *testing.T) {
	hook := func(n int, enabled bool) webhook.Webhook {
		return webhook.Webhook{Token: webhook.TokenRef{Hash: crowded(n)}, EventKey: fmt.Sprint("webhook.k", n), PayloadType: webhook.Raw, Enabled: enabled}
	}
	r := &registry.Registry{}
	r.OpenGates([]webhook.Webhook{hook(0, true)})
	var readers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for range 2000 {
				if gate, open := r.Gate(crowded(0)); !open || gate.EventKey != "webhook.k0" {
					t.Errorf("gate is %+v, open %v", gate, open)
					return
				}
			}
		})
	}
	for n := 1; n <= 2000; n++ {
		r.OpenGates([]webhook.Webhook{hook(n%200+1, n%3 > 0)})
	}
	readers.Wait()
}
