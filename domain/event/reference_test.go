package event_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/event"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

// tokenText neither begins with its end nor has zeros at an end, so that
// strings.ReplaceAll overwrites it completely.
const (
	tokenText = "c1d2e3f4-5a6b-4c7d-8e9f-0a1b2c3d4e5f"
	nilUUID   = "00000000-0000-0000-0000-000000000000"
)

func token(t testing.TB, s string) secret.Token {
	t.Helper()
	parsed, err := secret.ParseToken(s)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

// sample is a call with something of everything but a payload.
func sample() *event.Call {
	return &event.Call{
		EventKey:      "webhook.demo",
		TraceID:       "3d4e5f:abcdefghij",
		CorrelationID: "7f1f7a2e-8f5c-4f0e-9c57-2f0f6f9d7f11",
		Received:      time.Date(2026, 3, 4, 6, 7, 8, 90_123_456, time.FixedZone("", 3600)),
		Method:        "POST",
		ContentType:   "text/plain",
		Host:          "hooks.example.com",
		Header: map[string][]string{
			"Accept":        {"*/*"},
			"Authorization": {"Bearer abc"},
			"Content-Type":  {"text/plain"},
			"X-Repeated":    {"one", "two"},
			"X-Quote":       {`"quoted"; <tag> & \`},
		},
		Query:       map[string][]string{"b": {"2", "1"}, "a": {""}, "token": {tokenText}},
		PayloadType: webhook.Base64,
	}
}

// encode encodes the call, and holds the message against the slow reference.
func encode(t require, c *event.Call) []byte {
	t.Helper()
	tok, err := secret.ParseToken(tokenText)
	if err != nil {
		t.Fatal(err)
	}
	want, wantVerbatim, wantErr := reference(c)
	got, err := event.Encode(c, tok)
	if wantErr != 0 {
		if !fault.Is(err, wantErr) {
			t.Fatalf("got error %v, want %v", err, wantErr)
		}
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	if !utf8.Valid(got) {
		t.Errorf("the message is no UTF-8: %q", got)
	}
	if bytes.Contains(got, []byte(tokenText)) {
		t.Errorf("the token is in the message: %s", got)
	}
	if diff := cmp.Diff(decode(t, want), decode(t, got)); diff != "" {
		t.Errorf("not what the reference says (-want +got):\n%s", diff)
	}
	if wantVerbatim != nil && !bytes.HasSuffix(got, slices.Concat([]byte(`,"payload":`), wantVerbatim, []byte(`}`))) {
		t.Errorf("the payload %q is not as sent in %q", wantVerbatim, got)
	}
	return got
}

// require is what testing.T and rapid.T share.
type require interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

// decode decodes JSON in full precision.
func decode(t require, data []byte) any {
	t.Helper()
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatalf("%v in %q", err, data)
	}
	if decoder.More() {
		t.Fatalf("more than one value in %q", data)
	}
	return v
}

// reference encodes a call the slow and obvious way. It leaves the call alone.
// verbatim is the payload when it has to be in the message byte by byte.
func reference(c *event.Call) (message, verbatim []byte, failure fault.Kind) {
	values := map[string][]string{}
	dropped := []string{
		"token", "authorization", "cookie", "connection", "keep-alive", "proxy-authenticate", "proxy-authorization",
		"proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "host",
	}
	for _, value := range c.Header["Connection"] {
		for _, name := range strings.Split(value, ",") {
			dropped = append(dropped, clean(strings.ToLower(clean(strings.Trim(name, " \t")))))
		}
	}
	for _, sent := range sortedKeys(c.Header) {
		name := clean(strings.ToLower(clean(sent)))
		if slices.Contains(dropped, name) {
			continue
		}
		values[name] = append(values[name], c.Header[sent]...)
	}
	headers := map[string]string{}
	for name, list := range values {
		headers[name] = clean(strings.Join(list, ", "))
	}
	if c.Host != "" && !slices.Contains(dropped[13:], "host") {
		headers["host"] = clean(c.Host)
	}
	query := map[string][]string{}
	for _, sent := range sortedKeys(c.Query) {
		if sent == "token" || sent == "pollingRedirectEnabled" {
			continue
		}
		name := clean(sent)
		values := append([]string{}, query[name]...)
		for _, value := range c.Query[sent] {
			values = append(values, clean(value))
		}
		query[name] = values
	}
	m := map[string]any{
		"eventKey": c.EventKey, "traceId": c.TraceID, "correlationId": c.CorrelationID,
		"received": c.Received.UTC().Format("2006-01-02T15:04:05.000Z"),
		"method":   clean(c.Method), "contentType": clean(c.ContentType),
		"headers": headers, "query": query,
	}
	if c.PayloadType != webhook.Ignore && (len(c.Body) > 0 || c.Files != nil) {
		payload, exact, ok := referencePayload(c)
		if !ok {
			return nil, nil, fault.Unsupported
		}
		m["payload"], verbatim = payload, exact
	}
	message, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return message, verbatim, 0
}

func referencePayload(c *event.Call) (payload any, verbatim []byte, ok bool) {
	raw := c.PayloadType == webhook.Raw
	if c.Files != nil {
		files := []map[string]any{}
		for _, f := range c.Files {
			content := overwritten(f.Content)
			origin := base64.StdEncoding.EncodeToString(content)
			if raw {
				if origin = string(content); !plain(content) {
					return nil, nil, false
				}
			}
			files = append(files, map[string]any{
				"filename": clean(f.Filename), "contentType": clean(f.ContentType),
				"length": len(content), "origin": origin,
			})
		}
		return map[string]any{"files": files}, nil, true
	}
	body := overwritten(c.Body)
	if !raw {
		return map[string]string{"origin": base64.StdEncoding.EncodeToString(body)}, nil, true
	}
	mediaType, _, _ := strings.Cut(strings.ToLower(c.ContentType), ";")
	mediaType = strings.Trim(mediaType, " \t")
	_, subtype, _ := strings.Cut(mediaType, "/")
	isJSON := mediaType == "application/json" || mediaType == "text/json" ||
		strings.HasSuffix(subtype, "+json") && subtype != "+json"
	if isJSON && utf8.Valid(body) && json.Valid(body) {
		return json.RawMessage(body), body, true
	}
	return string(body), nil, plain(body)
}

// clean is a string as it may stand in a message.
func clean(s string) string {
	var b strings.Builder
	for _, r := range s {
		b.WriteRune(r)
	}
	return strings.ReplaceAll(b.String(), tokenText, nilUUID)
}

func overwritten(b []byte) []byte {
	return bytes.ReplaceAll(b, []byte(tokenText), []byte(nilUUID))
}

func plain(b []byte) bool {
	return utf8.Valid(b) && !bytes.ContainsFunc(b, func(r rune) bool {
		return unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r)
	})
}

func sortedKeys(m map[string][]string) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
