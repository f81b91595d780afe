package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestPayloadTypes(t *testing.T) {
	s := startOnOne(t)
	binary := make([]byte, 256)
	for i := range binary {
		binary[i] = byte(i)
	}
	origin := func(body string) string {
		return `{"origin":"` + base64.StdEncoding.EncodeToString([]byte(body)) + `"}`
	}
	const document = "{ \"big\" : 12345678901234567890.10e+400,\n\t\"html\":\"<b>&amp;</b>\", \"escaped\":\"\\u00e9\\/\", \"a\":1, \"a\":2,\"\u2028\":[ ] }"

	tests := []struct {
		name                     string
		payloadType, contentType string
		body                     string
		payload                  string // as on the log; empty means absent
		whyNot                   string // a part of the 415's detail
	}{
		{name: "base64 is the default", contentType: asJSON, body: `{"a":1}`, payload: origin(`{"a":1}`)},
		{name: "base64: any bytes in payload.origin", payloadType: "base64", contentType: "application/octet-stream", body: string(binary), payload: origin(string(binary))},
		{name: "base64: without a content type", payloadType: "base64", body: "x", payload: origin("x")},
		{name: "raw: the JSON value as sent, no re-encoding of numbers, no HTML escaping", payloadType: "raw", contentType: asJSON, body: document, payload: document},
		{name: "raw: JSON with parameters of the content type", payloadType: "raw", contentType: "Application/JSON; charset=utf-8", body: ` [1.0, 2] `, payload: `[1.0, 2]`},
		{name: "raw: JSON by suffix of the content type", payloadType: "raw", contentType: "application/vnd.github.v3+json", body: `{"a": 1}`, payload: `{"a": 1}`},
		{name: "raw: null is a JSON value", payloadType: "raw", contentType: asJSON, body: `null`, payload: `null`},
		{name: "raw: a JSON string is a JSON value", payloadType: "raw", contentType: asJSON, body: `"text"`, payload: `"text"`},
		{name: "raw: the text as a string where the content type is not JSON", payloadType: "raw", contentType: asText, body: `{"a":1}`, payload: `"{\"a\":1}"`},
		{name: "raw: the text as a string where JSON does not parse", payloadType: "raw", contentType: asJSON, body: `{"a":`, payload: `"{\"a\":"`},
		{name: "raw: text keeps tab, LF and CR, and is not HTML-escaped", payloadType: "raw", contentType: asText, body: "<b>&\t€\r\n\\", payload: `"<b>&\t€\r\n\\"`},
		{name: "raw: text without a content type", payloadType: "raw", body: "x", payload: `"x"`},
		{name: "raw: binary is refused", payloadType: "raw", contentType: "application/octet-stream", body: "\xff\xfe", whyNot: "UTF-8"},
		{name: "raw: JSON that is not UTF-8 is refused", payloadType: "raw", contentType: asJSON, body: "\"\xff\"", whyNot: "UTF-8"},
		{name: "raw: a NUL is refused", payloadType: "raw", contentType: asText, body: "a\x00b", whyNot: "control"},
		{name: "raw: an escape character is refused", payloadType: "raw", contentType: asText, body: "\x1b[31m", whyNot: "control"},
		{name: "raw: a vertical tab is refused", payloadType: "raw", contentType: asJSON, body: "{\"a\":\"\v\"}", whyNot: "control"},
		{name: "ignore: no payload is sent even if the request carries one", payloadType: "ignore", contentType: asJSON, body: `{"a":1}`},
		{name: "ignore: takes what is neither JSON nor text", payloadType: "ignore", body: "\x00\xff"},
		{name: "no body: payload is absent with base64", payloadType: "base64", contentType: asJSON},
		{name: "no body: payload is absent with raw", payloadType: "raw", contentType: asJSON},
		{name: "no body: payload is absent with ignore", payloadType: "ignore"},
	}
	hooks := map[string]webhook{
		"":       s.put("eventKey=webhook.payload.default"),
		"base64": s.put("eventKey=webhook.payload.base64", "payloadType=base64"),
		"raw":    s.put("eventKey=webhook.payload.raw", "payloadType=raw"),
		"ignore": s.put("eventKey=webhook.payload.ignore", "payloadType=ignore"),
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, hook := s.in(t), hooks[tt.payloadType]
			a := s.receive(request{query: "token=" + hook.UUID, contentType: tt.contentType, body: tt.body})
			if tt.whyNot != "" {
				document := wantProblem(t, a, 415, true)
				if detail := document["detail"].(string); !strings.Contains(detail, tt.whyNot) {
					t.Errorf("detail %q does not speak of %q", detail, tt.whyNot)
				}
				return
			}
			m := s.message(hook.EventKey, a.accepted())
			if diff := cmp.Diff(tt.payload, string(m.Payload)); diff != "" {
				t.Errorf("payload (-want +got):\n%s", diff)
			}
			if m.ContentType != tt.contentType {
				t.Errorf("contentType %q, want %q", m.ContentType, tt.contentType)
			}
		})
	}
}

// An edit of the type counts for the next call; nothing is converted behind it.
func TestPayloadTypeIsThatOfTheCall(t *testing.T) {
	s := startOnOne(t)
	hook := s.put("eventKey=webhook.changing", "payloadType=raw")
	raw := s.called(hook.UUID, asJSON, `[1]`)
	s.put("uuid="+hook.UUID, "payloadType=ignore")
	ignored := s.called(hook.UUID, asJSON, `[1]`)
	s.put("uuid="+hook.UUID, "payloadHandling=base64")
	encoded := s.called(hook.UUID, asJSON, `[1]`)

	for id, want := range map[string]string{
		raw.CorrelationID: `[1]`, ignored.CorrelationID: ``, encoded.CorrelationID: `{"origin":"WzFd"}`,
	} {
		if got := s.message(hook.EventKey, id).Payload; string(got) != want {
			t.Errorf("payload %s, want %s", got, want)
		}
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(s.eventRecord(hook.EventKey, ignored.CorrelationID).Value, &members); err != nil {
		t.Fatal(err)
	}
	if _, there := members["payload"]; there {
		t.Error("an ignored payload must be absent, not null")
	}
}
