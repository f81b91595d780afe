//go:build faults

package faults_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"go.yaml.in/yaml/v3"

	"hooklog/cmd/settings"
	"hooklog/domain/secret"
	"hooklog/transport/commands"
	"hooklog/transport/httpapi"
)

// printed runs the binary to its end and gives all that it prints.
func printed(t *testing.T, cmd *exec.Cmd) []byte {
	t.Helper()
	text, err := cmd.CombinedOutput()
	if err != nil && !errors.As(err, new(*exec.ExitError)) {
		t.Fatal(err)
	}
	return text
}

// with gives a run of the binary other passwords.
func with(cmd *exec.Cmd, admin, reader string) *exec.Cmd {
	cmd.Env = append(cmd.Env, "HOOKLOG_ADMIN_PASSWORD="+admin, "HOOKLOG_EMBEDDED_READER_PASSWORD="+reader)
	return cmd
}

// made are the passwords that the service has made itself.
func made(t *testing.T, folder string) (all []canary) {
	t.Helper()
	for _, name := range []string{"admin-password", "reader-password"} {
		text, err := os.ReadFile(filepath.Join(folder, "keys", name))
		if err != nil {
			t.Fatal(err)
		}
		password := strings.TrimSpace(string(text))
		all = append(all, newCanary("made "+name, password, password))
	}
	return all
}

