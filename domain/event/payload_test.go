package event_test

import (
	"strings"
	"testing"

	"hooklog/domain/event"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

func TestRawPayload(t *testing.T) {
	const unsupported = ""
	for name, test := range map[string]struct{ contentType, body, want string }{
		"is JSON as sent":                       {"application/json", ` {"a" : 1.0e0}` + "\n", ` {"a" : 1.0e0}` + "\n"},
		"is JSON whatever case and parameters":  {" Application/JSON ; charset=utf-8", `[1]`, `[1]`},
		"is JSON of text/json":                  {"text/json", `[1]`, `[1]`},
		"is JSON of a subtype with +json":       {"application/vnd.example.v1+JSON", `[1]`, `[1]`},
		"is JSON with a control character":      {"application/json", "\"\x7f\"", "\"\x7f\""},
		"is text of another type":               {"text/plain", `[1]`, `"[1]"`},
		"is text of no type":                    {"", `[1]`, `"[1]"`},
		"is text of a subtype that is json-ish": {"application/json5", `[1]`, `"[1]"`},
		"is text of another json":               {"image/json", `[1]`, `"[1]"`},
		"is text of a suffix without a name":    {"application/+json", `[1]`, `"[1]"`},
		"is text when it does not parse":        {"application/json", `[1`, `"[1"`},
		"is text when it is more than a value":  {"application/json", `1 2`, `"1 2"`},
		"is text with a byte order mark":        {"application/json", "\uFEFF1", "\"\uFEFF1\""},
		"is text with tab, LF and CR":           {"text/plain", "\t\n\r", `"\t\n\r"`},
		"is text of any language":               {"text/plain", "Grüße, 世界 🌍\u00a0", "\"Grüße, 世界 🌍\u00a0\""},
		"is refused with NUL":                   {"text/plain", "a\x00", unsupported},
		"is refused with escape":                {"text/plain", "\x1b[0m", unsupported},
		"is refused with delete":                {"text/plain", "\x7f", unsupported},
		"is refused with U+0080":                {"text/plain", "\u0080", unsupported},
		"is refused with U+009F":                {"text/plain", "a\u009fb", unsupported},
		"is refused when it is no UTF-8":        {"text/plain", "\xff", unsupported},
		"is refused when it ends in half":       {"text/plain", "a\xc2", unsupported},
		"is refused as JSON that is no UTF-8":   {"application/json", "\"\xff\"", unsupported},
		"is JSON freed of the token":            {"application/json", `{"token":"` + tokenText + `"}`, `{"token":"` + nilUUID + `"}`},
		"is text freed of the token":            {"text/plain", "a" + tokenText + "b", `"a` + nilUUID + `b"`},
	} {
		t.Run(name, func(t *testing.T) {
			c := sample()
			c.PayloadType, c.ContentType, c.Body = webhook.Raw, test.contentType, []byte(test.body)
			if test.want == unsupported {
				if _, err := event.Encode(c, secret.Token{}); !fault.Is(err, fault.Unsupported) {
					t.Errorf("got %v", err)
				}
				return
			}
			if got := string(encode(t, c)); !strings.HasSuffix(got, `},"payload":`+test.want+`}`) {
				t.Errorf("got %s, want the payload %s", got, test.want)
			}
		})
	}
}

func TestFiles(t *testing.T) {
	for name, test := range map[string]struct {
		payloadType webhook.PayloadType
		file        event.File
		want        string // empty: unsupported
	}{
		"are base64": {
			webhook.Base64,
			event.File{Filename: "f", ContentType: "t", Content: []byte("\xff")},
			`{"filename":"f","contentType":"t","length":1,"origin":"/w=="}`,
		},
		"are text when raw": {
			webhook.Raw,
			event.File{Filename: "f", ContentType: "application/json", Content: []byte(`{"a":1}`)},
			`{"filename":"f","contentType":"application/json","length":7,"origin":"{\"a\":1}"}`,
		},
		"are refused when raw and no text": {webhook.Raw, event.File{Content: []byte("\x00")}, ""},
		"have an empty origin without content": {
			webhook.Raw, event.File{}, `{"filename":"","contentType":"","length":0,"origin":""}`,
		},
		"have names in valid UTF-8": {
			webhook.Base64,
			event.File{Filename: "\xff\"", ContentType: "\xfe"},
			`{"filename":"` + "\uFFFD" + `\"","contentType":"` + "\uFFFD" + `","length":0,"origin":""}`,
		},
		"are freed of the token": {
			webhook.Raw,
			event.File{Filename: tokenText, ContentType: "a/" + tokenText, Content: []byte(tokenText + "!")},
			`{"filename":"` + nilUUID + `","contentType":"a/` + nilUUID + `","length":37,"origin":"` + nilUUID + `!"}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := sample()
			c.PayloadType, c.Files = test.payloadType, []event.File{test.file}
			c.Body = []byte("does not count")
			if test.want == "" {
				if _, err := event.Encode(c, secret.Token{}); !fault.Is(err, fault.Unsupported) {
					t.Errorf("got %v", err)
				}
				return
			}
			if got := string(encode(t, c)); !strings.HasSuffix(got, `},"payload":{"files":[`+test.want+`]}}`) {
				t.Errorf("got %s, want the file %s", got, test.want)
			}
		})
	}
}

func TestABase64PayloadIsFreedOfTheTokenBeforeItIsEncoded(t *testing.T) {
	c := sample()
	c.Body = []byte("a" + tokenText)
	const want = `,"payload":{"origin":"YTAwMDAwMDAwLTAwMDAtMDAwMC0wMDAwLTAwMDAwMDAwMDAwMA=="}}`
	if got := string(encode(t, c)); !strings.HasSuffix(got, want) {
		t.Errorf("got %s, want the end %s", got, want)
	}
}
