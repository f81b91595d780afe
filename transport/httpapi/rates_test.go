package httpapi_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/webhook"
)

func wantTooMany(t *testing.T, rec *httptest.ResponseRecorder, retry string) {
	t.Helper()
	wantProblem(t, rec, fault.TooMany)
	if got := rec.Header().Get("Retry-After"); got != retry {
		t.Errorf("Retry-After %q, want %q", got, retry)
	}
}

func TestAWebhookHasItsRateOfCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, withOther(t), func(w *world) { w.cfg.WebhookRate = 2 })
		get := func(token string) *httptest.ResponseRecorder { return w.get(receive + "?token=" + token) }
		resultOf(t, get(token))
		resultOf(t, get(token))
		wantTooMany(t, get(token), "1")
		wantTooMany(t, w.do(postTo(token, untouched{t})), "1")
		resultOf(t, get(other))
		time.Sleep(500 * time.Millisecond)
		resultOf(t, get(token))
		wantTooMany(t, get(token), "1")
		if lines := w.log.lines(t); !strings.HasSuffix(lines[len(lines)-1]["msg"].(string), "ERROR too-many") {
			t.Errorf("lines %v", lines)
		}
	})
}

func TestAWebhookHasItsRateOfBytes(t *testing.T) {
	largest := strings.Repeat("x", webhook.MaxPayloadLength)
	chunked := func() *http.Request {
		r := postTo(token, strings.NewReader(largest[:1000]))
		r.ContentLength = -1
		return r
	}
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, withOther(t), func(w *world) { w.cfg.WebhookBytes = 1000 })
		resultOf(t, w.do(postTo(token, strings.NewReader(largest)))) // the burst lets any call pass
		announced := postTo(token, untouched{t})
		announced.ContentLength = 2500
		wantTooMany(t, w.do(announced), "3")
		wantTooMany(t, w.do(chunked()), "1")
		wantTooMany(t, w.do(newPost(receive, "application/json", `{"token":"`+token+`"}`)), "1")
		resultOf(t, w.get(receive+"?token="+token)) // no body, no bytes
		resultOf(t, w.do(postTo(other, strings.NewReader("x"))))
		time.Sleep(time.Second)
		resultOf(t, w.do(chunked()))
		wantTooMany(t, w.do(chunked()), "1")
	})
}

func TestAUserHasARateOfCommands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(w *world) { w.cfg.UserRate = 1 })
		list := func(user string) *httptest.ResponseRecorder {
			r := httptest.NewRequest(http.MethodGet, "/api/v3/command/webhook.list", nil)
			r.SetBasicAuth(user, "x")
			return w.do(r)
		}
		for range 2 {
			wantStatus(t, list("one"), http.StatusOK)
		}
		wantTooMany(t, list("one"), "1")
		wantStatus(t, list("two"), http.StatusOK)
		time.Sleep(time.Second)
		wantStatus(t, list("one"), http.StatusOK)
		wantTooMany(t, list("one"), "1")
		if len(w.commands.requests) != 4 {
			t.Errorf("%d commands were run", len(w.commands.requests))
		}
	})
}
