package webhook_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

var (
	monday  = time.Date(2026, 3, 2, 8, 0, 0, 123_456_789, time.UTC)
	tuesday = monday.AddDate(0, 0, 1)

	bySealedText = cmp.Comparer(func(a, b secret.Sealed) bool { return a.Reveal() == b.Reveal() })
)

func ref(t *testing.T, token string) webhook.TokenRef {
	t.Helper()
	parsed, err := secret.ParseToken(token)
	if err != nil {
		t.Fatal(err)
	}
	return webhook.TokenRef{Hash: parsed.Hash(), Last6: parsed.Last6(), Sealed: secret.NewSealed("sealed-text"), SealedFor: "c1"}
}

func someRef(t *testing.T) webhook.TokenRef {
	return ref(t, "5eedc0de-1234-4abc-8def-0123456789ab")
}

// stored is a webhook as a creation with nothing but a key leaves it.
func stored(t *testing.T) webhook.Webhook {
	return webhook.Webhook{
		Token: someRef(t), EventKey: "webhook.orders", PayloadType: webhook.Base64, MaxPayloadLength: 512000, Enabled: true,
		Created: monday, CreatedBy: "kim", Updated: monday, UpdatedBy: "kim", Version: 1,
	}
}

func TestEventKeys(t *testing.T) {
	longest := "webhook." + strings.Repeat("a", webhook.MaxEventKeyLength-len("webhook."))
	tests := []struct {
		name  string
		given string
		valid bool
	}{
		{"one group is enough", "webhook.orders", true},
		{"there may be many groups", "webhook.shop.orders.created", true},
		{"a group may begin with a digit", "webhook.2fast", true},
		{"a group may hold and end with hyphens", "webhook.a-b-", true},
		{"one character makes a group", "webhook.a", true},
		{"239 characters are allowed", longest, true},
		{"240 characters are too many", longest + "a", false},
		{"the prefix alone is no key", "webhook", false},
		{"a group must not be empty", "webhook.", false},
		{"a group in the middle must not be empty", "webhook.a..b", false},
		{"a dot must not end it", "webhook.a.", false},
		{"another prefix is refused", "hook.orders", false},
		{"the prefix is a whole group", "webhooks.orders", false},
		{"upper case is refused", "webhook.Orders", false},
		{"an underscore collides with a dot in topic names", "webhook.a_b", false},
		{"a group must not begin with a hyphen", "webhook.-a", false},
		{"a space is refused", "webhook.a b", false},
		{"a line end is refused", "webhook.a\n", false},
		{"a text before it is refused", "x\nwebhook.a", false},
		{"a letter beyond ASCII is refused", "webhook.ü", false},
		{"the message prefix is no part of a key", "svc.event.webhook.a", false},
		{"nothing is no key", "", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := webhook.CheckEventKey(tt.given)
			if tt.valid && err != nil {
				t.Errorf("refused: %v", err)
			}
			if !tt.valid && !fault.Is(err, fault.Invalid) {
				t.Errorf("err = %v, want invalid", err)
			}
		})
	}
	t.Run("the longest key makes a topic name that Kafka takes", func(t *testing.T) {
		if n := len(record.EventTopic(longest)); n != 249 {
			t.Errorf("the topic name has %d characters, want 249", n)
		}
	})
}

func TestPutCheck(t *testing.T) {
	creation := webhook.Put{Create: true, Token: someRef(t), EventKey: new("webhook.orders")}
	edit := webhook.Put{Token: someRef(t)}
	with := func(p webhook.Put, change func(*webhook.Put)) webhook.Put {
		p = p.WithDefaults()
		change(&p)
		return p
	}
	length := func(n int) func(*webhook.Put) {
		return func(p *webhook.Put) { p.MaxPayloadLength = &n }
	}
	payload := func(v webhook.PayloadType) func(*webhook.Put) {
		return func(p *webhook.Put) { p.PayloadType = &v }
	}
	tests := []struct {
		name  string
		given webhook.Put
		valid bool
	}{
		{"a creation needs only a key", with(creation, func(*webhook.Put) {}), true},
		{"a creation without a key is refused", with(creation, func(p *webhook.Put) { p.EventKey = nil }), false},
		{"a creation with a bad key is refused", with(creation, func(p *webhook.Put) { p.EventKey = new("orders") }), false},
		{"a creation has no expected version", with(creation, func(p *webhook.Put) { p.Version = new(1) }), false},
		{"a creation brings its sealed token", with(creation, func(p *webhook.Put) { p.Token.Sealed = secret.Sealed{} }), false},
		{"a creation record brings its defaults", creation, false},
		{"an edit needs only a token", with(edit, func(*webhook.Put) {}), true},
		{"an edit without a token is refused", with(edit, func(p *webhook.Put) { p.Token = webhook.TokenRef{} }), false},
		{"an edit may expect a version", with(edit, func(p *webhook.Put) { p.Version = new(3) }), true},
		{"an edit may change the key", with(edit, func(p *webhook.Put) { p.EventKey = new("webhook.b") }), true},
		{"an edit to a bad key is refused", with(edit, func(p *webhook.Put) { p.EventKey = new("webhook.B") }), false},
		{"raw is a payload type", with(edit, payload("raw")), true},
		{"base64 is a payload type", with(edit, payload("base64")), true},
		{"ignore is a payload type", with(edit, payload("ignore")), true},
		{"RAW is none", with(edit, payload("RAW")), false},
		{"an empty payload type is none", with(edit, payload("")), false},
		{"1 byte is the least payload", with(edit, length(1)), true},
		{"4194304 bytes are the most", with(edit, length(4194304)), true},
		{"0 bytes are too few", with(edit, length(0)), false},
		{"4194305 bytes are too many", with(edit, length(4194305)), false},
		{"a negative length is refused", with(edit, length(-1)), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := tt.given.Check()
			if tt.valid && err != nil {
				t.Errorf("refused: %v", err)
			}
			if !tt.valid && !fault.Is(err, fault.Invalid) {
				t.Errorf("err = %v, want invalid", err)
			}
		})
	}
}

func TestDefaultsFillACreationAndNeverAnEdit(t *testing.T) {
	t.Run("a creation gets what it omits", func(t *testing.T) {
		got := webhook.Put{Create: true}.WithDefaults()
		want := webhook.Put{Create: true, PayloadType: new(webhook.Base64), MaxPayloadLength: new(512000), Enabled: new(true)}
		if diff := cmp.Diff(want, got, bySealedText); diff != "" {
			t.Errorf("defaults differ (-want +got):\n%s", diff)
		}
	})
	t.Run("a creation keeps what it gives", func(t *testing.T) {
		given := webhook.Put{Create: true, PayloadType: new(webhook.Ignore), MaxPayloadLength: new(1), Enabled: new(false)}
		if diff := cmp.Diff(given, given.WithDefaults(), bySealedText); diff != "" {
			t.Errorf("given fields changed (-want +got):\n%s", diff)
		}
	})
	t.Run("an edit stays as it is", func(t *testing.T) {
		if diff := cmp.Diff(webhook.Put{}, webhook.Put{}.WithDefaults(), bySealedText); diff != "" {
			t.Errorf("an edit was filled (-want +got):\n%s", diff)
		}
	})
}
