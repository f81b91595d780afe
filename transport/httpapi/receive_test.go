package httpapi_test

import (
	"context"
	"encoding/base64"
	"errors"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/webhook"
)

// message is what the tests read of an event message.
type message struct {
	EventKey, TraceID, CorrelationID, Method, ContentType string
	Headers                                               map[string]string
	Query                                                 map[string][]string
	Payload                                               *struct {
		Origin string
		Files  []struct {
			Filename, ContentType, Origin string
			Length                        int
		}
	}
}

func messageOf(t *testing.T, w *world) message {
	t.Helper()
	ev, _ := w.journal.taken(t)
	return decode[message](t, ev.Value)
}

var traceIDPattern = regexp.MustCompile(`^abcdef:[a-z2-7]{10}$`)

func TestACallIsOnTheLogBeforeItIsAnswered(t *testing.T) {
	w := newWorld(t)
	r := withToken(newPost(receive+"?a=1&a=2", "text/plain", "hello"))
	r.RemoteAddr = "192.0.2.7:1234"
	rec := w.do(r)

	res := resultOf(t, rec)
	if res.StatusCode != 200 || res.Status != "ok" || res.PollingRedirectEnabled == nil || *res.PollingRedirectEnabled {
		t.Errorf("result %+v", res)
	}
	if !traceIDPattern.MatchString(res.TraceID) {
		t.Errorf("trace id %q", res.TraceID)
	}
	if want := `{"status":"OK","traceId":"` + res.TraceID + `"}`; string(res.Value) != want {
		t.Errorf("value %s, want %s", res.Value, want)
	}
	if rec.Header().Get("svc-result-correlationid") != res.CorrelationID || rec.Header().Get("svc-trace-id") != res.TraceID {
		t.Errorf("headers %v beside %+v", rec.Header(), res)
	}

	ev, accepted := w.journal.taken(t)
	if ev.Topic != "svc.event.webhook.orders" || ev.Key != nil || !ev.Time.Equal(ev.Time.Truncate(time.Millisecond)) {
		t.Errorf("event record %v with key %q at %v", ev.Position, ev.Key, ev.Time)
	}
	if ev.Header("svc-trace-id") != res.TraceID || ev.Header("ce_id") != res.CorrelationID || ev.Header("ce_source") != baseURL+"/webhook/"+last6 {
		t.Errorf("event headers %v", ev.Headers)
	}
	if tp := ev.Header("traceparent"); !regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-00$`).MatchString(tp) {
		t.Errorf("traceparent %q", tp)
	}
	want := call.Accepted{
		CorrelationID: res.CorrelationID, TraceID: res.TraceID, EventKey: "webhook.orders", Last6: last6,
		Received: ev.Time, Method: "POST", Size: 5, Address: "192.0.2.7",
		Event: call.EventAt(record.Position{Topic: ev.Topic, Offset: 42}, record.ContentDigest(ev.Headers, ev.Value)),
	}
	if accepted.Event != want.Event || accepted.Size != 5 || accepted.Address != want.Address || accepted.TraceID != want.TraceID ||
		!accepted.Received.Equal(want.Received) || accepted.Last6 != last6 || accepted.EventKey != want.EventKey || len(accepted.Listeners) != 0 {
		t.Errorf("accepted %+v, want %+v", accepted, want)
	}
	if got := w.journal.records[1].Partition; got != call.Partition(res.CorrelationID, 3) {
		t.Errorf("accepted record on partition %d", got)
	}
	m := messageOf(t, w)
	if m.TraceID != res.TraceID || m.Payload.Origin != base64.StdEncoding.EncodeToString([]byte("hello")) || !slices.Equal(m.Query["a"], []string{"1", "2"}) {
		t.Errorf("message %+v", m)
	}
}

func TestTheTimeOfAnAcceptedRecordIsWhenItsEventWasOnTheLog(t *testing.T) {
	w := newWorld(t)
	const slow = 20 * time.Millisecond
	w.journal.refuse = func(_ context.Context, r *record.Record) error {
		if r.Topic != record.TopicCall {
			time.Sleep(slow) // the log takes so long
		}
		return nil
	}
	if rec := w.do(withToken(newPost(receive, "text/plain", "hello"))); rec.Code != http.StatusOK {
		t.Fatalf("answered %d", rec.Code)
	}
	ev, accepted := w.journal.taken(t)
	if took := w.journal.records[1].Time.Sub(accepted.Received); !accepted.Received.Equal(ev.Time) || took < slow-time.Millisecond {
		t.Errorf("the record is of %s after the call", took)
	}
}

func TestTokenPlaces(t *testing.T) {
	multipartToken := strings.ReplaceAll("--b\nContent-Disposition: form-data; name=\"token\"\n\n"+token+"\n--b--\n", "\n", "\r\n")
	for name, r := range map[string]*http.Request{
		"the header":                         withToken(newPost(receive, "text/plain", "x")),
		"the query":                          newPost(receive+"?token="+token, "text/plain", "x"),
		"the query of a GET":                 httptest.NewRequest(http.MethodGet, receive+"?token="+token, nil),
		"the header of a GET":                withToken(httptest.NewRequest(http.MethodGet, receive, nil)),
		"header and query alike":             withToken(newPost(receive+"?token="+token, "text/plain", "x")),
		"header and a query that repeats it": withToken(newPost(receive+"?token="+token+"&token="+token, "text/plain", "x")),
		"a form":                             newPost(receive, "application/x-www-form-urlencoded", "a=b&token="+token),
		"a form, type in other case":         newPost(receive, "Application/X-WWW-Form-Urlencoded; charset=utf-8", "token="+token),
		"a JSON body":                        newPost(receive, "application/json", `{"token":"`+token+`"}`),
		"a body of a JSON dialect":           newPost(receive, "application/cloudevents+json; charset=utf-8", `{"a":{"token":"x"},"token":"`+token+`"}`),
		"a multipart body":                   newPost(receive, "multipart/form-data; boundary=b", multipartToken),
		"the header beside foreign tokens in the body": withToken(newPost(receive, "application/json", `{"token":"a","token":"b"}`)),
		"the header beside foreign token parts":        withToken(newPost(receive, "multipart/form-data; boundary=b", strings.Replace(multipartToken, "--b\r\n", strings.TrimSuffix(multipartToken, "--b--\r\n")+"--b\r\n", 1))),
	} {
		t.Run("in "+name+" opens the webhook and is not passed on", func(t *testing.T) {
			w := newWorld(t)
			resultOf(t, w.do(r))
			ev, _ := w.journal.taken(t)
			everything := string(record.Leaf(&ev)) + string(record.Leaf(&w.journal.records[1])) + w.log.String()
			if !strings.Contains(everything, "webhook.orders") {
				t.Fatal("the search finds nothing at all")
			}
			if strings.Contains(everything, token) || strings.Contains(string(ev.Value), base64.StdEncoding.EncodeToString([]byte(token))) {
				t.Error("the token is on the log or in the log lines")
			}
		})
	}
}

func TestTheTokenInABodyIsOverwritten(t *testing.T) {
	w := newWorld(t, webhookWith(t, func(g *webhook.Gate) { g.PayloadType = webhook.Raw }))
	resultOf(t, w.do(newPost(receive, "application/json", `{"token":"`+token+`"}`)))
	ev, accepted := w.journal.taken(t)
	if want := `"payload":{"token":"` + nilUUID + `"}`; !strings.Contains(string(ev.Value), want) {
		t.Errorf("%s lacks %s", ev.Value, want)
	}
	if accepted.Size != len(`{"token":"`+token+`"}`) {
		t.Errorf("size %d", accepted.Size)
	}
}

func TestHeaderNamesComeInAnyCase(t *testing.T) {
	w := newWorld(t)
	server := httptest.NewServer(w.handler)
	defer server.Close()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+receive, strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header["tOKEN"] = []string{token}
	answer, err := server.Client().Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("status %d", answer.StatusCode)
	}
}

// untouched is a body that nobody may read.
type untouched struct{ t *testing.T }

func (u untouched) Read([]byte) (int, error) {
	u.t.Error("the body was read")
	return 0, errors.New("read")
}

func TestCallsWithoutAWebhookAreAnsweredAlike(t *testing.T) {
	post := func(contentType, body string) *http.Request { return newPost(receive, contentType, body) }
	header := func(value string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, receive, untouched{t})
		r.Header.Set("Token", value)
		return r
	}
	encoded := post("application/json", `{"token":"`+token+`"}`)
	encoded.Header.Set("Content-Encoding", "gzip")
	encodedUnknown := header(unknown)
	encodedUnknown.Header.Set("Content-Encoding", "gzip")
	requests := map[string]*http.Request{
		"no token":                            post("text/plain", token),
		"no token in a GET":                   httptest.NewRequest(http.MethodGet, receive, nil),
		"an unknown token":                    header(unknown),
		"an upper-case token":                 header(strings.ToUpper(token)),
		"an empty token":                      header(""),
		"a token in braces":                   header("{" + token + "}"),
		"an unknown token in the query":       httptest.NewRequest(http.MethodPost, receive+"?token="+unknown, untouched{t}),
		"an unknown token and a bad redirect": httptest.NewRequest(http.MethodGet, receive+"?pollingRedirectEnabled=maybe&token="+unknown, nil),
		"an unknown token and a bad query":    httptest.NewRequest(http.MethodGet, receive+"?a=%zz&token="+unknown, nil),
		"an unknown token and an encoding":    encodedUnknown,
		"an unknown token in a form":          post("application/x-www-form-urlencoded", "token="+unknown),
		"an unknown token in JSON":            post("application/json", `{"token":"`+unknown+`"}`),
		"JSON without a token":                post("application/json", `{"a":{"token":"`+token+`"}}`),
		"a token of another JSON type":        post("application/json", `{"token":7}`),
		"malformed JSON":                      post("application/json", `{"token":"`+token+`"`),
		"a token in an encoded body":          encoded,
		"a form in a GET":                     httptest.NewRequest(http.MethodGet, receive, untouched{t}),
		"a multipart body without token":      post("multipart/form-data; boundary=b", "--b--\r\n"),
		"a token part of 65 bytes":            post("multipart/form-data; boundary=b", "--b\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n"+token+strings.Repeat(" ", 29)+"\r\n--b--\r\n"),
	}
	requests["a form in a GET"].Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := newWorld(t)
	first := w.do(header(unknown))
	if document := wantProblem(t, first, fault.NotFound); document["traceId"] != nil {
		t.Errorf("document %v", document)
	}
	for name, r := range requests {
		t.Run(name, func(t *testing.T) {
			rec := w.do(r)
			if rec.Code != first.Code || rec.Body.String() != first.Body.String() || !maps.EqualFunc(rec.Header(), first.Header(), slices.Equal) {
				t.Errorf("%d %v %s\nis not\n%d %v %s", rec.Code, rec.Header(), rec.Body, first.Code, first.Header(), first.Body)
			}
		})
	}
	if got := first.Header().Get("Connection"); got != "close" {
		t.Errorf("Connection %q", got)
	}
	if len(w.journal.records) != 0 || w.log.String() != "" {
		t.Errorf("records %v, log %s", w.journal.records, w.log)
	}
}

func TestRefusedCalls(t *testing.T) {
	twice := withToken(newPost(receive, "text/plain", "x"))
	twice.Header.Add("Token", token)
	encoded := withToken(newPost(receive, "text/plain", "x"))
	encoded.Header.Set("Content-Encoding", "identity")
	chunked := withToken(newPost(receive, "text/plain", strings.Repeat("x", 11)))
	chunked.ContentLength = -1
	announced := withToken(httptest.NewRequest(http.MethodPost, receive, untouched{t}))
	announced.ContentLength = 11
	short := withToken(newPost(receive, "text/plain", "x"))
	short.ContentLength = 2
	large := strings.Repeat("x", webhook.MaxPayloadLength+1)
	unidentified := newPost(receive, "application/json", large)
	unidentified.ContentLength = -1

	for name, c := range map[string]struct {
		request    *http.Request
		kind       fault.Kind
		identified bool
		closes     bool
	}{
		"different tokens in header and query":        {withToken(newPost(receive+"?token="+unknown, "text/plain", "x")), fault.Invalid, false, true},
		"one of two query tokens differs":             {withToken(newPost(receive+"?token="+token+"&token="+unknown, "text/plain", "x")), fault.Invalid, false, true},
		"two header tokens":                           {twice, fault.Invalid, false, true},
		"two query tokens":                            {newPost(receive+"?token="+token+"&token="+token, "text/plain", "x"), fault.Invalid, false, true},
		"two form tokens":                             {newPost(receive, "application/x-www-form-urlencoded", "token="+token+"&token="+token), fault.Invalid, false, true},
		"two JSON tokens":                             {newPost(receive, "application/json", `{"token":"`+token+`","token":"`+token+`"}`), fault.Invalid, false, true},
		"a redirect that is no boolean":               {withToken(newPost(receive+"?pollingRedirectEnabled=1", "text/plain", "x")), fault.Invalid, true, false},
		"a contradictory redirect":                    {withToken(newPost(receive+"?pollingRedirectEnabled=true&pollingRedirectEnabled=false", "text/plain", "x")), fault.Invalid, true, false},
		"a malformed query":                           {withToken(newPost(receive+"?a=%zz", "text/plain", "x")), fault.Invalid, true, false},
		"a body that ends too early":                  {short, fault.Invalid, true, false},
		"a body over the limit":                       {withToken(newPost(receive, "text/plain", strings.Repeat("x", 11))), fault.TooLarge, true, true},
		"a body over the limit by its length alone":   {announced, fault.TooLarge, true, true},
		"a body of unknown length over the limit":     {chunked, fault.TooLarge, true, true},
		"a body token with a body over the limit":     {newPost(receive, "application/json", `{"token":"`+token+`"}`), fault.TooLarge, true, false},
		"a body token behind 4 MB":                    {newPost(receive, "application/json", large), fault.TooLarge, false, true},
		"a body token behind 4 MB of unknown length":  {unidentified, fault.TooLarge, false, true},
		"an encoded body":                             {encoded, fault.Unsupported, true, false},
		"a raw body that is neither JSON nor text":    {withToken(newPost(receive, "application/json", "\x00")), fault.Unsupported, true, false},
		"a multipart body without boundary":           {withToken(newPost(receive, "multipart/form-data", "x")), fault.Invalid, true, false},
		"a malformed multipart body":                  {withToken(newPost(receive, "multipart/form-data; boundary=b", "x")), fault.Invalid, true, false},
		"a malformed multipart body without webhook":  {newPost(receive, "multipart/form-data; boundary=b", "x"), fault.Invalid, false, true},
		"a multipart body over the limit":             {withToken(newPost(receive, "multipart/form-data; boundary=b", strings.Repeat("x", 11))), fault.TooLarge, true, true},
		"a multipart body, without token, over 4 MB":  {newPost(receive, "multipart/form-data; boundary=b", large), fault.TooLarge, false, true},
		"a multipart epilogue that goes on and on":    {chunkedMultipart("--b--\r\n1234"), fault.TooLarge, true, true},
		"a multipart part that goes on and on":        {chunkedMultipart("--b\r\n\r\n12345"), fault.TooLarge, true, true},
		"multipart framing that just passes the edge": {chunkedMultipart("--b--\r\n123"), 0, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, webhookWith(t, func(g *webhook.Gate) {
				g.PayloadType = webhook.Raw
				g.MaxPayloadLength = 10
			}))
			rec := w.do(c.request)
			if c.kind == 0 {
				resultOf(t, rec)
				return
			}
			document := wantProblem(t, rec, c.kind)
			if document["instance"] != receive {
				t.Errorf("instance %v", document["instance"])
			}
			if got := rec.Header().Get("Connection") == "close"; got != c.closes {
				t.Errorf("closes the connection: %t", got)
			}
			if len(w.journal.records) != 0 {
				t.Errorf("%d records on the log", len(w.journal.records))
			}
			wantErrorLine(t, w, document, c.kind, c.identified)
		})
	}
}

func chunkedMultipart(body string) *http.Request {
	r := withToken(newPost(receive, "multipart/form-data; boundary=b", body))
	r.ContentLength = -1
	return r
}

// wantErrorLine checks the one log line of a refused call, which has its trace
// id; a call without webhook has neither.
func wantErrorLine(t *testing.T, w *world, document map[string]any, kind fault.Kind, identified bool) {
	t.Helper()
	lines := w.log.lines(t)
	if !identified {
		if len(lines) != 0 || document["traceId"] != nil {
			t.Errorf("lines %v, document %v", lines, document)
		}
		return
	}
	traceID, _ := document["traceId"].(string)
	if !traceIDPattern.MatchString(traceID) {
		t.Errorf("document %v", document)
	}
	if len(lines) != 1 || lines[0]["msg"] != "Webhook ["+traceID+"]: ERROR "+kind.String() || lines[0]["event_key"] != "webhook.orders" {
		t.Errorf("lines %v", lines)
	}
}

func TestTheLineOfATakenCall(t *testing.T) {
	w := newWorld(t)
	res := resultOf(t, w.post("text/plain", "hello"))
	lines := w.log.lines(t)
	if len(lines) != 1 {
		t.Fatalf("lines %v", lines)
	}
	line := lines[0]
	if line["msg"] != "Webhook ["+res.TraceID+"]: OK" || line["level"] != "INFO" || line["size"] != 5.0 || line["last6"] != last6 || line["event_key"] != "webhook.orders" {
		t.Errorf("line %v", line)
	}
	if strings.Contains(w.log.String(), res.CorrelationID) {
		t.Error("the correlation id, a credential, is in the log line")
	}
}

func TestTheLogDoesNotTakeTheCall(t *testing.T) {
	broken := errors.New("broker-7.internal is down")
	for name, c := range map[string]struct {
		adjust func(*world)
		kind   fault.Kind
		retry  string
	}{
		"the event is refused":        {func(w *world) { w.journal.refuse = refuseOn("svc.event.webhook.orders", broken) }, fault.Unavailable, "2"},
		"the commit point is refused": {func(w *world) { w.journal.refuse = refuseOn(record.TopicCall, broken) }, fault.Unavailable, "2"},
		"the log says when to come back": {func(w *world) {
			w.journal.refuse = refuseOn(record.TopicCall, fault.New(fault.Unavailable, "Full.").After(6500*time.Millisecond))
		}, fault.Unavailable, "7"},
		"the record is too large": {func(w *world) {
			w.journal.refuse = refuseOn("svc.event.webhook.orders", fault.New(fault.TooLarge, "Too large."))
		}, fault.TooLarge, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c.adjust)
			rec := w.post("text/plain", "x")
			document := wantProblem(t, rec, c.kind)
			if got := rec.Header().Get("Retry-After"); got != c.retry {
				t.Errorf("Retry-After %q, want %q", got, c.retry)
			}
			if strings.Contains(rec.Body.String(), "broker-7") {
				t.Errorf("the problem shows the cause: %s", rec.Body)
			}
			wantErrorLine(t, w, document, c.kind, true)
		})
	}
}

func refuseOn(topic string, err error) func(context.Context, *record.Record) error {
	return func(_ context.Context, r *record.Record) error {
		if r.Topic == topic {
			return err
		}
		return nil
	}
}

func TestASlowLogIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(w *world) {
			w.journal.refuse = func(ctx context.Context, _ *record.Record) error {
				<-ctx.Done()
				return ctx.Err()
			}
		})
		start := time.Now()
		wantProblem(t, w.post("text/plain", "x"), fault.Unavailable)
		if took := time.Since(start); took != 8*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestAClientThatLeavesDoesNotStopItsCall(t *testing.T) {
	w := newWorld(t)
	ctx, leave := context.WithCancel(t.Context())
	w.journal.refuse = func(ctx context.Context, _ *record.Record) error {
		leave()
		return ctx.Err()
	}
	w.do(withToken(newPost(receive, "text/plain", "x")).WithContext(ctx))
	w.journal.taken(t)
}

func TestAGETHasNoPayload(t *testing.T) {
	w := newWorld(t)
	r := httptest.NewRequest(http.MethodGet, receive+"?token="+token+"&pollingRedirectEnabled=false&a=1", untouched{t})
	resultOf(t, w.do(r))
	m := messageOf(t, w)
	if m.Method != "GET" || m.Payload != nil || len(m.Query) != 1 || m.Query["a"][0] != "1" {
		t.Errorf("message %+v", m)
	}
}

func TestLimitsCountWhatIsIgnored(t *testing.T) {
	w := newWorld(t, webhookWith(t, func(g *webhook.Gate) {
		g.PayloadType = webhook.Ignore
		g.MaxPayloadLength = 3
	}))
	resultOf(t, w.post("text/plain", "123"))
	if _, accepted := w.journal.taken(t); accepted.Size != 3 {
		t.Errorf("size %d", accepted.Size)
	}
	wantProblem(t, w.post("text/plain", "1234"), fault.TooLarge)
}

func TestARedirectingCallIsSentToItsResult(t *testing.T) {
	w := newWorld(t, listenedBy("slow@1"))
	rec := w.do(withToken(newPost(receive+"?pollingRedirectEnabled=true", "text/plain", "x")))
	wantStatus(t, rec, http.StatusFound)
	_, accepted := w.journal.taken(t)
	h := rec.Header()
	if want := baseURL + result + "?svc-result-correlationid=" + accepted.CorrelationID + "&pollingRedirectEnabled=true"; h.Get("Location") != want {
		t.Errorf("Location %q, want %q", h.Get("Location"), want)
	}
	if h.Get("svc-result-correlationid") != accepted.CorrelationID || h.Get("svc-trace-id") != accepted.TraceID || h.Get("Cache-Control") != "no-store" {
		t.Errorf("headers %v", h)
	}
	if !slices.Equal(accepted.Listeners, []string{"slow@1"}) {
		t.Errorf("listeners %v", accepted.Listeners)
	}
}
