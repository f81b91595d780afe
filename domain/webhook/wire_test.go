package webhook_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/webhook"
)

// The golden files lie on logs and in stores that exist: a reader of today must
// read them for ever, and writes the same bytes.
func TestTheWireFormsStayForEver(t *testing.T) {
	state := stored(t)
	state.Enabled, state.Updated, state.UpdatedBy, state.Version = false, tuesday, "pat", 2
	tests := []struct {
		file  string
		value any
		empty func() any
	}{
		{"webhook.json", state, func() any { return new(webhook.Webhook) }},
		{"token.json", someRef(t), func() any { return new(webhook.TokenRef) }},
		{
			"create.json",
			webhook.Put{Create: true, Token: someRef(t), EventKey: new("webhook.orders")}.WithDefaults(),
			func() any { return new(webhook.Put) },
		},
		{
			"edit.json",
			webhook.Put{Token: webhook.TokenRef{Hash: someRef(t).Hash, Last6: "6789ab"}, Enabled: new(false), Version: new(7)},
			func() any { return new(webhook.Put) },
		},
	}
	for _, tt := range tests {
		t.Run(tt.file+" is written and read", func(t *testing.T) {
			golden, err := os.ReadFile("testdata/" + tt.file)
			if err != nil {
				t.Fatal(err)
			}
			want := strings.TrimSuffix(string(golden), "\n")
			written, err := json.Marshal(tt.value)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, string(written)); diff != "" {
				t.Errorf("bytes differ (-want +got):\n%s", diff)
			}
			read := tt.empty()
			if err := json.Unmarshal(golden, read); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.value, deref(read), bySealedText); diff != "" {
				t.Errorf("value differs (-want +got):\n%s", diff)
			}
		})
	}
}

func deref(p any) any {
	switch v := p.(type) {
	case *webhook.Webhook:
		return *v
	case *webhook.TokenRef:
		return *v
	case *webhook.Put:
		return *v
	}
	return p
}

func TestAWireFormWithoutATokenHashIsRefused(t *testing.T) {
	for _, text := range []string{`{}`, `null`, `{"tokenHash":"abc"}`, `{"tokenHash":7}`, `[]`} {
		for _, into := range []any{new(webhook.Webhook), new(webhook.TokenRef), new(webhook.Put)} {
			if err := json.Unmarshal([]byte(text), into); err == nil {
				t.Errorf("%s was read into a %T", text, into)
			}
		}
	}
}
