package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAdminReset(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	file := filepath.Join(folder, "keys", "admin-password")
	reset := []string{"admin", "reset", "--data-dir", folder}

	t.Run("without a log it says what to do, and leaves the folder alone", func(t *testing.T) {
		refused(t, 1, reset, folder, "hooklog serve")
		if _, err := os.Stat(folder); !os.IsNotExist(err) {
			t.Errorf("the folder was made: %v", err)
		}
	})
	p := serveBinary(t, nil, "--data-dir", folder)
	old := madePassword(t, folder)
	p.asAdmin(old, "webhook.list").want(200)

	t.Run("beside a running service it is refused", func(t *testing.T) {
		refused(t, 1, reset, "another hooklog runs on this folder; stop it first")
		p.asAdmin(old, "webhook.list").want(200)
		if madePassword(t, folder) != old {
			t.Error("the password file has changed")
		}
	})
	p.terminate()

	t.Run("it makes a new password into the file", func(t *testing.T) {
		code, stdout, stderr := runBinary(t, nil, reset...)
		made := madePassword(t, folder)
		if code != 0 || !strings.Contains(stdout, file) || strings.Contains(stdout+stderr, made) || made == old {
			t.Fatalf("%d %q %q", code, stdout, stderr)
		}
		p := serveBinary(t, nil, "--data-dir", folder)
		p.asAdmin(made, "webhook.list").want(200)
		p.asAdmin(old, "webhook.list").want(401)
		p.terminate()
		old = made
	})
	t.Run("it takes the operator's password", func(t *testing.T) {
		const own = "one of my own"
		code, stdout, stderr := runBinary(t, []string{passwordVariable + "=" + own}, reset...)
		if code != 0 || !strings.Contains(stdout, passwordVariable) || strings.Contains(stdout+stderr, own) {
			t.Fatalf("%d %q %q", code, stdout, stderr)
		}
		if _, err := os.Stat(file); !os.IsNotExist(err) {
			t.Errorf("the old password still lies there: %v", err)
		}
		// The variable counts when it is set, not at a start.
		p := serveBinary(t, []string{passwordVariable + "=not yet"}, "--data-dir", folder)
		p.asAdmin(own, "webhook.list").want(200)
		p.asAdmin(old, "webhook.list").want(401)
		p.asAdmin("not yet", "webhook.list").want(401)
		p.terminate()
	})
}
