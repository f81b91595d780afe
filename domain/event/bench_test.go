package event_test

import (
	"bytes"
	"testing"

	"hooklog/domain/event"
	"hooklog/domain/webhook"
)

// typical is a call with 8 headers and a body of 1 KiB.
func typical(payloadType webhook.PayloadType) *event.Call {
	c := sample()
	c.PayloadType, c.ContentType = payloadType, "application/json"
	c.Header = map[string][]string{
		"Accept": {"*/*"}, "Accept-Encoding": {"gzip, deflate, br"}, "Connection": {"keep-alive"}, "Content-Length": {"1024"},
		"Content-Type": {"application/json"}, "Token": {tokenText}, "User-Agent": {"example-hooks/1.2 (+https://example.com/hooks)"},
		"X-Signature": {"sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"},
	}
	c.Query = map[string][]string{"source": {"orders"}}
	item := []byte(`{"id":"7f1f7a2e-8f5c-4f0e-9c57-2f0f6f9d7f11","at":"2026-03-04"},`)
	c.Body = append(append([]byte(`[`), bytes.Repeat(item, 1022/len(item))...), `0]`...)
	return c
}

var benchMeta = event.Meta{
	BaseURL: "https://hooks.example.com", Last6: "3d4e5f",
	Traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00",
}

func TestATypicalCallTakesFewAllocations(t *testing.T) {
	tok := token(t, tokenText)
	for _, payloadType := range []webhook.PayloadType{webhook.Base64, webhook.Raw, webhook.Ignore} {
		t.Run(string(payloadType), func(t *testing.T) {
			c := typical(payloadType)
			allocs := testing.AllocsPerRun(100, func() {
				if _, err := event.Encode(c, tok); err != nil {
					t.Fatal(err)
				}
				event.Headers(c, benchMeta)
			})
			if allocs > 6 {
				t.Errorf("%v allocations", allocs)
			}
		})
	}
}

// One for the message and one for the host: a message that outgrew its buffer
// would take more.
func TestTheBufferIsLargeEnoughFromTheStart(t *testing.T) {
	const grows = "\"\\\n\x00\x1f\u00e9"
	for name, change := range map[string]func(*event.Call){
		"for nothing": func(c *event.Call) { *c = event.Call{Host: "h"} },
		"for escaped fields": func(c *event.Call) {
			c.ContentType, c.Header["A"], c.Query["b"] = grows, []string{grows, grows}, []string{grows, ""}
		},
		"for many fields": func(c *event.Call) {
			for _, name := range "abcdefghijkl" {
				c.Header[string(name)], c.Query[string(name)] = nil, nil
			}
		},
		"for escaped text": func(c *event.Call) {
			c.PayloadType, c.ContentType, c.Body = webhook.Raw, "", bytes.Repeat([]byte("\n\""), 4096)
		},
		"for files": func(c *event.Call) {
			c.Files = make([]event.File, 64)
			for i := range c.Files {
				c.Files[i] = event.File{Filename: grows, ContentType: grows, Content: make([]byte, i)}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			c, tok := typical(webhook.Base64), token(t, tokenText)
			change(c)
			allocs := testing.AllocsPerRun(10, func() {
				if _, err := event.Encode(c, tok); err != nil {
					t.Fatal(err)
				}
			})
			if allocs > 2 {
				t.Errorf("%v allocations", allocs)
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	tok := token(b, tokenText)
	for _, payloadType := range []webhook.PayloadType{webhook.Base64, webhook.Raw, webhook.Ignore} {
		b.Run(string(payloadType), func(b *testing.B) {
			c := typical(payloadType)
			b.ReportAllocs()
			b.SetBytes(int64(len(c.Body)))
			for b.Loop() {
				if _, err := event.Encode(c, tok); err != nil {
					b.Fatal(err)
				}
				event.Headers(c, benchMeta)
			}
		})
	}
}

func BenchmarkOverwriteAbsent(b *testing.B) {
	tok := token(b, tokenText)
	body := typical(webhook.Base64).Body
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		event.Overwrite(body, tok)
	}
}

func BenchmarkTokenInJSON(b *testing.B) {
	body := append([]byte(`{"items":`), typical(webhook.Base64).Body...)
	body = append(body, `,"token":"`+tokenText+`"}`...)
	b.ReportAllocs()
	b.SetBytes(int64(len(body)))
	for b.Loop() {
		if _, found, _ := event.TokenInJSON(body); !found {
			b.Fatal("not found")
		}
	}
}
