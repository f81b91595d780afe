//go:build faults

package faults_test

import (
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// process is a running binary and the ways to it.
type process struct {
	*client
	cmd       *exec.Cmd
	ops       string // the base URL of the ops listener
	log       kafkaLog
	out, logs *buffer
	ended     chan struct{}
}

var (
	readyAt  = regexp.MustCompile(`hooklog is ready at (\S+)\nHealth, metrics and profiles for operators: (\S+)/readyz\n`)
	windowAt = regexp.MustCompile(`kcat -b (\S+) `)
)

// launch starts hooklog serve on a free port, and does not wait for it. Without
// brokers the arguments name a data folder, and the log is read through a window.
func launch(t *testing.T, brokers []string, args ...string) *process {
	t.Helper()
	if brokers == nil {
		args = append([]string{"--embedded-listen", "127.0.0.1:0"}, args...)
	} else {
		args = append([]string{"--brokers", strings.Join(brokers, ","), "--replication", "1", "--partitions", "3"}, args...)
	}
	return begin(t, hooklog(t, append([]string{"serve", "--listen", "127.0.0.1:0", "--user-rate", "0", "--log-level", "warn"}, args...)...))
}

// begin starts a prepared run of the binary.
func begin(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, out: &buffer{}, logs: &buffer{}, ended: make(chan struct{})}
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
	return p
}

// serve is launch that waits until the service is ready.
func serve(t *testing.T, brokers []string, args ...string) *process {
	t.Helper()
	return launch(t, brokers, args...).greeted(t, brokers)
}

// greeted waits until the service is ready, and finds the ways to it.
func (p *process) greeted(t *testing.T, brokers []string) *process {
	t.Helper()
	var ready []string
	eventually(t, "the service is ready", func() bool {
		select {
		case <-p.ended:
			t.Fatalf("it ended with %s\n%s", p.cmd.ProcessState, p.logs)
		default:
		}
		ready = readyAt.FindStringSubmatch(p.out.String())
		return ready != nil
	})
	p.client = newClient(t, ready[1])
	p.ops = ready[2]
	p.log = kafkaLog{brokers: brokers}
	if brokers == nil {
		p.log = kafkaLog{brokers: []string{windowAt.FindStringSubmatch(p.out.String())[1]}, window: true}
	}
	return p
}

// kill ends the process as a power cut would.
func (p *process) kill(t *testing.T) {
	t.Helper()
	p.signal(t, syscall.SIGKILL)
	if code := p.exit(t); code != -1 {
		t.Fatalf("it was not killed: exit code %d\n%s", code, p.logs)
	}
}

// terminate ends the process in order.
func (p *process) terminate(t *testing.T) {
	t.Helper()
	p.http.CloseIdleConnections()
	p.signal(t, syscall.SIGTERM)
	if code := p.exit(t); code != 0 {
		t.Fatalf("exit code %d\n%s", code, p.logs)
	}
}

func (p *process) signal(t *testing.T, s syscall.Signal) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
}

// exit waits for the end and gives the exit code, -1 after a signal.
func (p *process) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		t.Fatalf("the process does not end\n%s", p.logs)
	}
	return p.cmd.ProcessState.ExitCode()
}
