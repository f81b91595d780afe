package cli_test

import (
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hooklog/transport/kafka/embedded"
)

// dataFolder is one of a service that runs at an address, until it is let go.
func dataFolder(t *testing.T, path, address string) *embedded.DirLock {
	t.Helper()
	lock, err := embedded.Lock(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() })
	if err := os.MkdirAll(filepath.Join(path, "keys"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"address": address, "keys/admin-password": "the-password"} {
		if err := os.WriteFile(filepath.Join(path, name), []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return lock
}

// listing is a service that has no webhooks, and counts who asked with what.
func listing(t *testing.T) (address string, asked map[string]int) {
	t.Helper()
	asked = map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		scheme, _, _ := strings.Cut(r.Header.Get("Authorization"), " ")
		asked[scheme]++
		_, _ = w.Write([]byte(`{"items":[]}`))
	}))
	t.Cleanup(server.Close)
	return server.URL, asked
}

func TestAFolderThatIsNamedIsMeant(t *testing.T) {
	other, askedOther := listing(t)
	address, asked := listing(t)
	folder := filepath.Join(t.TempDir(), "data")
	dataFolder(t, folder, address)
	contextsFile(t, "current: prod\ncontexts: [{name: prod, url: '"+other+"', client: hooklog}]")
	t.Setenv("HOOKLOG_TOKEN", "of the other")
	if code, _, stderr := run(t, "webhook", "list", "--data-dir", folder); code != 0 || asked["Basic"] != 1 || len(askedOther) > 0 {
		t.Errorf("%d %s: asked %v, the other %v", code, stderr, asked, askedOther)
	}
	if code, _, stderr := run(t, "webhook", "list", "--data-dir", folder, "--context", "prod"); code != 2 {
		t.Errorf("two services: %d %s", code, stderr)
	}
}

func TestTheAdministratorsPasswordStaysOnItsMachine(t *testing.T) {
	t.Setenv("HOOKLOG_CONTEXTS", filepath.Join(t.TempDir(), "none"))
	t.Run("when the service has crashed, and somebody else has its port", func(t *testing.T) {
		address, asked := listing(t)
		t.Chdir(t.TempDir())
		lock := dataFolder(t, ".hooklog", address)
		if code, _, stderr := run(t, "webhook", "list"); code != 0 || asked["Basic"] != 1 {
			t.Fatal(code, stderr, asked)
		}
		_ = lock.Close()
		if code, _, stderr := run(t, "webhook", "list"); code != 4 || asked["Basic"] != 1 {
			t.Errorf("%d %s: asked %v", code, stderr, asked)
		}
	})
	t.Run("when somebody else could have made the folder", func(t *testing.T) {
		address, asked := listing(t)
		t.Chdir(t.TempDir())
		dataFolder(t, "hooklog-data", address)
		if err := os.Chmod("hooklog-data", 0o777); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := run(t, "webhook", "list"); code != 2 || len(asked) > 0 {
			t.Errorf("%d %s: asked %v", code, stderr, asked)
		}
	})
}

func TestTheFolderWhoseServiceRunsIsFound(t *testing.T) {
	t.Setenv("HOOKLOG_CONTEXTS", filepath.Join(t.TempDir(), "none"))
	address, asked := listing(t)
	t.Chdir(t.TempDir())
	dataFolder(t, "hooklog-data", address)
	if err := os.Mkdir(".hooklog", 0o700); err != nil { // of a service that has ended
		t.Fatal(err)
	}
	if code, _, stderr := run(t, "webhook", "list"); code != 0 || asked["Basic"] != 1 {
		t.Errorf("%d %s: asked %v", code, stderr, asked)
	}
}

func TestAPrivateAuthorityIsTrustedForItsOwnServiceOnly(t *testing.T) {
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"items":[]}`)) }))
	t.Cleanup(server.Close)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOOKLOG_URL", server.URL)
	t.Setenv("HOOKLOG_TOKEN", "x")
	contextsFile(t, "current: prod\ncontexts: [{name: prod, url: 'https://hooks.example.org', ca: '"+ca+"', client: hooklog}]")
	code, _, stderr := run(t, "webhook", "list")
	if code != 4 || !strings.Contains(stderr, "--ca") || strings.Contains(stderr, "running") {
		t.Errorf("of another service: %d %s", code, stderr)
	}
	if code, _, stderr := run(t, "command", "webhook.put", "eventKey=webhook.a"); code != 4 || strings.Contains(stderr, "may have been done") {
		t.Errorf("nothing was sent: %d %s", code, stderr)
	}
	contextsFile(t, "contexts: [{name: prod, url: '"+server.URL+"', ca: '"+ca+"', client: hooklog}]")
	for _, words := range [][]string{{"webhook", "list"}, {"result", "get", "x"}} {
		if code, _, stderr := run(t, words...); code != 0 {
			t.Errorf("of its own: %d %s", code, stderr)
		}
	}
}

func TestScriptsNeedNoHome(t *testing.T) {
	address, asked := listing(t)
	for _, name := range []string{"HOME", "XDG_CONFIG_HOME", "HOOKLOG_CONTEXTS"} {
		t.Setenv(name, "")
	}
	t.Setenv("HOOKLOG_URL", address)
	t.Setenv("HOOKLOG_TOKEN", "x")
	if code, _, stderr := run(t, "webhook", "list"); code != 0 || asked["Bearer"] != 1 {
		t.Errorf("%d %s", code, stderr)
	}
	t.Setenv("HOOKLOG_TOKEN", "")
	t.Setenv("HOOKLOG_PASSWORD", "x")
	own, _ := realm(t)
	if code, _, stderr := run(t, "login", "--url", own, "--user", "alice"); code != 1 || !strings.Contains(stderr, "HOME") {
		t.Errorf("a log-in that nothing keeps: %d %s", code, stderr)
	}
}
