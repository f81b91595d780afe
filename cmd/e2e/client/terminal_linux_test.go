package client_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"
	"unsafe"

	"golang.org/x/term"

	"hooklog/cmd/e2e/binary"
)

// The requests of pseudo-terminals.
const (
	unlock = 0x40045431 // TIOCSPTLCK
	number = 0x80045430 // TIOCGPTN
)

// terminal opens both ends of a pseudo-terminal: ours, and the program's.
func terminal(t *testing.T) (ours, theirs *os.File) {
	t.Helper()
	ours, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skip("there are no pseudo-terminals:", err)
	}
	t.Cleanup(func() { _ = ours.Close() })
	var n int32
	for _, request := range []uintptr{unlock, number} {
		if _, _, errno := syscall.Syscall(syscall.SYS_IOCTL, ours.Fd(), request, uintptr(unsafe.Pointer(&n))); errno != 0 {
			t.Fatal(errno)
		}
	}
	theirs, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return ours, theirs
}

// onTerminal runs the binary on a terminal, where somebody answers each prompt
// with a line, and gives all that the terminal showed.
func (sh *shell) onTerminal(answers [][2]string, args ...string) (code int, shown string) {
	sh.t.Helper()
	path, err := binary.Path()
	if err != nil {
		sh.t.Fatal(err)
	}
	ours, theirs := terminal(sh.t)
	ctx, cancel := context.WithTimeout(sh.t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = sh.dir, sh.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	if err := cmd.Start(); err != nil {
		sh.t.Fatal(err)
	}
	_ = theirs.Close()
	var seen screen
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = io.Copy(&seen, ours) // ends with an error when the other end is closed
	}()
	for _, answer := range answers {
		for !strings.Contains(seen.String(), answer[0]) {
			select {
			case <-ctx.Done():
				sh.t.Fatalf("it never asked %q: %s", answer[0], seen.String())
			case <-time.After(5 * time.Millisecond):
			}
		}
		if _, err := ours.WriteString(answer[1] + "\n"); err != nil {
			sh.t.Fatal(err)
		}
	}
	_ = cmd.Wait()
	<-read
	return cmd.ProcessState.ExitCode(), strings.ReplaceAll(seen.String(), "\r\n", "\n")
}

func TestATerminalGetsTablesAndAPipeJSON(t *testing.T) {
	s := start(t)
	s.prepare()
	sh := s.asAdmin(t)
	t.Run("a table with colours on a terminal", func(t *testing.T) {
		code, shown := sh.onTerminal(nil, "webhook", "list")
		if code != 0 || !strings.HasPrefix(shown, "\x1b[1mEVENT KEY\x1b[0m ") || strings.Contains(shown, "{") {
			t.Errorf("%d %q", code, shown)
		}
	})
	t.Run("no colours with NO_COLOR, or when told so", func(t *testing.T) {
		plain := s.asAdmin(t, "NO_COLOR=1")
		for _, words := range [][]string{{"webhook", "list"}, {"webhook", "list", "--color", "never"}} {
			if code, shown := plain.onTerminal(nil, words...); code != 0 || !strings.HasPrefix(shown, "EVENT KEY ") || strings.Contains(shown, "\x1b") {
				t.Errorf("%d %q", code, shown)
			}
		}
		if _, shown := plain.onTerminal(nil, "webhook", "list", "--color", "always"); !strings.Contains(shown, "\x1b[1m") {
			t.Errorf("always gives %q", shown)
		}
	})
	t.Run("JSON in a pipe, with no colours and no progress", func(t *testing.T) {
		e := sh.hooklog("webhook", "list").want(0)
		if !strings.HasPrefix(e.stdout, "[\n") || strings.Contains(e.stdout+e.stderr, "\x1b") || e.stderr != "" {
			t.Errorf("%q %q", e.stdout, e.stderr)
		}
		if e := sh.hooklog("pipeline", "run", "greet", "--data", `{"name":"Ada"}`).want(0); e.stdout != "\"Hello Ada\"\n" || e.stderr != "" {
			t.Errorf("%q %q", e.stdout, e.stderr)
		}
	})
	t.Run("long work shows on a terminal that it goes on", func(t *testing.T) {
		sh.write("slow.yaml", "pipeline:\n  - wait: {seconds: 1}\n  - set: {value: done}\n")
		sh.hooklog("pipeline", "apply", "-f", "slow.yaml").want(0)
		code, shown := sh.onTerminal(nil, "pipeline", "run", "slow")
		if code != 0 || !strings.Contains(shown, "running slow") || !strings.HasSuffix(shown, "done\n") {
			t.Errorf("%d %q", code, shown)
		}
	})
}

func TestAPasswordIsAskedForWithoutEcho(t *testing.T) {
	s := start(t)
	sh := s.asAdmin(t)
	const typed = "typed by hand €"
	t.Run("twice, when it is set", func(t *testing.T) {
		code, shown := sh.onTerminal([][2]string{{"Password: ", typed}, {"Password again: ", typed}}, "user", "put", "dora", "password=@-")
		if code != 0 || strings.Contains(shown, "typed") {
			t.Errorf("%d %q", code, shown)
		}
		code, shown = sh.onTerminal([][2]string{{"Password: ", typed}, {"Password again: ", "another"}}, "user", "put", "dora", "password=@-")
		if code != 2 || !strings.Contains(shown, "the two passwords differ") {
			t.Errorf("%d %q", code, shown)
		}
	})
	t.Run("once, to log in", func(t *testing.T) {
		sh := newShell(t, "HOOKLOG_URL="+s.url)
		code, shown := sh.onTerminal([][2]string{{"Password of dora at " + s.url + ": ", typed}}, "login", "--user", "dora")
		if code != 0 || strings.Contains(shown, "typed") {
			t.Errorf("%d %q", code, shown)
		}
	})
}

