package event_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/event"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMessagesAreTheGoldenOnes(t *testing.T) {
	files := []event.File{
		{Filename: `a "file".txt`, ContentType: "text/plain", Content: []byte("first\nline\n")},
		{Filename: "b.bin", ContentType: "application/octet-stream", Content: []byte("\x00\x01\xff")},
		{Filename: "empty", Content: nil},
	}
	for name, change := range map[string]func(*event.Call){
		"base64": func(c *event.Call) { c.Body = []byte("any \x00 bytes <b>") },
		"raw-json": func(c *event.Call) {
			c.PayloadType, c.ContentType = webhook.Raw, "application/json"
			c.Body = []byte(`{ "n": 1.00000000000000000001e+2, "h": "<&>", "n": 2 }`)
		},
		"raw-text": func(c *event.Call) {
			c.PayloadType = webhook.Raw
			c.Body = []byte("say \"hello\" \\\t<b>&\r\n\u2028ä")
		},
		"ignore":  func(c *event.Call) { c.PayloadType, c.Body = webhook.Ignore, []byte("body") },
		"no-body": func(c *event.Call) { c.Method, c.ContentType, c.Body = "GET", "", nil },
		"files-base64": func(c *event.Call) {
			c.ContentType, c.Files = "multipart/form-data; boundary=x", files
		},
		"files-raw": func(c *event.Call) {
			c.PayloadType, c.ContentType, c.Files = webhook.Raw, "multipart/form-data; boundary=x", files[:1]
		},
		"files-ignore": func(c *event.Call) { c.PayloadType, c.Files = webhook.Ignore, files },
		"files-none":   func(c *event.Call) { c.Files = []event.File{} },
	} {
		t.Run(name, func(t *testing.T) {
			c := sample()
			change(c)
			got := encode(t, c)
			path := filepath.Join("testdata", name+".json")
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func member(t *testing.T, message []byte, name string) string {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(message, &members); err != nil {
		t.Fatal(err)
	}
	return string(members[name])
}

func TestHeaders(t *testing.T) {
	for name, test := range map[string]struct {
		header map[string][]string
		host   string
		want   string
	}{
		"none are an empty object": {nil, "", `{}`},
		"are lower-cased and sorted by that": {
			map[string][]string{"Zeta": {"1"}, "X_y": {"2"}, "X-Y": {"3"}, "XZ": {"4"}},
			"",
			`{"x-y":"3","x_y":"2","xz":"4","zeta":"1"}`,
		},
		"that repeat are joined":      {map[string][]string{"A": {"1", "", "2"}}, "", `{"a":"1, , 2"}`},
		"that differ by case are one": {map[string][]string{"AB": {"1"}, "Ab": {"2"}}, "", `{"ab":"1, 2"}`},
		"without a value are empty":   {map[string][]string{"A": {}}, "", `{"a":""}`},
		"include the host":            {map[string][]string{"A": {"1"}, "Host": {"other"}}, "h:1", `{"a":"1","host":"h:1"}`},
		"are without credentials": {
			map[string][]string{"Token": {"1"}, "Authorization": {"2"}, "Cookie": {"3"}, "authorization": {"4"}, "Tokens": {"5"}},
			"",
			`{"tokens":"5"}`,
		},
		"are without those of the connection": {
			map[string][]string{
				"Connection": {"close"}, "Keep-Alive": {"1"}, "Proxy-Authenticate": {"1"}, "Proxy-Authorization": {"1"},
				"Proxy-Connection": {"1"}, "Te": {"1"}, "Trailer": {"1"}, "Transfer-Encoding": {"1"}, "Upgrade": {"1"}, "Accept": {"1"},
			},
			"",
			`{"accept":"1"}`,
		},
		"are without those the connection names": {
			map[string][]string{"Connection": {"x-one ,\tX-TWO", "X-Four"}, "X-One": {"1"}, "X-Two": {"2"}, "X-Three": {"3"}, "X-Four": {"4"}},
			"",
			`{"x-three":"3"}`,
		},
		"are escaped as JSON demands": {
			map[string][]string{"A": {"\"\\\t\n\r\b\f\x00\x1f\x7f</é\u2028"}},
			"",
			`{"a":"\"\\\t\n\r\u0008\u000c\u0000\u001f` + "\x7f</é\u2028" + `"}`,
		},
		"have U+FFFD for what is no UTF-8":         {map[string][]string{"A": {"a\xffb\xe2\x82"}}, "", `{"a":"a` + "\uFFFDb\uFFFD\uFFFD" + `"}`},
		"are freed of the token":                   {map[string][]string{"A": {"x" + tokenText + tokenText + "x"}}, "", `{"a":"x` + nilUUID + nilUUID + `x"}`},
		"are freed of the token in the host":       {nil, tokenText + ".example.com", `{"host":"` + nilUUID + `.example.com"}`},
		"are freed of the token in their names":    {map[string][]string{"X-" + tokenText: {"1"}}, "", `{"x-` + nilUUID + `":"1"}`},
		"are freed of it where case would hide it": {map[string][]string{"X-" + strings.ToUpper(tokenText): {"1"}}, "", `{"x-` + nilUUID + `":"1"}`},
		"are one when the overwritten names are": {
			map[string][]string{"X-" + tokenText: {"2"}, "X-" + nilUUID: {"1"}}, "", `{"x-` + nilUUID + `":"1, 2"}`,
		},
		"are dropped by a name with the token": {
			map[string][]string{"X-" + tokenText: {"2"}, "Connection": {"x-" + tokenText}}, "", `{}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := sample()
			c.Header, c.Host = test.header, test.host
			if got := member(t, encode(t, c), "headers"); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestQuery(t *testing.T) {
	for name, test := range map[string]struct {
		query map[string][]string
		want  string
	}{
		"none is an empty object":              {nil, `{}`},
		"is sorted, its values are as sent":    {map[string][]string{"b": {"2", "1"}, "B": {""}, "a": {}}, `{"B":[""],"a":[],"b":["2","1"]}`},
		"is without the service's own":         {map[string][]string{"token": {"x"}, "pollingRedirectEnabled": {"true"}, "Token": {"y"}}, `{"Token":["y"]}`},
		"is escaped":                           {map[string][]string{"\"": {"\x01"}}, `{"\"":["\u0001"]}`},
		"has U+FFFD for what is no UTF-8":      {map[string][]string{"\xff": {"\xfe"}}, "{\"\uFFFD\":[\"\uFFFD\"]}"},
		"is one where names have become equal": {map[string][]string{"\xff": {"2"}, "\xfe": {"1"}}, "{\"\uFFFD\":[\"1\",\"2\"]}"},
		"is freed of the token":                {map[string][]string{tokenText: {"a", tokenText}}, `{"` + nilUUID + `":["a","` + nilUUID + `"]}`},
	} {
		t.Run(name, func(t *testing.T) {
			c := sample()
			c.Query = test.query
			if got := member(t, encode(t, c), "query"); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestEncodingLeavesTheCallersHeaderAndQueryAlone(t *testing.T) {
	values := append(make([]string, 0, 4), "1")
	c := sample()
	c.Header = map[string][]string{"AB": values, "Ab": {tokenText}}
	c.Query = map[string][]string{"\xfe": values, "\xff": {tokenText}}
	encode(t, c)
	if got := values[:2][1]; got != "" {
		t.Errorf("a value was appended to the caller's: %q", got)
	}
	if c.Header["Ab"][0] != tokenText || c.Query["\xff"][0] != tokenText {
		t.Error("a string of the caller changed")
	}
}

func TestContentTypeAndMethodAreFreedOfTheToken(t *testing.T) {
	c := sample()
	c.ContentType = "multipart/form-data; boundary=" + tokenText
	c.Method = tokenText
	got := encode(t, c)
	if want := `"multipart/form-data; boundary=` + nilUUID + `"`; member(t, got, "contentType") != want {
		t.Errorf("got %s, want %s", member(t, got, "contentType"), want)
	}
	if want := `"` + nilUUID + `"`; member(t, got, "method") != want {
		t.Errorf("got %s, want %s", member(t, got, "method"), want)
	}
}

// An escape can put hexadecimal digits in front of the rest of a token.
func TestATokenThatBeginsInsideAnEscape(t *testing.T) {
	for name, test := range map[string]struct{ token, value, want string }{
		"digits of an escape": {
			"001f2345-6789-4abc-8def-0123456789ab", "\x1f2345-6789-4abc-8def-0123456789ab", "\x000000" + nilUUID[8:],
		},
		"a form feed": {
			"f2345678-6789-4abc-8def-0123456789ab", "\f2345678-6789-4abc-8def-0123456789ab", "\f2345678-6789-4abc-8def-0123456789ab",
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := sample()
			c.Query = map[string][]string{"q": {test.value}}
			got, err := event.Encode(c, token(t, test.token))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(got, []byte(test.token)) {
				t.Errorf("the token is in the message: %s", got)
			}
			query := decode(t, got).(map[string]any)["query"].(map[string]any)
			if diff := cmp.Diff([]any{test.want}, query["q"]); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestARawBodyThatIsJSONOnlyWithTheTokenIsText(t *testing.T) {
	const tokenText = "f2345678-6789-4abc-8def-0123456789ab"
	c := sample()
	c.PayloadType, c.ContentType, c.Body = webhook.Raw, "application/json", []byte(`"\`+tokenText+`"`)
	got, err := event.Encode(c, token(t, tokenText))
	if err != nil {
		t.Fatal(err)
	}
	if want := `"\"\\` + nilUUID + `\""`; member(t, got, "payload") != want {
		t.Errorf("got %s, want %s", member(t, got, "payload"), want)
	}
}

func TestTheLimitCountsTheEncodedMessage(t *testing.T) {
	c := sample()
	c.PayloadType = webhook.Raw
	c.Body = []byte("a")
	around := len(encode(t, c)) - 1

	c.Body = bytes.Repeat([]byte("a"), event.MaxEncoded-around)
	if got, err := event.Encode(c, secret.Token{}); err != nil || len(got) != event.MaxEncoded {
		t.Errorf("a message of exactly the limit: %d bytes, %v", len(got), err)
	}
	for name, body := range map[string][]byte{
		"one byte over":      bytes.Repeat([]byte("a"), event.MaxEncoded-around+1),
		"four MiB of quotes": bytes.Repeat([]byte(`"`), 4<<20),
	} {
		t.Run(name, func(t *testing.T) {
			c.Body = body
			if _, err := event.Encode(c, secret.Token{}); !fault.Is(err, fault.TooLarge) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("files count together", func(t *testing.T) {
		c := sample()
		c.Files = []event.File{{Content: make([]byte, 4<<20)}, {Content: make([]byte, 4<<20)}}
		if _, err := event.Encode(c, secret.Token{}); !fault.Is(err, fault.TooLarge) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("headers count too", func(t *testing.T) {
		c := sample()
		c.Header = map[string][]string{"A": {strings.Repeat("a", event.MaxEncoded)}}
		if _, err := event.Encode(c, secret.Token{}); !fault.Is(err, fault.TooLarge) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("four MiB in base64 fit", func(t *testing.T) {
		c := sample()
		c.Body = make([]byte, 4<<20)
		if _, err := event.Encode(c, secret.Token{}); err != nil {
			t.Error(err)
		}
	})
}
