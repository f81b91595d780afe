package doctor_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"hooklog/cmd/doctor"
)

// issuer publishes a discovery document and keys; wrong changes its answers.
type issuer struct {
	url   string
	name  string // in place of the URL
	keys  string
	ahead time.Duration
	gone  bool
}

const oneKey = `{"keys":[{"kty":"EC","crv":"P-256","use":"sig","alg":"ES256","kid":"k",` +
	`"x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4","y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"}]}`

func (i *issuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Date", time.Now().Add(i.ahead).UTC().Format(http.TimeFormat))
	switch {
	case i.gone:
		http.NotFound(w, r)
	case r.URL.Path == "/keys":
		_, _ = fmt.Fprint(w, i.keys)
	default:
		_, _ = fmt.Fprintf(w, `{"issuer":%q,"jwks_uri":"%s/keys","token_endpoint":"%s/token"}`, i.name, i.url, i.url)
	}
}

func TestTheIdentityProvider(t *testing.T) {
	for name, tc := range map[string]struct {
		spoil  func(*issuer)
		check  string
		status doctor.Status
		text   string
	}{
		"in order":              {func(*issuer) {}, "identity", doctor.OK, "publishes 1 keys"},
		"without a client":      {func(*issuer) {}, "identity", doctor.OK, "no client-id is set"},
		"with the right time":   {func(*issuer) {}, "clock", doctor.OK, "from the others"},
		"with another name":     {func(i *issuer) { i.name = "https://id.example.org" }, "identity", doctor.Failed, "calls itself https://id.example.org"},
		"that is not there":     {func(i *issuer) { i.gone = true }, "identity", doctor.Failed, "answers 404"},
		"without keys":          {func(i *issuer) { i.keys = `{"keys":[]}` }, "identity", doctor.Failed, "key"},
		"with keys in disorder": {func(i *issuer) { i.keys = `keys!` }, "identity", doctor.Failed, "keys"},
		"with another time":     {func(i *issuer) { i.ahead = time.Minute }, "clock", doctor.Warning, "1m0s from that of 127.0.0.1"},
		"with an earlier time":  {func(i *issuer) { i.ahead = -time.Minute }, "clock", doctor.Warning, "NTP"},
	} {
		t.Run(name, func(t *testing.T) {
			i := &issuer{keys: oneKey}
			server := httptest.NewServer(i)
			defer server.Close()
			i.url, i.name = server.URL, server.URL
			tc.spoil(i)
			cfg := healthy(t)
			cfg.Issuer = server.URL
			examine(t, cfg).want(tc.check, tc.status, tc.text)
		})
	}
	t.Run("that does not listen", func(t *testing.T) {
		cfg := healthy(t)
		cfg.Issuer = "http://" + freeAddress(t)
		examine(t, cfg).want("identity", doctor.Failed, "cannot be asked")
	})
	t.Run("that is the service itself", func(t *testing.T) {
		examine(t, healthy(t)).want("identity", doctor.OK, "own realm")
	})
}
