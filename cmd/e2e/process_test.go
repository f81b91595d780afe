package e2e_test

import (
	"bytes"
	"errors"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"hooklog/cmd/e2e/binary"
	"hooklog/cmd/settings"
)

func TestMain(m *testing.M) { os.Exit(binary.Main(m)) }

const passwordVariable = "HOOKLOG_ADMIN_PASSWORD"

// hooklog prepares a run of the binary. Nothing of this run's own settings
// reaches it, and there is nobody to ask: its input is empty.
func hooklog(t *testing.T, env []string, args ...string) *exec.Cmd {
	t.Helper()
	path, err := binary.Path()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, args...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "HOOKLOG_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// runBinary runs the binary to its end.
func runBinary(t *testing.T, env []string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := hooklog(t, env, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(patience, func() { _ = cmd.Process.Kill() })
	defer late.Stop()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), out.String(), errs.String()
}

// process is a running binary. As a service it has all ways in but the app.
type process struct {
	*service
	cmd   *exec.Cmd
	ops   string // the base URL of the ops listener
	ended chan struct{}
}

var greeting = regexp.MustCompile(`hooklog is ready at (\S+)\nHealth, metrics and profiles for operators: (\S+)/readyz\n`)

// serveBinary starts hooklog serve on a free port and waits for its greeting.
func serveBinary(t *testing.T, env []string, args ...string) *process {
	t.Helper()
	p := &process{
		service: &service{t: t, clock: &clock{}, logs: &buffer{}, out: &buffer{}, http: newClient()},
		cmd:     hooklog(t, env, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...),
		ended:   make(chan struct{}),
	}
	p.cmd.Stdout, p.cmd.Stderr = p.out, p.logs
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
	})
	eventually(t, "the service greets", func() bool {
		select {
		case <-p.ended:
			t.Fatalf("it ended with %s\n%s", p.cmd.ProcessState, p.logs)
		default:
		}
		found := greeting.FindStringSubmatch(p.out.String())
		if found != nil {
			p.url, p.ops = found[1], found[2]
		}
		return found != nil
	})
	return p
}

// signal sends a signal and does not wait.
func (p *process) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// exit waits for the end and gives the exit code, -1 after a signal.
func (p *process) exit() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		p.t.Fatalf("the process does not end\n%s", p.logs)
	}
	return p.cmd.ProcessState.ExitCode()
}

// terminate ends the process in order.
func (p *process) terminate() {
	p.t.Helper()
	p.signal(syscall.SIGTERM)
	if code := p.exit(); code != 0 {
		p.t.Fatalf("exit code %d\n%s", code, p.logs)
	}
}

// asAdmin runs a command with a password.
func (p *process) asAdmin(password, name string) answer {
	p.t.Helper()
	return p.send(http.MethodPost, "/api/v3/command/"+name, nil, "Authorization", basic("admin", password))
}

func TestTheBinaryTellsItsVersion(t *testing.T) {
	code, stdout, stderr := runBinary(t, nil, "version")
	if !regexp.MustCompile(`^hooklog \S+, go\S+ \w+/\w+\n$`).MatchString(stdout) || code != 0 || stderr != "" {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
}

func TestServeNeedsNothingButAPortAndAFolder(t *testing.T) {
	address := freeAddress(t)
	folder := filepath.Join(t.TempDir(), "new", "data")
	p := serveBinary(t, []string{passwordVariable + "=" + adminPassword}, "--listen", address, "--data-dir", folder)
	if p.url != "http://"+address {
		t.Errorf("it serves at %s, not at %s", p.url, address)
	}
	p.send(http.MethodGet, "/readyz", nil).want(http.StatusOK)
	p.send(http.MethodGet, p.ops+"/readyz", nil).want(http.StatusOK)
	p.put("eventKey=webhook.demo")
	if _, err := os.Stat(settings.Config{DataDir: folder}.KeysDir() + "/admin-password"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a password was made beside the given one: %v", err)
	}
	info, err := os.Stat(folder)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("the data folder is not closed to others: %v, %v", info, err)
	}
	p.terminate()
}
