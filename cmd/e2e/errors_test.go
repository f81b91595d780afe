package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/uuid"

	"hooklog/domain/fault"
)

// refused fails the test unless the answer is a problem document of that status,
// for a request that has no trace id. It gives the detail.
func (a answer) refused(status int) (detail string) {
	a.t.Helper()
	document := wantProblem(a.t, a, status, false)
	if got := a.header.Get("Cache-Control"); got != "no-store" {
		a.t.Errorf("%d has Cache-Control %q, want no-store", status, got)
	}
	for _, name := range []string{"type", "title", "detail", "instance"} {
		if text, _ := document[name].(string); text == "" {
			a.t.Errorf("%d has no %s: %s", status, name, a.body)
		}
	}
	return document["detail"].(string)
}

// What is said when something goes wrong, and what is never said.
func TestProblemDocuments(t *testing.T) {
	s := startOnOne(t)
	hook := s.put("eventKey=webhook.problem")
	nobody := uuid.NewString()
	admin := []string{"Authorization", basic("admin", adminPassword), "Content-Type", asForm}
	for name, sent := range map[string]struct {
		method, path, body string
		header             []string
		kind               fault.Kind
		instance           string
	}{
		"a bad parameter": {
			http.MethodPost, commandPath + "webhook.put", "eventKey=wrong", admin,
			fault.Invalid, commandPath + "webhook.put",
		},
		"no authorization": {
			http.MethodPost, commandPath + "webhook.get", "uuid=" + hook.UUID, admin[2:],
			fault.Unauthenticated, commandPath + "webhook.get",
		},
		"an unknown uuid": {
			http.MethodPost, commandPath + "webhook.delete", "uuid=" + nobody, admin,
			fault.NotFound, commandPath + "webhook.delete",
		},
		"an unknown command": {
			http.MethodPost, commandPath + hook.UUID, "", admin,
			fault.NotFound, "/api/v3/command",
		},
		"an unknown path": {
			http.MethodGet, "/api/v3/" + hook.UUID, "", nil,
			fault.NotFound, "/",
		},
		"an unknown token": {
			http.MethodGet, receivePath + "?token=" + nobody, "", nil,
			fault.NotFound, receivePath,
		},
		"a wrong method": {
			http.MethodDelete, commandPath + "webhook.delete?uuid=" + hook.UUID, "", admin,
			fault.MethodNotAllowed, commandPath + "webhook.delete",
		},
		"a taken eventKey": {
			http.MethodPost, commandPath + "webhook.put", "eventKey=webhook.problem", admin,
			fault.Conflict, commandPath + "webhook.put",
		},
		"an unknown result": {
			http.MethodGet, "/api/v3/result?svc-result-correlationid=" + nobody, "", nil,
			fault.Gone, "/api/v3/result",
		},
		"a body that is too large": {
			http.MethodPost, commandPath + "webhook.get", strings.Repeat("x", 1<<20+1), append([]string{"Expect", "100-continue"}, admin...),
			fault.TooLarge, commandPath + "webhook.get",
		},
		"an encoded body": {
			http.MethodPost, commandPath + "webhook.get", "uuid=" + hook.UUID, append([]string{"Content-Encoding", "gzip"}, admin...),
			fault.Unsupported, commandPath + "webhook.get",
		},
	} {
		t.Run(name+" is answered with type, title, status, detail and instance, and without a secret", func(t *testing.T) {
			a := s.in(t).send(sent.method, sent.path, strings.NewReader(sent.body), sent.header...)
			a.refused(sent.kind.Status())
			document := a.object()
			if document["type"] != fault.ProblemType(sent.kind) || document["title"] != sent.kind.Title() {
				t.Errorf("type %v and title %v", document["type"], document["title"])
			}
			if document["instance"] != sent.instance {
				t.Errorf("instance %v, want %s", document["instance"], sent.instance)
			}
			for _, secret := range []string{hook.UUID, nobody, adminPassword, basic("admin", adminPassword), "goroutine", ".go:"} {
				if strings.Contains(string(a.body), secret) {
					t.Errorf("the answer repeats %q: %s", secret, a.body)
				}
			}
		})
	}
	t.Run("traceId is in the problem of a call whose webhook is known", func(t *testing.T) {
		a := s.in(t).call(hook.UUID, asText, "x", "Content-Encoding", "gzip")
		document := wantProblem(t, a, http.StatusUnsupportedMediaType, true)
		if trace := document["traceId"].(string); !strings.HasPrefix(trace, hook.UUID[30:]+":") {
			t.Errorf("traceId %s of the webhook %s", trace, hook.UUID)
		}
	})
}

