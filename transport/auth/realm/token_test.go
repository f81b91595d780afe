package realm_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/record"
	"hooklog/transport/auth/realm"
)

// get gives the document at a path of the realm.
func (w *world) get(t *testing.T, path string, into any) {
	t.Helper()
	recorder := httptest.NewRecorder()
	w.realm.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, path, nil))
	if recorder.Code != http.StatusOK {
		t.Fatalf("%s: %d %s", path, recorder.Code, recorder.Body)
	}
	if err := json.Unmarshal(recorder.Body.Bytes(), into); err != nil {
		t.Fatal(err)
	}
}

func TestThePasswordGrant(t *testing.T) {
	w := newWorld(t)
	got := w.logIn(t)
	if got.Type != "Bearer" || got.Expires != 300 || got.Ends != 3600 || got.Scope != "profile roles" || got.Refresh == "" {
		t.Errorf("answer %+v", got)
	}
	t.Run("gives an access token that others can verify", func(t *testing.T) {
		var found struct {
			Issuer string `json:"issuer"`
			Keys   string `json:"jwks_uri"`
			Token  string `json:"token_endpoint"`
		}
		w.get(t, prefix+"/.well-known/openid-configuration", &found)
		if found.Issuer != base+prefix || found.Token != base+tokenURL {
			t.Errorf("discovered %+v", found)
		}
		var keys jose.JSONWebKeySet
		w.get(t, strings.TrimPrefix(found.Keys, base), &keys)
		token, err := jwt.ParseSigned(got.Access, []jose.SignatureAlgorithm{jose.ES256})
		if err != nil {
			t.Fatal(err)
		}
		var claims map[string]any
		if err := token.Claims(keys, &claims); err != nil {
			t.Fatal(err)
		}
		if claims["jti"] == "" {
			t.Error("it has no id")
		}
		delete(claims, "jti")
		now := float64(w.clock.Now().Unix())
		want := map[string]any{
			"iss": base + prefix, "sub": "kim", "aud": "hooklog", "azp": "hooklog", "client_id": "hooklog",
			"iat": now, "nbf": now, "exp": now + 300, "preferred_username": "kim", "scope": "profile roles",
			"realm_access": map[string]any{"roles": []any{"reader"}}, "ver": 3.0,
		}
		if diff := cmp.Diff(want, claims); diff != "" {
			t.Errorf("claims differ (-want +got):\n%s", diff)
		}
		if token.Headers[0].ExtraHeaders["typ"] != "at+jwt" || token.Headers[0].KeyID == "" {
			t.Errorf("header %+v", token.Headers[0])
		}
	})
	t.Run("gives tokens that are taken", func(t *testing.T) {
		for scheme, token := range map[string]string{"Bearer": got.Access, "Refresh": got.Refresh} {
			for range 2 {
				caller, err := w.call(scheme, token)
				if err != nil || caller.Principal != "kim" || caller.Client != "hooklog" || !slices.Equal(caller.Roles, []string{"reader"}) {
					t.Errorf("%s: %+v, %v", scheme, caller, err)
				}
			}
		}
	})
	t.Run("is on the record without its tokens", func(t *testing.T) {
		r := w.journal.records[0]
		var login access.Login
		if err := json.Unmarshal(r.Value, &login); err != nil || login.ID == "" {
			t.Fatal(err, login)
		}
		want := access.Login{
			ID: login.ID, Principal: "kim", Client: "hooklog", Grant: "password", Scope: "profile roles",
			Address: "192.0.2.1", Time: w.clock.Now(),
		}
		if diff := cmp.Diff(want, login); diff != "" || r.Header(record.HeaderType) != access.LoginType {
			t.Errorf("record differs (-want +got):\n%s", diff)
		}
	})
}

