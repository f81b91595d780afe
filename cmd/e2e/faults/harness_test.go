//go:build faults

// Package faults_test breaks hooklog in the ways in which it may break: it is
// killed, its brokers stop, its disk is full, its log is shorter than it was. Each
// suite counts what was acknowledged before, and fails when any of it is lost or
// when too little was acknowledged to tell. The counts are small; HOOKLOG_SOAK=1
// takes the full ones. It has no way in but those of callers, operators and
// stream processors.
package faults_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"hooklog/cmd/e2e/binary"
)

const (
	adminPassword  = "the administrator's password"
	readerPassword = "the reader's password"
	// patience bounds every wait; nothing passes because of it.
	patience = 60 * time.Second
)

// soaking says that the full counts are asked for.
var soaking = os.Getenv("HOOKLOG_SOAK") == "1"

// counts is few, or full for a soak.
func counts(few, full int) int {
	if soaking {
		return full
	}
	return few
}

func TestMain(m *testing.M) {
	if os.Getenv(simulatorVariable) != "" {
		simulateBroker()
		return
	}
	os.Exit(binary.Main(m))
}

// hooklog prepares a run of the binary. Of this run's own settings it gets the
// passwords alone.
func hooklog(t *testing.T, args ...string) *exec.Cmd {
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
	cmd.Env = append(cmd.Env, "HOOKLOG_ADMIN_PASSWORD="+adminPassword, "HOOKLOG_EMBEDDED_READER_PASSWORD="+readerPassword)
	return cmd
}

// runBinary runs the binary to its end.
func runBinary(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	cmd := hooklog(t, args...)
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

// lastLine is what the operator reads last.
func lastLine(text string) string {
	text = strings.TrimRight(text, "\n")
	return text[strings.LastIndexByte(text, '\n')+1:]
}

// eventually waits for what happens behind an answer.
func eventually(t *testing.T, what string, happened func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !happened(); {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// buffer is a bytes.Buffer for many writers.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// randomName is a name that nobody has used.
func randomName() string { return strings.ToLower(rand.Text()) }
