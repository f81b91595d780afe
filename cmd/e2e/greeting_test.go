package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// printed are the command lines of the newest greeting.
func printed(out *buffer) []string {
	text := out.String()
	text = text[strings.LastIndex(text, "hooklog is ready at"):]
	var lines []string
	for line := range strings.Lines(text) {
		if command, indented := strings.CutPrefix(line, "  "); indented {
			lines = append(lines, strings.TrimSuffix(command, "\n"))
		}
	}
	return lines
}

// bash runs lines as if they were pasted, and gives what the last one shows.
func bash(t *testing.T, env []string, lines ...string) (stdout, stderr string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	shell := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", strings.Join(lines, "\n"))
	shell.Env = append(os.Environ(), env...)
	shell.Dir = t.TempDir() // an operator pastes into another terminal
	var out, errs bytes.Buffer
	shell.Stdout, shell.Stderr = &out, &errs
	err = shell.Run()
	return out.String(), errs.String(), err
}

func needTools(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		if _, err := exec.LookPath(name); err != nil {
			t.Skipf("%s is not installed: the printed lines are not tried here", name)
		}
	}
}

func TestThePrintedLinesWorkAtEveryStart(t *testing.T) {
	needTools(t, "bash", "curl", "sed", "tee")
	ownPassword := []string{passwordVariable + "=" + adminPassword}
	for name, tc := range map[string]struct {
		env  []string
		flag func(t *testing.T) []string
	}{
		"with the operator's password": {env: ownPassword},
		"with a password that is made": {},
		"over TLS": {env: ownPassword, flag: func(t *testing.T) []string {
			cert, key := writeCertificate(t, filepath.Join(t.TempDir(), "a folder"), 1)
			return []string{"--tls-cert", cert, "--tls-key", key}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "the operator's data")
			flags := []string{"--data-dir", folder}
			if tc.flag != nil {
				flags = append(flags, tc.flag(t)...)
			}
			created := map[string]bool{}
			for range 2 {
				p := serveBinary(t, tc.env, flags...)
				lines := printed(p.out)
				if len(lines) != 3 || !strings.Contains(p.out.String(), p.url) {
					t.Fatalf("printed %q", p.out)
				}
				stdout, stderr, err := bash(t, tc.env, lines...)
				if err != nil {
					t.Fatalf("%v\n%s\n%s\n%s", err, lines, stdout, stderr)
				}
				var polled result
				if err := json.Unmarshal([]byte(stdout), &polled); err != nil || polled.Status != "ok" {
					t.Fatalf("polled %q: %v", stdout, err)
				}
				// The other lines show their answers while they keep a part of them.
				var hook webhook
				if err := json.NewDecoder(strings.NewReader(stderr)).Decode(&hook); err != nil || hook.UUID == "" {
					t.Fatalf("created %q: %v", stderr, err)
				}
				created[hook.UUID] = true
				noPassword(t, p, folder, tc.env == nil)
				p.terminate()
			}
			if len(created) != 1 {
				t.Errorf("the second start made another webhook: %d", len(created))
			}
		})
	}
}

// noPassword fails the test when the process has shown the password.
func noPassword(t *testing.T, p *process, folder string, made bool) {
	t.Helper()
	password := adminPassword
	if made {
		password = madePassword(t, folder)
	}
	if text := p.out.String() + p.logs.String(); strings.Contains(text, password) {
		t.Errorf("the password is shown:\n%s", text)
	}
}

// madePassword reads the password that the service made, from where it says.
func madePassword(t *testing.T, folder string) string {
	t.Helper()
	path := filepath.Join(folder, "keys", "admin-password")
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%s: %v, %v", path, info, err)
	}
	text, err := os.ReadFile(path)
	if err != nil || len(text) < 20 {
		t.Fatalf("a password of %d characters: %v", len(text), err)
	}
	return strings.TrimSuffix(string(text), "\n")
}
