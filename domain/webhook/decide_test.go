package webhook_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/fault"
	"hooklog/domain/webhook"
)

func TestDecide(t *testing.T) {
	before := stored(t)
	// edited is what an edit by pat on tuesday leaves, beside the change itself.
	edited := func(change func(*webhook.Webhook)) webhook.Event {
		after := before
		after.Updated, after.UpdatedBy, after.Version = tuesday, "pat", 2
		change(&after)
		return webhook.Edited{Before: before, After: after}
	}
	created := before
	created.Created, created.CreatedBy, created.Updated, created.UpdatedBy = tuesday, "pat", tuesday, "pat"
	creation := webhook.Put{Create: true, Token: someRef(t), EventKey: new("webhook.orders")}.WithDefaults()

	tests := []struct {
		name  string
		given *webhook.Webhook
		when  webhook.Put
		then  webhook.Event
		fails fault.Kind
	}{
		{
			name: "a creation makes version 1 with its author and time",
			when: creation,
			then: webhook.Created{Webhook: created},
		},
		{
			name:  "a creation with a token that lives is a conflict",
			given: &before, when: creation, fails: fault.Conflict,
		},
		{
			name: "an edit of an unknown uuid is never a silent creation",
			when: webhook.Put{Token: someRef(t), EventKey: new("webhook.orders")}, fails: fault.NotFound,
		},
		{
			name:  "an edit that omits everything keeps everything but who, when and version",
			given: &before, when: webhook.Put{Token: someRef(t)},
			then: edited(func(*webhook.Webhook) {}),
		},
		{
			name:  "an edit of the key keeps the token and the rest",
			given: &before, when: webhook.Put{Token: ref(t, "00000000-1234-4abc-8def-000000000000"), EventKey: new("webhook.b")},
			then: edited(func(w *webhook.Webhook) { w.EventKey = "webhook.b" }),
		},
		{
			name:  "an edit of the payload type changes it alone",
			given: &before, when: webhook.Put{Token: someRef(t), PayloadType: new(webhook.Raw)},
			then: edited(func(w *webhook.Webhook) { w.PayloadType = webhook.Raw }),
		},
		{
			name:  "an edit of the length changes it alone",
			given: &before, when: webhook.Put{Token: someRef(t), MaxPayloadLength: new(1)},
			then: edited(func(w *webhook.Webhook) { w.MaxPayloadLength = 1 }),
		},
		{
			name:  "an edit to disabled keeps the token",
			given: &before, when: webhook.Put{Token: someRef(t), Enabled: new(false)},
			then: edited(func(w *webhook.Webhook) { w.Enabled = false }),
		},
		{
			name:  "an edit of the version that it expects is done",
			given: &before, when: webhook.Put{Token: someRef(t), Version: new(1)},
			then: edited(func(*webhook.Webhook) {}),
		},
		{
			name:  "an edit of an older version is a conflict",
			given: &before, when: webhook.Put{Token: someRef(t), Version: new(0)}, fails: fault.Conflict,
		},
		{
			name:  "an edit of a version to come is a conflict",
			given: &before, when: webhook.Put{Token: someRef(t), Version: new(2)}, fails: fault.Conflict,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := tt.when.Decide(tt.given, webhook.Author{Name: "pat", At: tuesday})
			if tt.then == nil {
				if got != nil || !fault.Is(err, tt.fails) {
					t.Fatalf("event %v, err %v, want the fault %v", got, err, tt.fails)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.then, got, bySealedText); diff != "" {
				t.Errorf("event differs (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(stored(t), before, bySealedText); diff != "" {
				t.Errorf("the state before was written to (-want +got):\n%s", diff)
			}
		})
	}
}

func TestGate(t *testing.T) {
	w := stored(t)
	gate, open := w.Gate()
	want := webhook.Gate{EventKey: "webhook.orders", Last6: "6789ab", PayloadType: webhook.Base64, MaxPayloadLength: 512000}
	if diff := cmp.Diff(want, gate); diff != "" || !open {
		t.Errorf("an enabled webhook: open %v, gate differs (-want +got):\n%s", open, diff)
	}
	w.Enabled = false
	if _, open := w.Gate(); open {
		t.Error("a disabled webhook takes calls")
	}
}
