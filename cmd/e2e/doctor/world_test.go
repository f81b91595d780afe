// Package doctor_test runs the built binary's doctor on what an operator may have
// before him: services that run, that were stopped, that are broken. It proves as
// well that the doctor leaves everything as it was.
package doctor_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"hooklog/cmd/e2e/binary"
)

const (
	adminPassword = "the administrator's password"
	// patience bounds every wait; nothing passes because of it.
	patience = 60 * time.Second
)

func TestMain(m *testing.M) { os.Exit(binary.Main(m)) }

// hooklog prepares a run of the binary. Of this run's own settings it gets none.
func hooklog(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	path, err := binary.Path()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "HOOKLOG_") {
			cmd.Env = append(cmd.Env, variable)
		}
	}
	cmd.Env = append(cmd.Env, "HOOKLOG_ADMIN_PASSWORD="+adminPassword)
	return cmd
}

// finding is one row of the report.
type finding struct{ Check, Status, Found, Todo string }

// report is what the doctor said as JSON.
type report struct {
	t        *testing.T
	code     int
	Status   string
	Findings []finding
	text     string
}

// doctor runs the doctor to its end.
func doctor(t *testing.T, args ...string) report {
	t.Helper()
	cmd := hooklog(t, append([]string{"doctor", "-o", "json"}, args...)...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	r := report{t: t, code: cmd.ProcessState.ExitCode(), text: out.String()}
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatalf("%v in %q, %q", err, &out, &errs)
	}
	if failed := r.Status == "failed"; failed != (r.code == 1) || failed != (errs.Len() > 0) || !failed && r.code != 0 {
		t.Errorf("it ended with %d and %q, and found\n%s", r.code, &errs, &out)
	}
	if strings.Contains(r.text, adminPassword) {
		t.Errorf("the report shows the password:\n%s", r.text)
	}
	return r
}

// want wants a finding of that check and status with that text.
func (r report) want(check, status, text string) {
	r.t.Helper()
	for _, f := range r.Findings {
		if f.Check == check && f.Status == status && strings.Contains(f.Found+" → "+f.Todo, text) {
			return
		}
	}
	r.t.Errorf("no finding that %s is %s with %q in\n%s", check, status, text, r.text)
}

// wantSound wants that nothing failed.
func (r report) wantSound() {
	r.t.Helper()
	if r.code != 0 {
		r.t.Errorf("something failed:\n%s", r.text)
	}
}

// wantOnly wants that this check failed and no other.
func (r report) wantOnly(check, text string) {
	r.t.Helper()
	r.want(check, "failed", text)
	for _, f := range r.Findings {
		if f.Status == "failed" && f.Check != check {
			r.t.Errorf("%s failed as well: %s", f.Check, f.Found)
		}
	}
}

var greeting = regexp.MustCompile(`hooklog is ready at http://(\S+)\nHealth, metrics and profiles for operators: http://(\S+)/readyz\n`)

// serve starts a service and gives its two addresses and a way to end it.
func serve(t *testing.T, args ...string) (listen, ops string, stop func()) {
	t.Helper()
	cmd := hooklog(t, append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	log, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = log.Close() }()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	stop = sync.OnceFunc(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		_ = cmd.Wait()
	})
	t.Cleanup(stop)
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(log.Name())
		if found := greeting.FindSubmatch(text); found != nil {
			return string(found[1]), string(found[2]), stop
		}
		if err != nil || time.Now().After(end) {
			t.Fatalf("the service does not greet: %v\n%s", err, text)
		}
	}
}

// lived is a folder on which a service has run.
func lived(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "data")
	_, _, stop := serve(t, "--data-dir", folder)
	stop()
	return folder
}

// contents is everything about the files below a folder that a program could
// change, but for when they were read.
func contents(t *testing.T, folder string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var content []byte
		if entry.Type().IsRegular() {
			if content, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		all[path] = fmt.Sprintf("%s %s %x", info.Mode(), info.ModTime(), sha256.Sum256(content))
		return nil
	})
	if err != nil || len(all) == 0 {
		t.Fatalf("%s has %d files, %v", folder, len(all), err)
	}
	return all
}

// unchanged wants the folder to be the same after a look.
func unchanged(t *testing.T, folder string, look func()) {
	t.Helper()
	before := contents(t, folder)
	look()
	if after := contents(t, folder); !maps.Equal(before, after) {
		t.Errorf("the look has changed something in %s:\n%v\n%v", folder, before, after)
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