func TestNoSecretIsInWhatTheCommandLinePrints(t *testing.T) {
	s := newSpies()
	folder := filepath.Join(t.TempDir(), s.plant)
	p := begin(t, with(hooklog(t, "serve", "--listen", "127.0.0.1:0", "--data-dir", folder, "--embedded-listen", "127.0.0.1:0"), "", "")).greeted(t, nil)
	p.terminate(t)
	found := &search{t: t, canaries: append(s.all(), made(t, folder)...)}
	found.clean("first start", []byte(p.out.String()+p.logs.String()), s.plant)
	text := printed(t, with(hooklog(t, "admin", "reset", "--data-dir", folder), "", ""))
	found.canaries = append(found.canaries, made(t, folder)...)
	found.clean("admin reset", text, s.plant)

	file := func(text string, mode os.FileMode) string {
		path := filepath.Join(t.TempDir(), s.plant)
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for name, run := range map[string]struct {
		args    []string
		planted string
	}{
		"help":                     {[]string{"--help"}, "Usage"},
		"help of serve":            {[]string{"serve", "--help"}, "HOOKLOG_ADMIN_PASSWORD"},
		"version":                  {[]string{"version"}, "hooklog "},
		"admin reset by password":  {[]string{"admin", "reset", "--data-dir", folder}, "has the password in"},
		"rebuild":                  {[]string{"rebuild", "--data-dir", folder}, s.plant},
		"a password as a flag":     {[]string{"serve", "--admin-password=" + s.admin.text}, "unknown flag"},
		"a secret as a flag":       {[]string{"serve", "--client-secret=" + s.user.text}, "unknown flag"},
		"a password in a URL":      {[]string{"serve", "--base-url", "https://admin:" + s.bearer.text + "@example.org"}, "leave the user"},
		"a password in the file":   {[]string{"serve", "--config", file("admin-password: "+s.bearer.text+"\nbroker-password: ["+s.cookie.text+"]", 0o600)}, s.plant},
		"a password as the file":   {[]string{"serve", "--config", file(s.bearer.text, 0o600)}, s.plant},
		"a password in no YAML":    {[]string{"serve", "--config", file("brokers: ["+s.bearer.text+"\n  x: {"+s.cookie.text, 0o600)}, s.plant},
		"a ring that is none":      {[]string{"serve", "--data-dir", t.TempDir(), "--key-ring", file(s.bearer.text+" "+s.cookie.text, 0o600)}, s.plant},
		"a ring that others read":  {[]string{"serve", "--data-dir", t.TempDir(), "--key-ring", file(s.bearer.text+" "+s.cookie.text, 0o644)}, s.plant},
		"a ring that is there":     {[]string{"keys", "init", file(s.bearer.text, 0o600)}, s.plant},
		"a folder that is no log":  {[]string{"serve", "--data-dir", file(s.bearer.text, 0o600)}, s.plant},
		"a certificate that fails": {[]string{"serve", "--data-dir", t.TempDir(), "--tls-cert", file(s.bearer.text, 0o600), "--tls-key", file(s.cookie.text, 0o600)}, "tls"},
	} {
		found.clean(name, printed(t, with(hooklog(t, run.args...), s.admin.text, s.reader.text)), run.planted)
	}
	t.Logf("%d secrets, %d places, %d bytes: nothing found", len(found.canaries), found.places, found.bytes)
}

func TestNoSecretIsInADumpOfTheSettings(t *testing.T) {
	s := newSpies()
	cfg := settings.Default()
	cfg.DataDir = s.plant
	cfg.AdminPassword, cfg.BrokerPassword = secret.NewPassword(s.admin.text), secret.NewPassword(s.broker.text)
	cfg.EmbeddedReaderPassword, cfg.ClientSecret = secret.NewPassword(s.reader.text), secret.NewPassword(s.user.text)
	found := &search{t: t, canaries: s.all()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		text := fmt.Sprintf(verb+verb+verb, cfg, &cfg, []settings.Config{cfg})
		found.clean("settings as "+verb, []byte(text), s.plant)
	}
	asJSON, errJSON := json.Marshal(cfg)
	asYAML, errYAML := yaml.Marshal(cfg)
	var lines bytes.Buffer
	slog.New(slog.NewTextHandler(&lines, nil)).Info("settings", "all", cfg, "password", cfg.AdminPassword)
	slog.New(slog.NewJSONHandler(&lines, nil)).Info("settings", "all", cfg, "password", cfg.AdminPassword)
	if err := errors.Join(errJSON, errYAML); err != nil {
		t.Fatal(err)
	}
	found.clean("settings as JSON", asJSON, s.plant)
	found.clean("settings as YAML", asYAML, s.plant)
	found.clean("settings as log lines", lines.Bytes(), s.plant)
}

// A panic may quote what a caller sent.
func TestNoSecretIsInAPanic(t *testing.T) {
	c := newTokenCanary("token")
	found := &search{t: t, canaries: []canary{c}}
	for name, panics := range map[string]func(){
		"a text":                func() { panic("the token is " + c.text) },
		"an error":              func() { panic(fmt.Errorf("bad token %q", c.text)) },
		"a value":               func() { panic(struct{ Token string }{c.text}) },
		"bytes":                 func() { panic([]byte(c.text)) },
		"a library":             func() { uuid.MustParse(c.text + "x") },
		"a failed conversion":   func() { _ = any(c.text).(fmt.Stringer) },
		"an index out of range": func() { _ = c.text[len(c.text):][len(c.name)] },
		"a key without a hash":  func() { _ = map[any]int{}[[]string{c.text}] },
		"nothing at all":        func() { _ = *(*int)(nil) },
	} {
		var lines bytes.Buffer
		api := httpapi.New(httpapi.Config{BaseURL: "http://here"}, httpapi.Deps{
			Log:          slog.New(slog.NewJSONHandler(&lines, &slog.HandlerOptions{Level: slog.LevelDebug})),
			Authenticate: func(*http.Request) (commands.Caller, error) { panics(); return commands.Caller{}, nil },
		})
		req := httptest.NewRequest(http.MethodPost, "/api/v3/command/webhook.get?uuid="+c.text, strings.NewReader(c.text))
		req.Header.Set("Referer", c.text)
		answer := httptest.NewRecorder()
		api.Handler().ServeHTTP(answer, req)
		if answer.Code != http.StatusInternalServerError {
			t.Errorf("%s: answered %d", name, answer.Code)
		}
		found.clean("log lines of "+name, lines.Bytes(), "handler panicked")
		found.clean("answer to "+name, answer.Body.Bytes(), "urn:hooklog:problem:internal")
	}
}
