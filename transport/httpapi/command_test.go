package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

const (
	put      = "/api/v3/command/webhook.put"
	get      = "/api/v3/command/webhook.get"
	list     = "/api/v3/command/webhook.list"
	formType = "application/x-www-form-urlencoded"
	jsonType = "application/json"
)

func TestACommandIsRunAsItsCaller(t *testing.T) {
	w := newWorld(t)
	r := newPost(put, formType, "eventKey=webhook.a")
	r.SetBasicAuth("ada", "secret")
	r.Header.Set("Idempotency-Key", "k-1")
	rec := w.do(r)
	wantStatus(t, rec, http.StatusOK)
	if got := rec.Body.String(); got != `{"plain":"<json>"}` {
		t.Errorf("answer %s", got)
	}
	if got := rec.Header().Get("Content-Type"); got != jsonType {
		t.Errorf("Content-Type %q", got)
	}
	req := w.commands.requests[0]
	if req.Caller.Principal != "ada" || req.Command.Name != "webhook.put" || req.IdempotencyKey != "k-1" || *catalog.Arg[string](req.Args, "eventKey") != "webhook.a" {
		t.Errorf("request %+v", req)
	}
}

func TestParametersComeFromQueryFormAndJSON(t *testing.T) {
	for name, r := range map[string]*http.Request{
		"query":             newPost(put+"?eventKey=webhook.a&maxPayloadLength=7&enabled=false", "", ""),
		"form":              newPost(put, formType, "eventKey=webhook.a&maxPayloadLength=7&enabled=false"),
		"JSON":              newPost(put, "application/json; charset=utf-8", `{"eventKey":"webhook.a","maxPayloadLength":7,"enabled":false}`),
		"JSON texts":        newPost(put, jsonType, `{"eventKey":"webhook.a","maxPayloadLength":"7","enabled":"false"}`),
		"all together":      newPost(put+"?eventKey=webhook.a&enabled=false", formType, "maxPayloadLength=7&eventKey=webhook.a"),
		"JSON names twice":  newPost(put, jsonType, `{"eventKey":"webhook.a","eventKey":"webhook.a","maxPayloadLength":7,"enabled":false}`),
		"an unknown length": chunked(newPost(put, formType, "eventKey=webhook.a&maxPayloadLength=7&enabled=false")),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			wantStatus(t, w.do(r), http.StatusOK)
			args := w.commands.requests[0].Args
			if *catalog.Arg[string](args, "eventKey") != "webhook.a" || *catalog.Arg[int](args, "maxPayloadLength") != 7 || *catalog.Arg[bool](args, "enabled") {
				t.Errorf("args %+v", args)
			}
		})
	}
	t.Run("and none without a body of any type", func(t *testing.T) {
		wantStatus(t, newWorld(t).do(newPost(get, "application/yaml", "")), http.StatusOK)
	})
	t.Run("and a GET may have them, too", func(t *testing.T) {
		w := newWorld(t)
		wantStatus(t, w.get(get+"?uuid="+token), http.StatusOK)
		if got := catalog.Arg[secret.Token](w.commands.requests[0].Args, "uuid"); got.Reveal() != token {
			t.Error("another uuid")
		}
	})
}

func chunked(r *http.Request) *http.Request {
	r.ContentLength = -1
	return r
}

func TestBadParameters(t *testing.T) {
	encoded := newPost(put, jsonType, `{}`)
	encoded.Header.Set("Content-Encoding", "br")
	key := func(values ...string) *http.Request {
		r := newPost(put, formType, "eventKey=webhook.a")
		r.Header["Idempotency-Key"] = values
		return r
	}
	large := `{"eventKey":"` + strings.Repeat("x", 1<<20) + `"}`
	for name, c := range map[string]struct {
		request *http.Request
		kind    fault.Kind
		detail  string
	}{
		"an unknown one is named":              {newPost(put, formType, "colour=red"), fault.Invalid, `"colour"`},
		"two values":                           {newPost(put+"?eventKey=webhook.a", formType, "eventKey=webhook.b"), fault.Invalid, "eventKey"},
		"two JSON members":                     {newPost(put, jsonType, `{"eventKey":"webhook.a","eventKey":"webhook.b"}`), fault.Invalid, "eventKey"},
		"alias and name that differ":           {newPost(put, formType, "payloadType=raw&payloadHandling=base64"), fault.Invalid, "payloadType"},
		"a password in the query":              {newPost(put+"?password=p", "", ""), fault.Invalid, "password"},
		"null":                                 {newPost(put, jsonType, `{"eventKey":null}`), fault.Invalid, ""},
		"a nested object":                      {newPost(put, jsonType, `{"eventKey":{}}`), fault.Invalid, ""},
		"an array":                             {newPost(put, jsonType, `["eventKey"]`), fault.Invalid, ""},
		"two JSON documents":                   {newPost(put, jsonType, `{} {}`), fault.Invalid, ""},
		"a cut JSON document":                  {newPost(put, jsonType, `{"eventKey":"webhook.a"`), fault.Invalid, ""},
		"JSON that is no UTF-8":                {newPost(put, jsonType, "{\"eventKey\":\"\xff\"}"), fault.Invalid, ""},
		"a form that is no UTF-8":              {newPost(put, formType, "eventKey=%ff"), fault.Invalid, ""},
		"a malformed form":                     {newPost(put, formType, "eventKey=%zz"), fault.Invalid, ""},
		"a malformed query":                    {newPost(put+"?eventKey=%zz", "", ""), fault.Invalid, ""},
		"a missing one":                        {newPost("/api/v3/command/webhook.delete", "", ""), fault.Invalid, "uuid"},
		"a body of another type":               {newPost(put, "text/plain", "x"), fault.Unsupported, ""},
		"a body without type":                  {newPost(put, "", "x"), fault.Unsupported, ""},
		"a multipart body":                     {newPost(put, multipartType, parts(`name="eventKey"`, "webhook.a")), fault.Unsupported, ""},
		"an encoded body":                      {encoded, fault.Unsupported, ""},
		"a body over 1 MiB":                    {newPost(put, jsonType, large), fault.TooLarge, ""},
		"a body over 1 MiB of unknown length":  {chunked(newPost(put, jsonType, large)), fault.TooLarge, ""},
		"an empty idempotency key":             {key(""), fault.Invalid, "Idempotency-Key"},
		"an idempotency key of 256 characters": {key(strings.Repeat("k", 256)), fault.Invalid, "Idempotency-Key"},
		"an idempotency key with a space":      {key("a b"), fault.Invalid, "Idempotency-Key"},
		"an idempotency key beyond ASCII":      {key("ä"), fault.Invalid, "Idempotency-Key"},
		"two idempotency keys":                 {key("a", "b"), fault.Invalid, "Idempotency-Key"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			document := wantProblem(t, w.do(c.request), c.kind)
			if detail, _ := document["detail"].(string); !strings.Contains(detail, c.detail) {
				t.Errorf("detail %q does not name %q", detail, c.detail)
			}
			if len(w.commands.requests) != 0 {
				t.Error("the command was run")
			}
		})
	}
}

