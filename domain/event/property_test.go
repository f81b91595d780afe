package event_test

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"hooklog/domain/event"
	"hooklog/domain/webhook"
)

// anyText draws strings of any bytes, many with a token or what is near one.
func anyText() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(rapid.OneOf(
		rapid.String(),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }),
		rapid.StringMatching(`[ -~]*`),
		rapid.SampledFrom([]string{tokenText, strings.ToUpper(tokenText), tokenText[:35], nilUUID, "\"", "\\", "\x00", "\xc2"}),
	), 0, 4), func(parts []string) string { return strings.Join(parts, "") })
}

func anyBody() *rapid.Generator[string] {
	return rapid.OneOf(anyText(), rapid.StringMatching(`[a-z"\\\n\t]*`), rapid.SampledFrom([]string{
		`{"token":"` + tokenText + `"}`, ` [1.0, "\u0000", {"a":{}, "a":[]}]`, `"` + tokenText + `"`, `1e400`, "\"\xff\"",
	}))
}

func anyFields(name *rapid.Generator[string]) *rapid.Generator[map[string][]string] {
	return rapid.MapOfN(name, rapid.SliceOfN(anyText(), 0, 3), 0, 6)
}

func TestEveryCallIsEncodedAsTheReferenceDoes(t *testing.T) {
	headerName := rapid.OneOf(anyText(), rapid.StringMatching(`[A-Z][a-z]?`),
		rapid.SampledFrom([]string{"Connection", "Token", "Host", "Cookie", "Te", "X-A", "x-a"}))
	rapid.Check(t, func(t *rapid.T) {
		c := sample()
		c.Method, c.Host = anyText().Draw(t, "method"), anyText().Draw(t, "host")
		c.ContentType = rapid.OneOf(anyText(),
			rapid.SampledFrom([]string{"application/json", "a/b+json;x", "text/plain"})).Draw(t, "content type")
		c.Header = anyFields(headerName).Draw(t, "header")
		if rapid.Bool().Draw(t, "with connection") {
			c.Header["Connection"] = []string{strings.Join(sortedKeys(anyFields(headerName).Draw(t, "named")), ",")}
		}
		c.Query = anyFields(anyText()).Draw(t, "query")
		c.PayloadType = rapid.SampledFrom([]webhook.PayloadType{webhook.Base64, webhook.Raw, webhook.Ignore}).Draw(t, "type")
		c.Body = []byte(anyBody().Draw(t, "body"))
		if rapid.IntRange(0, 3).Draw(t, "multipart") == 0 {
			c.Files = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) event.File {
				return event.File{
					Filename: anyText().Draw(t, "filename"), ContentType: anyText().Draw(t, "part type"),
					Content: []byte(anyBody().Draw(t, "content")),
				}
			}), 0, 3).Draw(t, "files")
			if c.Files == nil {
				c.Files = []event.File{}
			}
		}
		encode(t, c)
	})
}

func FuzzEncode(f *testing.F) {
	f.Add("application/json", "X-A", "value", "q", "1", []byte(`{"a":"`+tokenText+`"}`), uint8(1))
	f.Add("text/plain", tokenText, "\xff", "\"", tokenText, []byte("a\tb"), uint8(1))
	f.Add("", "Connection", "x-b, te", "token", "", []byte("\x00"), uint8(0))
	f.Add("a/b", "Cookie", "", "", "", []byte("file"), uint8(4))
	types := []webhook.PayloadType{webhook.Base64, webhook.Raw, webhook.Ignore}
	f.Fuzz(func(t *testing.T, contentType, headerName, headerValue, queryName, queryValue string, body []byte, kind uint8) {
		c := sample()
		c.ContentType, c.Host = contentType, headerValue
		c.Header = map[string][]string{headerName: {headerValue, queryValue}, "X-B": {queryValue}}
		c.Query = map[string][]string{queryName: {queryValue, headerValue}}
		c.PayloadType = types[int(kind)%len(types)]
		if kind/4%2 == 0 {
			c.Body = body
		} else {
			c.Files = []event.File{{Filename: queryName, ContentType: headerName, Content: body}}
		}
		encode(t, c)
	})
}
