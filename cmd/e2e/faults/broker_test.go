//go:build faults

package faults_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
)

// simulatorVariable makes this binary a simulated broker: a process of its own,
// which can be stopped.
const simulatorVariable = "HOOKLOG_FAULTS_SIMULATOR"

// simulateBroker runs until its input ends, which is when its parent does.
func simulateBroker() {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		panic(err)
	}
	fmt.Println(cluster.ListenAddrs()[0])
	_, _ = os.Stdin.Read(make([]byte, 1))
	cluster.Close()
}

// stoppable are brokers whose processes can be stopped.
type stoppable struct {
	brokers []string
	pids    []int
}

// stoppableBrokers gives the real brokers of the run, where `make kafka-up` has
// started them, or a simulated one in a process of its own.
func stoppableBrokers(t *testing.T) stoppable {
	t.Helper()
	if realBrokers() == nil {
		return simulatedProcess(t)
	}
	found, err := filepath.Glob(filepath.Join("..", "..", "..", ".cache", "kafka", "run", "*.pid"))
	if err != nil {
		t.Fatal(err)
	}
	if len(found) == 0 {
		t.Skip("these brokers were not started by make kafka-up, and cannot be stopped")
	}
	s := stoppable{brokers: emptyBrokers(t)}
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		s.pids = append(s.pids, pid)
	}
	t.Cleanup(func() { _ = s.signal(syscall.SIGCONT) })
	return s
}

func simulatedProcess(t *testing.T) stoppable {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), simulatorVariable+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return stoppable{brokers: []string{strings.TrimSpace(address)}, pids: []int{cmd.Process.Pid}}
}

func (s stoppable) signal(signal syscall.Signal) error {
	var faults []error
	for _, pid := range s.pids {
		faults = append(faults, syscall.Kill(pid, signal))
	}
	return errors.Join(faults...)
}

func (s stoppable) stop(t *testing.T) {
	t.Helper()
	if err := s.signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
}

func (s stoppable) goOn(t *testing.T) {
	t.Helper()
	if err := s.signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
}

// memoryOf gives the resident memory of a process, in bytes.
func memoryOf(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if value, is := strings.CutPrefix(line, "VmRSS:"); is {
			n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			if err != nil {
				t.Fatal(err)
			}
			return n << 10
		}
	}
	t.Fatalf("no memory of process %d", pid)
	return 0
}
