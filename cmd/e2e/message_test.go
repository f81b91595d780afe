package e2e_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestEventMessage(t *testing.T) {
	s := startOnOne(t)
	const key = "webhook.message"
	hook := s.put("eventKey="+key, "payloadType=raw")

	t.Run("its members are those of the interface, and nothing else", func(t *testing.T) {
		s := s.in(t)
		before := s.clock.now().Truncate(time.Millisecond)
		called := s.called(hook.UUID, asJSON, `{"a":1}`)
		after := s.clock.now()
		value := s.eventRecord(key, called.CorrelationID).Value
		var members map[string]json.RawMessage
		if err := json.Unmarshal(value, &members); err != nil {
			t.Fatal(err)
		}
		want := []string{"contentType", "correlationId", "eventKey", "headers", "method", "payload", "query", "received", "traceId"}
		if diff := cmp.Diff(want, slices.Sorted(maps.Keys(members))); diff != "" {
			t.Errorf("members (-want +got):\n%s", diff)
		}
		m := s.message(key, called.CorrelationID)
		if m.EventKey != key || m.TraceID != called.TraceID || m.Method != "POST" || m.ContentType != asJSON || len(m.Query) != 0 {
			t.Errorf("message %s", value)
		}
		if m.Received.Before(before) || m.Received.After(after) || !strings.HasSuffix(string(members["received"]), `Z"`) {
			t.Errorf("received %s, want RFC 3339 in UTC between %s and %s", members["received"], before, after)
		}
	})

	t.Run("GET: payload is absent; the query without token and pollingRedirectEnabled is in query, repeated too", func(t *testing.T) {
		s := s.in(t)
		query := "b=&a=1&token=" + hook.UUID + "&a=2&pollingRedirectEnabled=false&c%20d=%C3%A9%26&Token=x"
		m := s.message(key, s.receive(request{method: http.MethodGet, query: query}).accepted())
		want := map[string][]string{"a": {"1", "2"}, "b": {""}, "c d": {"é&"}, "Token": {"x"}}
		if diff := cmp.Diff(want, m.Query); diff != "" {
			t.Errorf("query (-want +got):\n%s", diff)
		}
		if m.Method != "GET" || m.ContentType != "" || m.Payload != nil {
			t.Errorf("message %+v", m)
		}
	})
	t.Run("a POST has its query too", func(t *testing.T) {
		s := s.in(t)
		m := s.message(key, s.receive(request{query: "a=1&token=" + hook.UUID, contentType: asText, body: "x"}).accepted())
		if diff := cmp.Diff(map[string][]string{"a": {"1"}}, m.Query); diff != "" {
			t.Errorf("query (-want +got):\n%s", diff)
		}
	})
	t.Run("headers: keys lower-cased, repeats joined, without token, authorization, cookie and hop-by-hop headers", func(t *testing.T) {
		s := s.in(t)
		a := s.dial("POST " + receivePath + " HTTP/1.1\r\n" +
			"HOST: hooks.example\r\nToKeN: " + hook.UUID + "\r\n" +
			"AUTHORIZATION: Basic c2VjcmV0\r\nCookie: session=secret\r\n" +
			"X-Many: one\r\nx-many: two\r\nX-MANY: three, four\r\nX-Event-ID: <7>&\r\nx-empty:\r\n" +
			"Connection: close, X-Hop\r\nX-Hop: secret\r\nKeep-Alive: timeout=5\r\nTE: trailers\r\nUpgrade: h2c\r\n" +
			"Proxy-Authorization: Basic c2VjcmV0\r\nProxy-Connection: close\r\nProxy-Authenticate: Basic\r\n" +
			"Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\nContent-Type: text/plain\r\n\r\n" +
			"1\r\nx\r\n0\r\nX-Sum: secret\r\n\r\n")
		m := s.message(key, a.accepted())
		want := map[string]string{
			"host": "hooks.example", "x-many": "one, two, three, four", "x-event-id": "<7>&", "x-empty": "", "content-type": "text/plain",
		}
		if diff := cmp.Diff(want, m.Headers); diff != "" {
			t.Errorf("headers (-want +got):\n%s", diff)
		}
	})
	t.Run("no HTML escaping in headers and query either", func(t *testing.T) {
		s := s.in(t)
		id := s.receive(request{query: "q=%3Cb%3E%26&token=" + hook.UUID, header: map[string][]string{"X-Html": {"<b>&"}}}).accepted()
		if value := s.eventRecord(key, id).Value; strings.Count(string(value), `<b>&`) != 2 {
			t.Errorf("message %s", value)
		}
	})
}

