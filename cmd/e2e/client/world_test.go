// Package client_test runs the built binary against a running service, as people
// and scripts do: through a pipe and on a terminal.
package client_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"hooklog/cmd/app"
	"hooklog/cmd/e2e/binary"
	"hooklog/cmd/settings"
	"hooklog/domain/secret"
)

const (
	adminPassword = "correct horse battery"
	// patience bounds every wait; nothing passes because of it.
	patience = 60 * time.Second
)

func TestMain(m *testing.M) { os.Exit(binary.Main(m)) }

// service is a running hooklog, whose clock can be put forward.
type service struct {
	t       *testing.T
	cfg     settings.Config
	url     string
	ahead   atomic.Int64
	running *app.App
}

func start(t *testing.T, options ...func(*settings.Config)) *service {
	t.Helper()
	cfg := settings.Default()
	cfg.Listen, cfg.OpsListen = "127.0.0.1:0", ""
	cfg.DataDir = filepath.Join(t.TempDir(), "data")
	cfg.AdminPassword = secret.NewPassword(adminPassword)
	cfg.EmbeddedSync = false
	cfg.UserRate = 10_000
	for _, o := range options {
		o(&cfg)
	}
	s := &service{t: t, cfg: cfg}
	s.run()
	s.cfg.Listen = strings.TrimPrefix(s.url, "http://") // a later start is found at the same place
	t.Cleanup(s.stop)
	return s
}

func (s *service) run() {
	s.t.Helper()
	running, err := app.Start(s.t.Context(), s.cfg, app.Deps{
		Log: slog.New(slog.DiscardHandler), Out: io.Discard,
		Now: func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.running, s.url = running, running.BaseURL()
}

func (s *service) stop() {
	s.t.Helper()
	http.DefaultClient.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := s.running.Stop(ctx); err != nil {
		s.t.Errorf("stop: %v", err)
	}
}

// forward puts the service's clock forward.
func (s *service) forward(d time.Duration) { s.ahead.Add(int64(d)) }

// admin runs a command over HTTP as the administrator.
func (s *service) admin(name string, params url.Values) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/api/v3/command/"+name, strings.NewReader(params.Encode()))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.SetBasicAuth("admin", adminPassword)
	return s.send(req)
}

// call calls a webhook.
func (s *service) call(token, body string) answer {
	s.t.Helper()
	req, err := http.NewRequestWithContext(s.t.Context(), http.MethodPost, s.url+"/api/v3/command/webhook.receive", strings.NewReader(body))
	if err != nil {
		s.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Token", token)
	return s.send(req)
}

// answer is the body of a 200.
type answer struct {
	t    *testing.T
	body []byte
}

func (s *service) send(req *http.Request) answer {
	s.t.Helper()
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		s.t.Fatalf("%s answered %d %s: %v", req.URL.Path, resp.StatusCode, body, err)
	}
	return answer{s.t, body}
}

// into decodes the answer.
func (a answer) into(v any) {
	a.t.Helper()
	if err := json.Unmarshal(a.body, v); err != nil {
		a.t.Fatalf("%s: %v", a.body, err)
	}
}

// text is a member of the answer.
func (a answer) text(member string) string {
	a.t.Helper()
	var m map[string]any
	a.into(&m)
	return fmt.Sprint(m[member])
}

// shell is where the binary is run: a folder and an environment of its own.
type shell struct {
	t   *testing.T
	dir string
	env []string
}

// newShell has nothing of this run's own settings. Variables are NAME=value.
func newShell(t *testing.T, variables ...string) *shell {
	t.Helper()
	path, err := binary.Path()
	if err != nil {
		t.Fatal(err)
	}
	sh := &shell{t: t, dir: t.TempDir()}
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "HOOKLOG_") && !strings.HasPrefix(variable, "NO_COLOR=") && !strings.HasPrefix(variable, "TERM=") {
			sh.env = append(sh.env, variable)
		}
	}
	sh.env = append(sh.env,
		"PATH="+filepath.Dir(path)+":"+os.Getenv("PATH"), "TERM=xterm",
		"HOOKLOG_CONTEXTS="+filepath.Join(sh.dir, "settings", "contexts.yaml"))
	sh.env = append(sh.env, variables...)
	return sh
}

// asAdmin is a shell with the administrator's password in its environment.
func (s *service) asAdmin(t *testing.T, variables ...string) *shell {
	t.Helper()
	return newShell(t, append([]string{"HOOKLOG_URL=" + s.url, "HOOKLOG_USER=admin", "HOOKLOG_PASSWORD=" + adminPassword}, variables...)...)
}

// write puts a file into the shell's folder.
func (sh *shell) write(name, content string) string {
	sh.t.Helper()
	path := filepath.Join(sh.dir, name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		sh.t.Fatal(err)
	}
	return path
}

// ended is what a run came to.
type ended struct {
	t              *testing.T
	code           int
	stdout, stderr string
}

// hooklog runs the binary with an empty input.
func (sh *shell) hooklog(args ...string) ended { return sh.fed("", args...) }

// fed runs the binary with an input.
func (sh *shell) fed(input string, args ...string) ended {
	sh.t.Helper()
	path, _ := binary.Path()
	return sh.run(input, path, args...)
}

// bash runs a script.
func (sh *shell) bash(script string) ended {
	sh.t.Helper()
	return sh.run("", "bash", "-c", script)
}

func (sh *shell) run(input, name string, args ...string) ended {
	sh.t.Helper()
	ctx, cancel := context.WithTimeout(sh.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Env, cmd.Stdin = sh.dir, sh.env, strings.NewReader(input)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		sh.t.Fatal(err)
	}
	return ended{sh.t, cmd.ProcessState.ExitCode(), out.String(), errs.String()}
}

// want fails the test unless the run ended with the code.
func (e ended) want(code int) ended {
	e.t.Helper()
	if e.code != code {
		e.t.Fatalf("exit code %d, want %d\n%s%s", e.code, code, e.stdout, e.stderr)
	}
	return e
}

// object is the JSON object that was written.
func (e ended) object() map[string]any {
	e.t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(e.stdout), &m); err != nil {
		e.t.Fatalf("%q: %v", e.stdout, err)
	}
	return m
}