func TestErrorsOfTheTokenEndpoint(t *testing.T) {
	w := newWorld(t)
	good := []string{"grant_type", "password", "client_id", "hooklog", "username", "kim", "password", password}
	with := func(pairs ...string) *http.Request { return post(append(slices.Clone(good), pairs...)...) }
	changed := func(key, value string) *http.Request {
		pairs := slices.Clone(good)
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == key {
				pairs[i+1] = value
			}
		}
		return post(pairs...)
	}
	other := func(change func(*http.Request)) *http.Request {
		r := with()
		change(r)
		return r
	}
	for name, c := range map[string]struct {
		r    *http.Request
		code string
	}{
		"no grant type":              {changed("grant_type", ""), "invalid_request"},
		"no user":                    {changed("username", ""), "invalid_request"},
		"no password":                {changed("password", ""), "invalid_request"},
		"no refresh token":           {changed("grant_type", "refresh_token"), "invalid_request"},
		"a repeated parameter":       {with("username", "kim"), "invalid_request"},
		"a repeated unknown one":     {with("x", "1", "x", "2"), "invalid_request"},
		"a broken form":              {postBody("grant_type=%zz"), "invalid_request"},
		"no form at all":             {postBody(""), "invalid_request"},
		"a form that is too long":    {with("x", strings.Repeat("x", 64<<10)), "invalid_request"},
		"parameters in the query":    {other(func(r *http.Request) { r.URL.RawQuery = "scope=openid" }), "invalid_request"},
		"JSON":                       {other(func(r *http.Request) { r.Header.Set("Content-Type", "application/json") }), "invalid_request"},
		"no content type":            {other(func(r *http.Request) { r.Header.Del("Content-Type") }), "invalid_request"},
		"another grant":              {changed("grant_type", "client_credentials"), "unsupported_grant_type"},
		"a scope that is not known":  {with("scope", "openid admin"), "invalid_scope"},
		"a wrong password":           {changed("password", "wrong"), "invalid_grant"},
		"an unknown user":            {changed("username", "lee"), "invalid_grant"},
		"the user of pipelines":      {changed("username", access.Anonymous), "invalid_grant"},
		"a name of an outside realm": {changed("username", "realm:kim"), "invalid_grant"},
		"a wrong refresh token":      {post("grant_type", "refresh_token", "client_id", "hooklog", "refresh_token", "x"), "invalid_grant"},
	} {
		t.Run(name+" is "+c.code, func(t *testing.T) {
			c.r.RemoteAddr = fmt.Sprintf("10.%d.%d.1:1", len(name), name[len(name)-1])
			got := w.send(t, c.r)
			if got.status != http.StatusBadRequest || got.Error != c.code || got.Why == "" || got.Access != "" {
				t.Errorf("got %s", got)
			}
		})
	}
	t.Run("parameters that are not known are ignored", func(t *testing.T) {
		if got := w.send(t, with("audience", "x")); got.status != http.StatusOK {
			t.Errorf("got %s", got)
		}
	})
	t.Run("a charset may be named", func(t *testing.T) {
		got := w.send(t, other(func(r *http.Request) {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded; charset=UTF-8")
		}))
		if got.status != http.StatusOK {
			t.Errorf("got %s", got)
		}
	})
	t.Run("only POST is allowed", func(t *testing.T) {
		got := w.send(t, httptest.NewRequest(http.MethodGet, tokenURL, nil))
		if got.status != http.StatusMethodNotAllowed || got.header.Get("Allow") != "POST" {
			t.Errorf("got %s", got)
		}
	})
	t.Run("there is nothing beside the three paths", func(t *testing.T) {
		for _, path := range []string{
			prefix, prefix + "/", prefix + "/protocol/openid-connect/auth", tokenURL + "/", "/auth/realms/other/protocol/openid-connect/token", "/",
		} {
			if got := w.send(t, httptest.NewRequest(http.MethodPost, path, nil)); got.status != http.StatusNotFound {
				t.Errorf("%s: got %s", path, got)
			}
		}
	})
}

func TestScope(t *testing.T) {
	w := newWorld(t)
	if got := w.logIn(t, "scope", "roles openid  roles"); got.Scope != "roles openid" {
		t.Errorf("got %q", got.Scope)
	}
	login := w.logIn(t, "scope", "openid profile offline_access")
	if got := w.refresh(t, login.Refresh, "scope", "openid roles"); got.Error != "invalid_scope" {
		t.Errorf("a wider scope: %s", got)
	}
	narrow := w.refresh(t, login.Refresh, "scope", "profile")
	if narrow.status != http.StatusOK || narrow.Scope != "profile" {
		t.Fatalf("a narrower scope: %s", narrow)
	}
	if got := w.refresh(t, narrow.Refresh); got.Scope != "openid profile offline_access" {
		t.Errorf("the next one: %q", got.Scope)
	}
}

func TestGuessesAtTheTokenEndpoint(t *testing.T) {
	w := newWorld(t)
	guess := func(i int) *http.Request {
		switch i % 3 {
		case 0:
			return post("grant_type", "password", "client_id", "hooklog", "username", fmt.Sprint("user", i%2), "password", "wrong")
		case 1:
			return post("grant_type", "refresh_token", "client_id", "hooklog", "refresh_token", fmt.Sprint(i))
		}
		return post("grant_type", "refresh_token", "client_id", "shop", "client_secret", fmt.Sprint(i), "refresh_token", "x")
	}
	refused := 0
	for i := range 25 {
		switch got := w.send(t, guess(i)); {
		case got.status == http.StatusTooManyRequests && got.header.Get("Retry-After") != "" && got.Error == "temporarily_unavailable":
			refused++
		case i >= 19 || refused > 0:
			t.Fatalf("attempt %d: got %s", i+1, got)
		}
	}
	login := []string{"grant_type", "password", "client_id", "hooklog", "username", "kim", "password", password}
	if got := w.post(t, login...); got.status != http.StatusTooManyRequests {
		t.Errorf("from there: %s", got)
	}
	if _, err := w.call("Bearer", "x"); err == nil || !strings.Contains(err.Error(), "too many") {
		t.Errorf("the header is not held up: %v", err)
	}
	elsewhere := post(login...)
	elsewhere.RemoteAddr = "198.51.100.1:1"
	if got := w.send(t, elsewhere); got.status != http.StatusOK {
		t.Errorf("from elsewhere: %s", got)
	}
	w.clock.advance(time.Minute)
	w.logIn(t)
}

func TestARealmMustHaveAPlainName(t *testing.T) {
	for _, name := range []string{"", "a/b", "a b", "../x", `a"b`} {
		if _, err := realm.New(realm.Config{Namespace: name}, realm.Deps{Registry: &people{}}); err == nil {
			t.Errorf("%q was taken", name)
		}
	}
}
