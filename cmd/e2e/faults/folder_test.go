//go:build faults

package faults_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hooklog/domain/record"
	"hooklog/domain/registry"
	"hooklog/projections/store"
	"hooklog/transport/kafka"
	"hooklog/transport/kafka/embedded"
)

// folder is the data folder of a service that is stopped.
type folder string

func (f folder) state() string { return filepath.Join(string(f), "state") }

// args are the settings of a service on this folder.
func (f folder) args() []string { return []string{"--data-dir", string(f)} }

// copy gives a new folder with the same files.
func (f folder) copy(t *testing.T) folder {
	t.Helper()
	to := folder(filepath.Join(t.TempDir(), "data"))
	if err := os.CopyFS(string(to), os.DirFS(string(f))); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(string(to), "keys", "ring"), 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// takeState gives the folder the projections of another one.
func (f folder) takeState(t *testing.T, from folder) {
	t.Helper()
	f.dropState(t)
	if err := os.CopyFS(f.state(), os.DirFS(from.state())); err != nil {
		t.Fatal(err)
	}
}

func (f folder) dropState(t *testing.T) {
	t.Helper()
	if err := os.RemoveAll(f.state()); err != nil {
		t.Fatal(err)
	}
}

// dump writes down every row of the projections.
func (f folder) dump(t *testing.T) string {
	t.Helper()
	rows, err := store.Open(f.state(), nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := errors.Join(rows.Dump(&text), rows.Close()); err != nil {
		t.Fatal(err)
	}
	return text.String()
}

// contents are all files under a part of the folder, by name.
func (f folder) contents(t *testing.T, part string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(filepath.Join(string(f), part), func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files[path] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// commands reads svc.command of an embedded log.
func (f folder) commands(t *testing.T) []registry.Command {
	t.Helper()
	lock, err := embedded.Lock(string(f))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Close() }()
	silent := slog.New(slog.DiscardHandler)
	broker, err := embedded.Open(embedded.Config{Dir: string(f), Log: silent})
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	return commandsOn(t, kafka.Config{Brokers: broker.Addrs(), Dialer: broker.DialContext, ClientID: "test", Log: silent})
}

// commandsOn reads svc.command.
func commandsOn(t *testing.T, cfg kafka.Config) []registry.Command {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	log, err := kafka.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	bounds, err := log.Bounds(ctx, record.TopicCommand)
	if err != nil {
		t.Fatal(err)
	}
	var commands []registry.Command
	for offset := bounds[0].Start; offset < bounds[0].End; offset++ {
		r, err := log.ReadAt(ctx, record.Position{Topic: record.TopicCommand, Offset: offset})
		if err != nil {
			t.Fatal(err)
		}
		c, err := registry.DecodeCommand(&r)
		if err != nil {
			t.Fatal(err)
		}
		commands = append(commands, c)
	}
	return commands
}

// accepted gives what log.accept says of losses, in their order.
func accepted(t *testing.T, commands []registry.Command) []string {
	t.Helper()
	var reasons []string
	for _, c := range commands {
		if c.Name == registry.LogAccept {
			reasons = append(reasons, c.Principal+": "+string(c.Params))
		}
	}
	return reasons
}

// refused runs the binary, which must end with one line that says all of it.
func refused(t *testing.T, args []string, says ...string) {
	t.Helper()
	if args[0] == "serve" {
		args = append(args, "--listen", "127.0.0.1:0")
	}
	code, stdout, stderr := runBinary(t, args...)
	last := lastLine(stderr)
	if code != 1 || strings.Contains(stdout, "hooklog is ready") || !strings.HasPrefix(last, "hooklog: ") {
		t.Fatalf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
	for _, part := range says {
		if !strings.Contains(last, part) {
			t.Errorf("%q does not say %q", last, part)
		}
	}
}

// rebuilt runs hooklog rebuild, which must succeed.
func rebuilt(t *testing.T, args ...string) {
	t.Helper()
	code, stdout, stderr := runBinary(t, append([]string{"rebuild"}, args...)...)
	if code != 0 || !strings.Contains(stdout, "Folded ") {
		t.Fatalf("exit code %d\n%s\n%s", code, stdout, stderr)
	}
}