func TestEventsAreSpread(t *testing.T) {
	s := startOnBrokers(t)
	hook := s.put("eventKey=webhook.spread")
	used := map[int32]bool{}
	// Where a record goes is chance, so a few more may be needed.
	for tries := 0; len(used) < s.cfg.Partitions && tries < 10; tries++ {
		for range 10 {
			s.called(hook.UUID, asText, strings.Repeat("x", 64<<10))
		}
		for _, r := range s.records("svc.event." + hook.EventKey) {
			used[r.Partition] = true
		}
	}
	if len(used) != s.cfg.Partitions {
		t.Errorf("events only on partitions %v of %d; without a key they are spread evenly", slices.Collect(maps.Keys(used)), s.cfg.Partitions)
	}
}

// The token is written wherever a call has room for it. What is around it is
// found again, so whoever looks for the token looks in the right place.
func TestTheTokenNeverReachesATopic(t *testing.T) {
	s := startOnOne(t)
	raw := s.put("eventKey=webhook.secret.raw", "payloadType=raw")
	encoded := s.put("eventKey=webhook.secret.base64")
	text := func(token string) string { return fmt.Sprintf("<%[1]s> %[1]s%[1]s\té%[1]s!", token) }

	call := func(token, contentType, body string) request {
		return request{
			query: "token=" + token + "&back=" + url.QueryEscape("to/"+token+"?") + "&" + token + "=name",
			header: map[string][]string{
				"Referer":        {"https://from.example/?token=" + token + "&x=1"},
				"X-Original-Uri": {receivePath + "?token=" + token, token},
				"X-Prefix":       {token[:35]},
			},
			contentType: contentType, body: body,
		}
	}
	check := func(t *testing.T, hook webhook, id, payload string) {
		t.Helper()
		s := s.in(t)
		m := s.message(hook.EventKey, id)
		if diff := cmp.Diff(payload, string(m.Payload)); diff != "" {
			t.Errorf("payload (-want +got):\n%s", diff)
		}
		query := map[string][]string{"back": {"to/" + nilUUID + "?"}, nilUUID: {"name"}}
		if diff := cmp.Diff(query, m.Query); diff != "" {
			t.Errorf("query (-want +got):\n%s", diff)
		}
		for name, want := range map[string]string{
			"referer":        "https://from.example/?token=" + nilUUID + "&x=1",
			"x-original-uri": receivePath + "?token=" + nilUUID + ", " + nilUUID,
			"x-prefix":       hook.UUID[:35],
		} {
			if m.Headers[name] != want {
				t.Errorf("header %s: %q, want %q", name, m.Headers[name], want)
			}
		}
	}
	t.Run("raw text: overwritten by the nil UUID, the rest byte-exact", func(t *testing.T) {
		id := s.in(t).receive(call(raw.UUID, asText, text(raw.UUID))).accepted()
		check(t, raw, id, strings.ReplaceAll(`"`+text(nilUUID)+`"`, "\t", `\t`))
	})
	t.Run("raw JSON: overwritten by the nil UUID, the rest byte-exact", func(t *testing.T) {
		id := s.in(t).receive(call(raw.UUID, asJSON, `{ "`+raw.UUID+`" : "`+raw.UUID+raw.UUID+`", "n": 1.0 }`)).accepted()
		check(t, raw, id, `{ "`+nilUUID+`" : "`+nilUUID+nilUUID+`", "n": 1.0 }`)
	})
	t.Run("base64: overwritten before it is encoded, the length unchanged", func(t *testing.T) {
		id := s.in(t).receive(call(encoded.UUID, "application/octet-stream", text(encoded.UUID))).accepted()
		check(t, encoded, id, `{"origin":"`+base64.StdEncoding.EncodeToString([]byte(text(nilUUID)))+`"}`)
	})
	t.Run("multipart: overwritten in contents, names and types of files", func(t *testing.T) {
		s := s.in(t)
		contentType, body := multipartBody(part{"file", raw.UUID + ".txt", "text/" + raw.UUID, text(raw.UUID)})
		m := s.message(raw.EventKey, s.receive(request{query: "token=" + raw.UUID, contentType: contentType, body: body}).accepted())
		content := strings.ReplaceAll(text(nilUUID), "\t", `\t`)
		want := `{"files":[` + file(nilUUID+".txt", "text/"+nilUUID, len(text(nilUUID)), content) + `]}`
		if diff := cmp.Diff(want, string(m.Payload)); diff != "" {
			t.Errorf("payload (-want +got):\n%s", diff)
		}
	})
	t.Run("no record holds a token", func(t *testing.T) {
		s, found := s.in(t), 0
		for _, topic := range []string{"svc.event." + raw.EventKey, "svc.event." + encoded.EventKey, "svc.call"} {
			for _, r := range s.records(topic) {
				whole := fmt.Sprintf("%s %s %s", r.Key, r.Headers, r.Value)
				found += strings.Count(whole, nilUUID)
				for _, hook := range []webhook{raw, encoded} {
					if strings.Contains(whole, hook.UUID) {
						t.Errorf("the token is in %s", whole)
					}
				}
			}
		}
		if found < 20 {
			t.Errorf("only %d places of tokens were found", found)
		}
	})
}
