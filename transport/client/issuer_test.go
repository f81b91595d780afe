package client_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/oauth2"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/client"
)

// provider is an identity provider with what its document says that it has.
type provider struct {
	*httptest.Server
	document map[string]any
	// grant answers a token request: a status, and an error code or nothing.
	grant func(form url.Values) (int, string)
}

func newProvider(t *testing.T, grant func(url.Values) (int, string)) *provider {
	t.Helper()
	p := &provider{grant: grant}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(p.document)
	})
	mux.HandleFunc("POST /device", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"device_code":"dev","user_code":"ABCD","verification_uri":"https://id.example.org/go","interval":1,"expires_in":60}`))
	})
	mux.HandleFunc("POST /token", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		status, code := p.grant(r.PostForm)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		if code != "" {
			_, _ = w.Write([]byte(`{"error":"` + code + `","error_description":"Told so.","echo":"` + r.PostForm.Encode() + `"}`))
			return
		}
		_, _ = w.Write([]byte(`{"access_token":"access","refresh_token":"refresh","token_type":"Bearer","expires_in":300}`))
	})
	p.Server = httptest.NewServer(mux)
	t.Cleanup(p.Close)
	p.document = map[string]any{"issuer": p.URL, "token_endpoint": p.URL + "/token"}
	return p
}

func (p *provider) discover(t *testing.T) (*client.Issuer, error) {
	t.Helper()
	return client.Discover(t.Context(), p.URL+"/", "cli", p.Client())
}

func TestLoggingInByDevice(t *testing.T) {
	asked := 0
	p := newProvider(t, func(form url.Values) (int, string) {
		if form.Get("device_code") != "dev" || form.Get("client_id") != "cli" {
			t.Errorf("asked with %v", form)
		}
		if asked++; asked == 1 {
			return http.StatusBadRequest, "authorization_pending"
		}
		return http.StatusOK, ""
	})
	p.document["device_authorization_endpoint"] = p.URL + "/device"
	issuer, err := p.discover(t)
	if err != nil || !issuer.HasDeviceFlow() || issuer.HasPage() {
		t.Fatal(issuer, err)
	}
	var shown string
	token, err := issuer.ByDevice(t.Context(), func(address, code string) { shown = address + " " + code })
	if err != nil || token.AccessToken != "access" || token.RefreshToken != "refresh" || shown != "https://id.example.org/go ABCD" || asked != 2 {
		t.Errorf("%v %v, shown %q, asked %d times", token, err, shown, asked)
	}
}

func TestLoggingInOnThePageOfTheIssuer(t *testing.T) {
	var challenge string
	p := newProvider(t, func(form url.Values) (int, string) {
		sum := sha256.Sum256([]byte(form.Get("code_verifier")))
		if form.Get("code") != "the-code" || base64.RawURLEncoding.EncodeToString(sum[:]) != challenge {
			t.Errorf("asked with %v", form)
		}
		return http.StatusOK, ""
	})
	p.document["authorization_endpoint"] = p.URL + "/page"
	issuer, err := p.discover(t)
	if err != nil || issuer.HasDeviceFlow() || !issuer.HasPage() {
		t.Fatal(issuer, err)
	}
	// browse is what a browser does after the page; a stranger knows no state.
	browse := func(code string) func(string) {
		return func(address string) {
			page, err := url.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			query := page.Query()
			challenge = query.Get("code_challenge")
			back := query.Get("redirect_uri")
			if !strings.HasPrefix(back, "http://127.0.0.1:") || query.Get("code_challenge_method") != "S256" {
				t.Errorf("the page is at %s", address)
			}
			for state, want := range map[string]int{"guessed": http.StatusNotFound, "": http.StatusNotFound, query.Get("state"): http.StatusOK} {
				resp, err := http.Get(back + "?" + url.Values{"code": {code}, "state": {state}}.Encode())
				if err != nil {
					t.Fatal(err)
				}
				_ = resp.Body.Close()
				if resp.StatusCode != want {
					t.Errorf("state %q is answered %d", state, resp.StatusCode)
				}
			}
		}
	}
	if token, err := issuer.ByPage(t.Context(), browse("the-code")); err != nil || token.AccessToken != "access" {
		t.Errorf("%v %v", token, err)
	}
	if _, err := issuer.ByPage(t.Context(), browse("")); err == nil {
		t.Error("a refusal gave a token")
	}
}

func TestARefusedLogInTellsWhyAndNoSecret(t *testing.T) {
	p := newProvider(t, func(url.Values) (int, string) { return http.StatusBadRequest, "invalid_grant" })
	issuer, err := p.discover(t)
	if err != nil {
		t.Fatal(err)
	}
	_, byPassword := issuer.ByPassword(t.Context(), "alice", secret.NewPassword("the-password"))
	_, byRefresh := issuer.Refresh(t.Context(), &oauth2.Token{RefreshToken: "the-password"})
	for _, err := range []error{byPassword, byRefresh} {
		var refusal *client.Refusal
		if !errors.As(err, &refusal) || refusal.Kind != fault.Unauthenticated || refusal.Detail != "Told so." || strings.Contains(err.Error(), "the-password") {
			t.Errorf("%v", err)
		}
	}
}

func TestADocumentThatCannotBeTrustedIsRefused(t *testing.T) {
	for name, change := range map[string]func(p *provider){
		"it is somebody else's":         func(p *provider) { p.document["issuer"] = "https://id.example.org" },
		"its tokens go in the clear":    func(p *provider) { p.document["token_endpoint"] = "http://id.example.org/token" },
		"its log-in is in the clear":    func(p *provider) { p.document["authorization_endpoint"] = "http://id.example.org/" },
		"its addresses are no URLs":     func(p *provider) { p.document["token_endpoint"] = "javascript:1" },
		"its issuer is not even a text": func(p *provider) { p.document["issuer"] = 1 },
	} {
		t.Run(name, func(t *testing.T) {
			p := newProvider(t, nil)
			if _, err := p.discover(t); err != nil {
				t.Fatalf("a right one is refused: %v", err)
			}
			change(p)
			if _, err := p.discover(t); err == nil {
				t.Error("it was taken")
			}
		})
	}
}

func TestADocumentThatOthersCanChangeIsNotAskedFor(t *testing.T) {
	asked := false
	proxy := &http.Client{Transport: roundTrip(func(*http.Request) { asked = true })}
	for _, issuer := range []string{"http://id.example.org", "id.example.org", "ftp://id.example.org"} {
		if _, err := client.Discover(t.Context(), issuer, "cli", proxy); err == nil || asked {
			t.Errorf("%s: %v, asked: %v", issuer, err, asked)
		}
	}
}

// roundTrip sees requests, and answers none.
type roundTrip func(*http.Request)

func (see roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	see(r)
	return nil, errors.New("nobody is there")
}

func TestTheRealmIsFoundByItsPath(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/auth/realms/hooklog/protocol/openid-connect/token" {
			t.Errorf("asked at %s", r.URL.Path)
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	_, err := client.Realm(server.URL, "hooklog", server.Client()).ByPassword(t.Context(), "alice", secret.NewPassword("x"))
	var refusal *client.Refusal
	if !errors.As(err, &refusal) || refusal.Kind != fault.NotFound {
		t.Errorf("%v", err)
	}
}
