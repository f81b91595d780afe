package doctor_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAServiceThatWasNeverStarted(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	r := doctor(t, "--data-dir", folder, "--listen", freeAddress(t))
	r.wantSound()
	r.want("data folder", "ok", "the first start makes it")
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("the look has made the folder: %v", err)
	}
}

func TestAStoppedService(t *testing.T) {
	folder := lived(t)
	look := func(args ...string) (r report) {
		t.Helper()
		unchanged(t, folder, func() { r = doctor(t, append([]string{"--data-dir", folder, "--listen", freeAddress(t)}, args...)...) })
		return r
	}
	r := look()
	r.wantSound()
	r.want("embedded log", "ok", "read whole and found in order")
	r.want("key ring", "ok", "is the one of this log")

	t.Run("in a folder that is open to others", func(t *testing.T) {
		if err := os.Chmod(folder, 0o755); err != nil {
			t.Fatal(err)
		}
		look().wantOnly("data folder", "chmod 700 "+folder)
		if err := os.Chmod(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("without its key ring", func(t *testing.T) {
		ring := filepath.Join(folder, "keys", "ring")
		if err := os.Rename(ring, ring+".away"); err != nil {
			t.Fatal(err)
		}
		look().wantOnly("key ring", "restore it from a backup")
		if err := os.Rename(ring+".away", ring); err != nil {
			t.Fatal(err)
		}
	})
	t.Run("with a torn write", func(t *testing.T) {
		end, err := os.OpenFile(filepath.Join(folder, "log", "partitions", "svc.command-0", "0.dat"), os.O_APPEND|os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		info, err := end.Stat()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := end.Write(make([]byte, 30)); err != nil {
			t.Fatal(err)
		}
		r := look()
		r.wantSound()
		r.want("embedded log", "ok", "cuts its 30 bytes off")
		if err := end.Truncate(info.Size()); err != nil {
			t.Fatal(err)
		}
		_ = end.Close()
	})
	t.Run("with a damaged log", func(t *testing.T) {
		segment := filepath.Join(folder, "log", "partitions", "svc.command-0", "0.dat")
		content, err := os.ReadFile(segment)
		if err != nil {
			t.Fatal(err)
		}
		content[200] ^= 1
		if err := os.WriteFile(segment, content, 0o600); err != nil {
			t.Fatal(err)
		}
		look().wantOnly("embedded log", segment)
	})
}

func TestARunningService(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "data")
	listen, ops, stop := serve(t, "--data-dir", folder)
	var r report
	for _, part := range []string{"log/partitions", "keys"} { // the rest is the service's own to change
		unchanged(t, filepath.Join(folder, part), func() {
			r = doctor(t, "--data-dir", folder, "--listen", listen, "--ops-listen", ops)
		})
	}
	r.wantSound()
	r.want("data folder", "ok", "a service runs on it")
	r.want("listen", "ok", "is ready")
	r.want("ops-listen", "ok", "is ready")
	r.want("base URL", "ok", "leads to a hooklog")
	r.want("key ring", "ok", "is the one of this log")
	r.want("embedded log", "ok", "not read")

	answer, err := http.Get("http://" + listen + "/readyz")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Errorf("the service is not what it was: %v, %v", answer, err)
	} else {
		_ = answer.Body.Close()
	}
	stop()
	doctor(t, "--data-dir", folder, "--listen", listen, "--ops-listen", ops).want("listen", "ok", "is free")
}

func TestSettingsThatCannotWork(t *testing.T) {
	r := doctor(t, "--data-dir", t.TempDir(), "--listen", "here", "--tls-cert", "cert.pem")
	r.wantOnly("settings", `"here" is no address`)
	r.want("settings", "failed", "tls-key: is required")
}

func TestWrongUsage(t *testing.T) {
	for name, args := range map[string][]string{
		"a form that is not known": {"doctor", "-o", "xml"},
		"a flag that is not known": {"doctor", "--heal"},
		"a needless argument":      {"doctor", "please"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := hooklog(t, args...)
			text, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != 2 || !strings.HasPrefix(string(text), "hooklog: ") {
				t.Errorf("%v %q", err, text)
			}
		})
	}
}