func TestCallsOnATerminal(t *testing.T) {
	s := start(t)
	w := s.prepare()
	sh, plain := s.asAdmin(t), s.asAdmin(t, "NO_COLOR=1")
	t.Run("a trace is a waterfall with colours", func(t *testing.T) {
		code, shown := sh.onTerminal(nil, "trace", w.correlationID)
		if code != 0 || !strings.Contains(shown, "\x1b[1mSTAGE\x1b[0m") || !strings.Contains(shown, "\x1b[31merror\x1b[0m") || !strings.Contains(shown, "convert.fromBase64") {
			t.Errorf("%d %q", code, shown)
		}
		if code, shown := plain.onTerminal(nil, "trace", w.correlationID); code != 0 || strings.Contains(shown, "\x1b") || !strings.Contains(shown, "STAGE") {
			t.Errorf("%d %q", code, shown)
		}
	})
	t.Run("a call of a tail keeps to its line", func(t *testing.T) {
		s.call(w.uuid, `{"order":"`+strings.Repeat("long", 100)+`"}`)
		code, shown := plain.onTerminal(nil, "webhook", "tail", "webhook.orders", "--from-start", "--count", "2")
		lines := strings.Split(shown, "\n")
		if code != 0 || len(lines) != 3 || !strings.HasSuffix(lines[1], "…") || utf8.RuneCountInString(lines[1]) != 80 {
			t.Errorf("%d %q", code, shown)
		}
	})
	t.Run("an export into a file shows no data", func(t *testing.T) {
		if code, shown := sh.onTerminal(nil, "audit", "export", "--file", "again.jsonl"); code != 0 || strings.Contains(shown, "{") {
			t.Errorf("%d %q", code, shown)
		}
	})
}

func TestNobodySteersTheTerminal(t *testing.T) {
	s := start(t)
	const nasty = "\x7f\u009b2J\u202e"
	quoted := `"` + `\u001b[2J\r\n` + nasty + `"`
	type answered struct {
		status     int
		kind, body string
	}
	var answer atomic.Pointer[answered]
	address := s.through(t, func(w http.ResponseWriter, _ *http.Request, _ http.Handler) {
		a := answer.Load()
		w.Header().Set("Content-Type", a.kind)
		w.WriteHeader(a.status)
		_, _ = io.WriteString(w, a.body)
	})
	answers := func(status int, kind, body string) { answer.Store(&answered{status, kind, body}) }
	sh := s.asAdmin(t, "HOOKLOG_URL="+address)
	shows := func(t *testing.T, words ...string) {
		t.Helper()
		_, shown := sh.onTerminal(nil, append(words, "--color", "never")...)
		if !strings.Contains(shown, "2J") {
			t.Errorf("%q: it does not come to what is tested: %q", words, shown)
		}
		for _, steering := range []string{"\x1b[2J", "\x7f", "\u009b", "\u202e", "\r"} {
			if strings.Contains(shown, steering) {
				t.Errorf("%q: the terminal gets %q in %q", words, steering, shown)
			}
		}
	}
	for _, format := range []string{"table", "json", "yaml"} {
		t.Run("with an answer as "+format, func(t *testing.T) {
			answers(http.StatusOK, "application/json", `{`+quoted+`:`+quoted+`}`)
			shows(t, "command", "webhook.get", "-o", format)
			answers(http.StatusOK, "application/json", `{"items":[{`+quoted+`:1}],"next":`+quoted+`}`)
			shows(t, "command", "webhook.list", "-o", format)
			answers(http.StatusOK, "application/json", `{"body":`+quoted+`}`)
			shows(t, "pipeline", "show", "orders", "-o", format)
			answers(http.StatusOK, "application/x-ndjson", `{"a":`+quoted+"}\n")
			shows(t, "command", "webhook.list", "-o", format)
		})
	}
	t.Run("with a refusal, which stays one line", func(t *testing.T) {
		answers(http.StatusConflict, "application/problem+json", `{"title":"No","detail":`+quoted+`,"hint":`+quoted+`}`)
		shows(t, "command", "webhook.get")
		if e := sh.hooklog("command", "webhook.get").want(1); strings.Count(e.stderr, "\n") != 1 {
			t.Errorf("it says %q", e.stderr)
		}
	})
}

func TestAnInterruptedPromptLeavesTheTerminalAsItWas(t *testing.T) {
	path, err := binary.Path()
	if err != nil {
		t.Fatal(err)
	}
	sh := newShell(t, "HOOKLOG_URL=http://127.0.0.1:1")
	ours, theirs := terminal(t)
	defer func() { _ = theirs.Close() }()
	before, err := term.GetState(int(theirs.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "login", "--user", "dora")
	cmd.Dir, cmd.Env = sh.dir, sh.env
	cmd.Stdin, cmd.Stdout, cmd.Stderr = theirs, theirs, theirs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for { // until it does not echo any more
		now, err := term.GetState(int(theirs.Fd()))
		if err != nil || ctx.Err() != nil {
			t.Fatal("it never asked:", err)
		}
		if *now != *before {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	go func() { _, _ = io.Copy(io.Discard, ours) }()
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if after, err := term.GetState(int(theirs.Fd())); err != nil || *after != *before || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("%v, %s, the terminal is as before: %v", err, cmd.ProcessState, after != nil && *after == *before)
	}
}