func TestIdempotencyKeys(t *testing.T) {
	w := newWorld(t)
	r := newPost(put, formType, "eventKey=webhook.a")
	r.Header.Set("Idempotency-Key", strings.Repeat("~", 255))
	wantStatus(t, w.do(r), http.StatusOK)
	look := httptest.NewRequest(http.MethodGet, list, nil)
	look.Header.Set("Idempotency-Key", "not looked at")
	wantStatus(t, w.do(look), http.StatusOK)
	if got := w.commands.requests; len(got[0].IdempotencyKey) != 255 || got[1].IdempotencyKey != "" {
		t.Errorf("requests %+v", got)
	}
}

func TestFailedCommands(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		kind   fault.Kind
		header [2]string
	}{
		"not allowed":          {fault.New(fault.Forbidden, "No."), fault.Forbidden, [2]string{}},
		"not there":            {fault.New(fault.NotFound, "No."), fault.NotFound, [2]string{}},
		"taken":                {fault.New(fault.Conflict, "No."), fault.Conflict, [2]string{}},
		"over a rate":          {fault.New(fault.TooMany, "No.").After(1500 * time.Millisecond), fault.TooMany, [2]string{"Retry-After", "2"}},
		"the log is away":      {fault.New(fault.Unavailable, "No."), fault.Unavailable, [2]string{"Retry-After", "2"}},
		"something unforeseen": {&json.InvalidUnmarshalError{}, fault.Internal, [2]string{}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.commands.err = c.err
			rec := w.do(newPost(put, formType, "eventKey=webhook.a"))
			if document := wantProblem(t, rec, c.kind); document["instance"] != put {
				t.Errorf("document %v", document)
			}
			if c.header[0] != "" && rec.Header().Get(c.header[0]) != c.header[1] {
				t.Errorf("headers %v", rec.Header())
			}
			if logged := w.log.String() != ""; logged != (c.kind.Status() >= 500) {
				t.Errorf("log %s", w.log)
			}
		})
	}
	t.Run("an answer that is no JSON", func(t *testing.T) {
		w := newWorld(t)
		w.commands.answer = func() {}
		wantProblem(t, w.get(list), fault.Internal)
	})
}

func TestAuthenticationComesBeforeParameters(t *testing.T) {
	w := newWorld(t)
	w.auth = fault.New(fault.Unauthenticated, "Who are you?")
	rec := w.do(httptest.NewRequest(http.MethodPost, put+"?colour=red", untouched{t}))
	wantProblem(t, rec, fault.Unauthenticated)
	challenges := []string{`Basic realm="hooklog", charset="UTF-8"`, `Bearer realm="hooklog"`}
	if diff := cmp.Diff(challenges, rec.Header().Values("WWW-Authenticate")); diff != "" {
		t.Errorf("WWW-Authenticate (-want +got):\n%s", diff)
	}
	w.auth = fault.New(fault.TooMany, "Slowly.").After(time.Second)
	rec = w.get(list)
	wantProblem(t, rec, fault.TooMany)
	if got := rec.Header().Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After %q", got)
	}
}

// FuzzParameters holds the reading of JSON parameters against encoding/json.
func FuzzParameters(f *testing.F) {
	for _, seed := range []string{`{"uuid":"` + token + `"}`, `{"uuid":1e3}`, `{"a":{"b":[]}}`, `{}{}`, `[`, `{"a":null}`, `{"a":1,}`, "\ufeff{}"} {
		f.Add(seed, "uuid="+token)
		f.Add(seed, "")
	}
	f.Fuzz(func(t *testing.T, body, query string) {
		w := newWorld(t)
		r := newPost(get, jsonType, body)
		r.URL.RawQuery = query
		rec := w.do(r)
		if rec.Code != http.StatusOK {
			wantProblem(t, rec, fault.Invalid)
			return
		}
		var object map[string]any
		if body != "" && json.Unmarshal([]byte(body), &object) != nil {
			t.Fatalf("%q was taken", body)
		}
		for name, value := range object {
			if text, ok := value.(string); !ok || name != "uuid" || catalog.Arg[secret.Token](w.commands.requests[0].Args, "uuid").Reveal() != text {
				t.Fatalf("%q was taken", body)
			}
		}
	})
}