// Who may run management commands.
func TestAuthorization(t *testing.T) {
	s := startOnOne(t)
	const target = commandPath + "webhook.put?eventKey=webhook.intruder"
	refused := map[string]answer{}
	for name, header := range map[string][]string{
		"no authorization":               nil,
		"an empty authorization":         {"Authorization", ""},
		"a wrong password":               {"Authorization", basic("admin", adminPassword+"x")},
		"an empty password":              {"Authorization", basic("admin", "")},
		"an unknown user":                {"Authorization", basic("nobody", adminPassword)},
		"the service's own principal":    {"Authorization", basic("svc:system", adminPassword)},
		"a user in another case":         {"Authorization", basic("Admin", adminPassword)},
		"an unknown scheme":              {"Authorization", "Digest username=admin"},
		"a Bearer token that is none":    {"Authorization", "Bearer " + uuid.NewString()},
		"a Refresh token that is none":   {"Authorization", "Refresh " + uuid.NewString()},
		"a scheme without a value":       {"Authorization", "Basic"},
		"a value that is no base64":      {"Authorization", "Basic !" + basic("admin", adminPassword)[6:]},
		"a value without a colon":        {"Authorization", "Basic YWRtaW4="},
		"the right one beside another":   {"Authorization", basic("admin", adminPassword), "Authorization", "Bearer x"},
		"the password as another header": {"X-Authorization", basic("admin", adminPassword)},
	} {
		t.Run(name+" is answered 401 with WWW-Authenticate", func(t *testing.T) {
			a := s.in(t).send(http.MethodPost, target, nil, header...)
			a.refused(http.StatusUnauthorized)
			if got := a.header.Get("WWW-Authenticate"); !strings.HasPrefix(got, `Basic realm="`) {
				t.Errorf("WWW-Authenticate %q", got)
			}
			refused[name] = a
		})
	}
	t.Run("a wrong password and an unknown user are told apart by nothing", func(t *testing.T) {
		wantIdentical(t, refused["a wrong password"], refused["an unknown user"])
	})
	t.Run("who calls is asked before anything else in the request is looked at", func(t *testing.T) {
		s := s.in(t)
		for _, wrong := range []string{"webhook.get?colour=red", "webhook.get?uuid=1", "webhook.delete", "webhook.list?limit=0"} {
			s.send(http.MethodPost, commandPath+wrong, strings.NewReader("neither form nor JSON")).refused(http.StatusUnauthorized)
		}
	})
	t.Run("whoever was refused has changed nothing", func(t *testing.T) {
		if got := string(s.in(t).command("webhook.get").want(http.StatusOK).body); got != "[]" {
			t.Errorf("webhook.get answers %s", got)
		}
	})
	t.Run("the scheme name and the header name are case-insensitive", func(t *testing.T) {
		value := basic("admin", adminPassword)[len("Basic "):]
		for _, header := range [][]string{{"authorization", "basic " + value}, {"AUTHORIZATION", "bAsIc " + value}} {
			s.in(t).send(http.MethodGet, commandPath+"webhook.list", nil, header...).want(http.StatusOK)
		}
	})
}
