package event_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"hooklog/domain/event"
	"hooklog/domain/secret"
)

func TestOverwrite(t *testing.T) {
	const overlapping = "abcdef01-2345-4678-9abc-def0abcdef01"
	for name, test := range map[string]struct{ token, text, want string }{
		"leaves nothing alone":               {tokenText, "", ""},
		"leaves other text alone":            {tokenText, "a" + tokenText[:35] + "a", "a" + tokenText[:35] + "a"},
		"leaves other cases alone":           {tokenText, strings.ToUpper(tokenText), strings.ToUpper(tokenText)},
		"overwrites the whole":               {tokenText, tokenText, nilUUID},
		"overwrites every occurrence":        {tokenText, tokenText + "\xff" + tokenText + tokenText, nilUUID + "\xff" + nilUUID + nilUUID},
		"overwrites those that overlap":      {overlapping, overlapping + overlapping[8:] + "!", nilUUID + nilUUID[8:] + "!"},
		"overwrites what its zeros complete": {"0" + tokenText[1:], "0" + tokenText[1:] + tokenText[1:], nilUUID + nilUUID[1:]},
		"overwrites what they complete before": {
			tokenText[:35] + "0", tokenText[:35] + tokenText[:35] + "0", nilUUID[:35] + nilUUID,
		},
		"ends with a token that is the nil UUID": {nilUUID, "a" + nilUUID, "a" + nilUUID},
	} {
		t.Run(name, func(t *testing.T) {
			b := []byte(test.text)
			event.Overwrite(b, token(t, test.token))
			if string(b) != test.want {
				t.Errorf("got  %s\nwant %s", b, test.want)
			}
		})
	}
	t.Run("leaves all alone without a token", func(t *testing.T) {
		b := []byte(tokenText)
		event.Overwrite(b, secret.Token{})
		if string(b) != tokenText {
			t.Errorf("got %s", b)
		}
	})
}

// Texts are made of pieces of a token whose end is its beginning, so that
// occurrences overlap and zeros complete new ones.
func TestNoTextKeepsAToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zeros := rapid.IntRange(0, 8).Draw(t, "zeros")
		edge := strings.Repeat("0", zeros) + "abcdef01"[zeros:]
		if rapid.Bool().Draw(t, "zeros last") {
			edge = "abcdef01"[zeros:] + strings.Repeat("0", zeros)
		}
		text := edge + "-2345-4678-9abc-def0" + edge
		tok, err := secret.ParseToken(text)
		if err != nil {
			t.Fatal(err)
		}
		pieces := rapid.SliceOf(rapid.OneOf(
			rapid.Just(text),
			rapid.Custom(func(t *rapid.T) string { return text[rapid.IntRange(0, 9).Draw(t, "from"):] }),
			rapid.Custom(func(t *rapid.T) string { return text[:rapid.IntRange(27, 36).Draw(t, "to")] }),
			rapid.SampledFrom([]string{"0", "-", "x"}),
		)).Draw(t, "pieces")
		before := []byte(strings.Join(pieces, ""))

		after := bytes.Clone(before)
		event.Overwrite(after, tok)
		if bytes.Contains(after, []byte(text)) {
			t.Fatalf("%s is left in %s", text, after)
		}
		inNil := make([]bool, len(after))
		for i := range after {
			if bytes.HasPrefix(before[i:], []byte(text)) && !bytes.HasPrefix(after[i:], []byte(nilUUID)) {
				t.Fatalf("the occurrence at %d is not the nil UUID in %s", i, after)
			}
			if bytes.HasPrefix(after[i:], []byte(nilUUID)) {
				for j := range len(nilUUID) {
					inNil[i+j] = true
				}
			}
			if before[i] != after[i] && !inNil[i] {
				t.Fatalf("byte %d changed outside of a nil UUID: %s", i, after)
			}
		}
	})
}

// Each text is a chain: overwriting one token completes the next, or all
// overlap. Looking through the whole text again for each would take minutes.
func TestOverwritingStaysLinear(t *testing.T) {
	const links = 4 << 20 / 35
	for name, test := range map[string]struct{ token, text string }{
		"completed behind": {"0" + tokenText[1:], "0" + strings.Repeat(tokenText[1:], links)},
		"completed before": {tokenText[:35] + "0", strings.Repeat(tokenText[:35], links) + "0"},
		"overlapping":      {tokenText[:35] + "c", strings.Repeat(tokenText[:35], links) + "c"},
	} {
		t.Run(name, func(t *testing.T) {
			b := []byte(test.text)
			start := time.Now()
			event.Overwrite(b, token(t, test.token))
			if took := time.Since(start); took > 10*time.Second {
				t.Errorf("4 MiB took %v", took)
			}
			if bytes.ContainsAny(b, "abcdef") {
				t.Errorf("a link of the chain is left")
			}
		})
	}
}
