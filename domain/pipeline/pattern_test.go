package pipeline_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
)

func TestMatch(t *testing.T) {
	tests := []struct {
		name    string
		pattern string
		fits    []string
		not     []string
	}{
		{"a plain pattern is itself", "webhook.orders", []string{"webhook.orders"}, []string{"webhook", "webhook.order", "webhook.orders.new", "Webhook.orders", ""}},
		{"a star is one group", "webhook.*", []string{"webhook.orders", "webhook.a-b"}, []string{"webhook", "webhook.orders.new"}},
		{"a star stands anywhere", "*.orders.*", []string{"webhook.orders.new"}, []string{"orders.new", "webhook.orders", "a.b.orders.c"}},
		{"a hash is any number of groups, none too", "webhook.#", []string{"webhook", "webhook.a", "webhook.a.b.c"}, []string{"webhooks", "a.webhook"}},
		{"a hash in front", "#.new", []string{"new", "webhook.new", "a.b.new"}, []string{"newer", "new.a"}},
		{"a hash in the middle", "webhook.#.new", []string{"webhook.new", "webhook.a.new", "webhook.new.b.new"}, []string{"webhook", "webhook.new.b"}},
		{"two hashes give way to each other", "#.a.#.b", []string{"a.b", "a.a.b", "x.a.b.a.b", "a.b.b"}, []string{"b.a", "a.b.c", "a"}},
		{"a hash and a star are at least one group", "webhook.#.*", []string{"webhook.a", "webhook.a.b"}, []string{"webhook"}},
		{"a hash alone is everything", "#", []string{"a", "a.b", "webhook.x.y"}, nil},
		{"a wildcard inside a group is a letter", "webhook.or*", nil, []string{"webhook.orders"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, key := range tt.fits {
				if !pipeline.Match(tt.pattern, key) {
					t.Errorf("%s does not fit %s", key, tt.pattern)
				}
			}
			for _, key := range tt.not {
				if pipeline.Match(tt.pattern, key) {
					t.Errorf("%s fits %s", key, tt.pattern)
				}
			}
		})
	}
}

// reference says the same in the plainest words, however long it takes.
func reference(pattern, key []string) bool {
	switch {
	case len(pattern) == 0:
		return len(key) == 0
	case pattern[0] == "#":
		return reference(pattern[1:], key) || (len(key) > 0 && reference(pattern, key[1:]))
	case len(key) == 0:
		return false
	}
	return (pattern[0] == "*" || pattern[0] == key[0]) && reference(pattern[1:], key[1:])
}

func TestMatchAgreesWithItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "*", "#"}), 1, 7).Draw(t, "pattern")
		key := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b"}), 1, 7).Draw(t, "key")
		want := reference(pattern, key)
		if got := pipeline.Match(strings.Join(pattern, "."), strings.Join(key, ".")); got != want {
			t.Fatalf("%v, want %v", got, want)
		}
	})
}

func FuzzMatch(f *testing.F) {
	f.Add("webhook.#", "webhook.a.b")
	f.Add("#.#.#.#.*.a", "a.a.a.a.a.b")
	f.Add("", "")
	f.Add("..", "#")
	f.Fuzz(func(t *testing.T, pattern, key string) {
		if len(pattern) > pipeline.MaxPatternLength || len(key) > pipeline.MaxPatternLength {
			t.Skip("longer than any pattern or key")
		}
		got := pipeline.Match(pattern, key) // one that does not end is a finding too
		if !strings.ContainsAny(pattern, "*#") && got != (pattern == key) {
			t.Fatalf("a plain pattern: %v", got)
		}
		if !pipeline.Match("#", key) || !pipeline.Match(pattern+".#", key) && got {
			t.Fatal("a hash takes less than nothing")
		}
	})
}

func TestPatterns(t *testing.T) {
	for _, valid := range []string{
		"webhook.orders", "webhook.*", "#", "*", "svc.event.webhook.#", "a_b.C-d.9", strings.Repeat("a", pipeline.MaxPatternLength),
	} {
		if err := pipeline.CheckPattern("eventKey", valid); err != nil {
			t.Errorf("%s is refused: %v", valid, err)
		}
	}
	for _, invalid := range []string{
		"", ".", "a.", ".a", "a..b", "webhook.or*", "##", "a.**", "a b", "a\n", "ü", "a.\x00", "${body}", strings.Repeat("a", pipeline.MaxPatternLength+1),
	} {
		if err := pipeline.CheckPattern("eventKey", invalid); !fault.Is(err, fault.Invalid) {
			t.Errorf("%q is taken: %v", invalid, err)
		}
	}
}
