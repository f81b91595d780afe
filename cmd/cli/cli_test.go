package cli_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"hooklog/cmd/cli"
)

func run(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Main(t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestVersionIsOneLine(t *testing.T) {
	code, stdout, stderr := run(t, "version")
	if !regexp.MustCompile(`^hooklog \S+, go\S+ \w+/\w+\n$`).MatchString(stdout) || code != 0 || stderr != "" {
		t.Errorf("%d %q %q", code, stdout, stderr)
	}
}

func TestHelpTeaches(t *testing.T) {
	for _, verb := range []string{"", "serve", "version", "keys", "keys init", "admin", "admin reset", "doctor", "verify"} {
		t.Run("hooklog "+verb, func(t *testing.T) {
			code, stdout, _ := run(t, append(strings.Fields(verb), "--help")...)
			if code != 0 || !strings.Contains(stdout, "Examples:\n") || !strings.Contains(stdout, "hooklog "+verb) {
				t.Errorf("%d\n%s", code, stdout)
			}
		})
	}
	t.Run("a group alone shows its help", func(t *testing.T) {
		for _, args := range [][]string{nil, {"keys"}, {"admin"}} {
			if code, stdout, _ := run(t, args...); code != 0 || !strings.Contains(stdout, `--help" for more information about a command.`) {
				t.Errorf("%v: %d\n%s", args, code, stdout)
			}
		}
	})
}

func TestWrongUsageExitsWithTwoAndOneLineForEachFault(t *testing.T) {
	t.Setenv("HOOKLOG_POLL_HOLD", "soon")
	for name, tc := range map[string]struct {
		args []string
		want []string
	}{
		"an unknown verb":     {[]string{"srve"}, []string{`hooklog: unknown command "hooklog srve"; did you mean serve?`}},
		"an unknown sub-verb": {[]string{"keys", "burn"}, []string{`hooklog: unknown command "hooklog keys burn"; hooklog keys --help lists what there is`}},
		"an unknown flag":     {[]string{"serve", "--lisen", "x"}, []string{"hooklog: unknown flag: --lisen"}},
		"a missing argument":  {[]string{"keys", "init"}, []string{"hooklog: accepts 1 arg(s), received 0"}},
		"a needless argument": {[]string{"version", "please"}, []string{`hooklog: unknown command "please" for "hooklog version"`}},
		"an unknown form":     {[]string{"doctor", "-o", "xml"}, []string{`hooklog: output: "xml" is not known; write one of table, json`}},
		"wrong settings": {
			[]string{"serve", "--tls-cert", "c.pem"},
			[]string{"hooklog: HOOKLOG_POLL_HOLD: write a duration with its unit, such as 200ms, 25s or 24h", "hooklog: tls-key: is required with tls-cert"},
		},
		"wrong settings of a reset": {
			[]string{"admin", "reset", "--listen", "here"},
			[]string{
				"hooklog: HOOKLOG_POLL_HOLD: write a duration with its unit, such as 200ms, 25s or 24h",
				`hooklog: listen: "here" is no address; write host:port, such as 127.0.0.1:8080`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			code, stdout, stderr := run(t, tc.args...)
			if want := strings.Join(tc.want, "\n") + "\n"; code != 2 || stdout != "" || stderr != want {
				t.Errorf("%d %q\n got %s\nwant %s", code, stdout, stderr, want)
			}
		})
	}
}

func TestKeysInit(t *testing.T) {
	ring := filepath.Join(t.TempDir(), "ring")
	if code, stdout, stderr := run(t, "keys", "init", ring); code != 0 || !strings.Contains(stdout, ring) {
		t.Fatal(code, stdout, stderr)
	}
	info, err := os.Stat(ring)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatal(info, err)
	}
	before, err := os.ReadFile(ring)
	if err != nil || len(before) == 0 {
		t.Fatal("the ring is empty", err)
	}

	code, _, stderr := run(t, "keys", "init", ring)
	if code != 1 || !strings.HasPrefix(stderr, "hooklog: ") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("a second time: %d %q", code, stderr)
	}
	if after, _ := os.ReadFile(ring); !bytes.Equal(before, after) {
		t.Error("the ring was overwritten")
	}
}

// firstWrite tells when something was written for the first time.
type firstWrite struct {
	io.Writer
	seen chan struct{}
}

func (w *firstWrite) Write(p []byte) (int, error) {
	select {
	case <-w.seen:
	default:
		close(w.seen)
	}
	return w.Writer.Write(p)
}

func TestServeEndsInOrderWhenItIsTold(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var out, errs bytes.Buffer
	started := &firstWrite{Writer: &out, seen: make(chan struct{})}
	args := []string{"serve", "--listen", "127.0.0.1:0", "--data-dir", t.TempDir()}
	ended := make(chan int, 1)
	go func() { ended <- cli.Main(ctx, args, started, &errs) }()
	select {
	case <-started.seen:
	case code := <-ended:
		t.Fatalf("it ended with %d: %s", code, errs.String())
	}
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("exit code %d: %s", code, errs.String())
	}
	if !strings.Contains(out.String(), "http://127.0.0.1:") {
		t.Errorf("the start shows no address:\n%s", out.String())
	}
}

func TestServeThatCannotStartExitsWithOne(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, stderr := run(t, "serve", "--listen", "127.0.0.1:0", "--data-dir", file)
	if code != 1 || !strings.Contains(stderr, "hooklog: ") {
		t.Errorf("%d %q", code, stderr)
	}
}

func TestAMissingFlagIsWrongUsage(t *testing.T) {
	for _, words := range [][]string{{"pipeline", "apply"}, {"pipeline", "check"}} {
		if code, _, stderr := run(t, words...); code != 2 || !strings.Contains(stderr, `"file" not set`) {
			t.Errorf("%q: %d %s", words, code, stderr)
		}
	}
}
