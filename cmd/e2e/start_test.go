package e2e_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kfake"
)

// refused runs the binary, which must fail with one line that says all of it.
func refused(t *testing.T, code int, args []string, says ...string) {
	t.Helper()
	got, stdout, stderr := runBinary(t, nil, args...)
	lines := strings.Split(strings.TrimSuffix(stderr, "\n"), "\n")
	last := lines[len(lines)-1]
	if got != code || strings.Contains(stdout, "hooklog is ready") || !strings.HasPrefix(last, "hooklog: ") {
		t.Fatalf("exit code %d, want %d\n%s\n%s", got, code, stdout, stderr)
	}
	for _, part := range says {
		if !strings.Contains(last, part) {
			t.Errorf("%q does not say %q", last, part)
		}
	}
}

func serveIn(folder string, more ...string) []string {
	return append([]string{"serve", "--listen", "127.0.0.1:0", "--data-dir", folder}, more...)
}

func TestWhatIsTakenIsNotTakenTwice(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	p := serveBinary(t, nil, "--data-dir", folder)
	t.Run("the folder", func(t *testing.T) {
		refused(t, 1, serveIn(folder), folder, "another hooklog runs on this folder; stop it first or choose another --data-dir")
	})
	t.Run("the port", func(t *testing.T) {
		address := strings.TrimPrefix(p.url, "http://")
		refused(t, 1, serveIn(t.TempDir(), "--listen", address), address, "another process listens", "choose another --listen")
	})
	t.Run("the port of operators", func(t *testing.T) {
		address := strings.TrimPrefix(p.ops, "http://")
		refused(t, 1, serveIn(t.TempDir(), "--ops-listen", address), address, "choose another --ops-listen")
	})
	p.asAdmin(madePassword(t, folder), "webhook.list").want(200)
	p.terminate()
}

func TestTheKeyRingOfTheLog(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	ring := filepath.Join(folder, "keys", "ring")
	serveBinary(t, nil, "--data-dir", folder).terminate()
	right, err := os.ReadFile(ring)
	if err != nil {
		t.Fatal(err)
	}
	state := func() {
		t.Helper()
		if err := os.RemoveAll(filepath.Join(folder, "state")); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("a missing one is not made again", func(t *testing.T) {
		if err := os.Remove(ring); err != nil {
			t.Fatal(err)
		}
		refused(t, 1, serveIn(folder), ring+" is missing", "restore it from a backup")
		if _, err := os.Stat(ring); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("there is a ring again: %v", err)
		}
	})
	t.Run("another one is refused by its name", func(t *testing.T) {
		if code, _, stderr := runBinary(t, nil, "keys", "init", ring); code != 0 {
			t.Fatal(stderr)
		}
		refused(t, 1, serveIn(folder), ring+" is not the one of this log")
		state() // not even when everything is folded again
		refused(t, 1, serveIn(folder), ring+" is not the one of this log")
		refused(t, 1, []string{"admin", "reset", "--data-dir", folder}, ring+" is not the one of this log")
	})
	t.Run("one that others may read is refused", func(t *testing.T) {
		if err := os.Chmod(ring, 0o644); err != nil {
			t.Fatal(err)
		}
		refused(t, 1, serveIn(folder), "chmod 600 "+ring)
	})
	t.Run("with the right one all is well", func(t *testing.T) {
		replaceFile(t, ring, right)
		p := serveBinary(t, nil, "--data-dir", folder)
		p.asAdmin(madePassword(t, folder), "webhook.list").want(200)
		p.terminate()
	})
}

func TestBrokersNeedARingThatTheOperatorMakes(t *testing.T) {
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	folder := t.TempDir()
	ring := filepath.Join(folder, "keys of all instances", "ring")
	flags := []string{"--brokers", cluster.ListenAddrs()[0], "--replication", "1", "--data-dir", filepath.Join(folder, "one")}

	refused(t, 2, append([]string{"serve"}, flags...), "key-ring: is required with brokers", "hooklog keys init FILE")
	flags = append(flags, "--key-ring", ring)
	refused(t, 1, append([]string{"serve"}, flags...), ring+" is missing", "hooklog keys init "+ring)

	code, stdout, stderr := runBinary(t, nil, "keys", "init", ring)
	if code != 0 || !strings.Contains(stdout, ring) {
		t.Fatal(code, stdout, stderr)
	}
	if info, err := os.Stat(ring); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
	first := serveBinary(t, []string{passwordVariable + "=" + adminPassword}, flags...)
	first.put("eventKey=webhook.demo")

	// A second instance has a folder of its own, and the ring in common.
	flags[len(flags)-3] = filepath.Join(folder, "two")
	second := serveBinary(t, nil, flags...)
	if hooks := second.command("webhook.get").want(200); !strings.Contains(string(hooks.body), "webhook.demo") {
		t.Errorf("the other instance has %s", hooks.body)
	}
	if _, err := os.Stat(filepath.Join(folder, "two", "keys", "admin-password")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it has a password that does not count: %v", err)
	}
	first.terminate()
	second.terminate()
}
