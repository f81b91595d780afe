package cli_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// realm is a service that gives a token to everybody, and counts who asked.
func realm(t *testing.T) (address string, asked *int) {
	t.Helper()
	asked = new(int)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		*asked++
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"access_token":"access","refresh_token":"refresh","token_type":"Bearer","expires_in":300}`))
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

// contextsFile makes a file of contexts the one that counts.
func contextsFile(t *testing.T, text string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "contexts.yaml")
	t.Setenv("HOOKLOG_CONTEXTS", path)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAPasswordGoesToTheServiceThatIsMeant(t *testing.T) {
	t.Setenv("HOOKLOG_PASSWORD", "the-password")
	meant, asked := realm(t)
	other, askedOther := realm(t)
	for name, tc := range map[string]struct {
		contexts, variable string
		args               []string
	}{
		"a context that is named keeps its URL, whatever the environment says": {
			"contexts: [{name: prod, url: '" + meant + "', client: hooklog}]", other, []string{"--context", "prod"},
		},
		"a context that is given another URL leaves its issuer behind": {
			"contexts: [{name: prod, url: 'https://old.example.org', issuer: '" + other + "', client: hooklog}]", "",
			[]string{"--context", "prod", "--url", meant},
		},
	} {
		t.Run(name, func(t *testing.T) {
			*asked, *askedOther = 0, 0
			path := contextsFile(t, tc.contexts)
			t.Setenv("HOOKLOG_URL", tc.variable)
			code, _, stderr := run(t, append([]string{"login", "--user", "alice"}, tc.args...)...)
			text, err := os.ReadFile(path)
			if code != 0 || *asked != 1 || *askedOther != 0 || err != nil || !strings.Contains(string(text), "url: "+meant) {
				t.Errorf("%d %s: asked %d times, the other %d times; the file has\n%s", code, stderr, *asked, *askedOther, text)
			}
		})
	}
}

func TestALogInAtAKnownURLKeepsItsContext(t *testing.T) {
	t.Setenv("HOOKLOG_PASSWORD", "the-password")
	address, _ := realm(t)
	path := contextsFile(t, "contexts: [{name: prod, url: '"+address+"', client: own}]")
	if code, _, stderr := run(t, "login", "--url", address+"/", "--user", "alice"); code != 0 {
		t.Fatal(code, stderr)
	}
	text, err := os.ReadFile(path)
	if err != nil || strings.Count(string(text), "name: ") != 1 || !strings.Contains(string(text), "client: own") || !strings.Contains(string(text), "current: prod") {
		t.Errorf("%v\n%s", err, text)
	}
}
