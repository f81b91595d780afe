package client_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"hooklog/cmd/e2e/binary"
)

// screen is what was written so far.
type screen struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// process is the binary at work, until somebody stops it.
type process struct {
	t              *testing.T
	cmd            *exec.Cmd
	stdout, stderr screen
}

// begin starts the binary in the background.
func (sh *shell) begin(args ...string) *process {
	sh.t.Helper()
	path, _ := binary.Path()
	p := &process{t: sh.t, cmd: exec.Command(path, args...)}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = sh.dir, sh.env, &p.stdout, &p.stderr
	if err := p.cmd.Start(); err != nil {
		sh.t.Fatal(err)
	}
	sh.t.Cleanup(func() {
		if p.cmd.ProcessState == nil {
			_ = p.cmd.Process.Kill()
			_ = p.cmd.Wait()
		}
	})
	return p
}

// shows waits until a text was written.
func (p *process) shows(text string) {
	p.t.Helper()
	eventually(p.t, func() bool { return strings.Contains(p.stdout.String()+p.stderr.String(), text) }, func() string {
		return "it never showed " + text + ":\n" + p.stdout.String() + p.stderr.String()
	})
}

// interrupt is Ctrl-C.
func (p *process) interrupt() ended {
	p.t.Helper()
	_ = p.cmd.Process.Signal(os.Interrupt)
	late := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
	defer late.Stop()
	_ = p.cmd.Wait()
	return ended{p.t, p.cmd.ProcessState.ExitCode(), p.stdout.String(), p.stderr.String()}
}

// eventually waits until something holds.
func eventually(t *testing.T, holds func() bool, otherwise func() string) {
	t.Helper()
	for end := time.Now().Add(patience); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(otherwise())
		}
	}
}
