package doctor_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"log/slog"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hooklog/cmd/app"
	"hooklog/cmd/doctor"
	"hooklog/cmd/settings"
)

// healthy are the settings of a service that was never started.
func healthy(t *testing.T) settings.Config {
	t.Helper()
	cfg := settings.Default()
	cfg.DataDir = filepath.Join(t.TempDir(), "data")
	cfg.Listen = "127.0.0.1:0"
	return cfg
}

func examine(t *testing.T, cfg settings.Config) found {
	t.Helper()
	return examineAt(t, cfg, time.Now)
}

func examineAt(t *testing.T, cfg settings.Config, now func() time.Time) found {
	t.Helper()
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	report, err := doctor.Examine(t.Context(), cfg, doctor.Deps{Now: now, Progress: func(int, int) {}})
	if err != nil {
		t.Fatal(err)
	}
	return found{t, report}
}

type found struct {
	t *testing.T
	doctor.Report
}

// want wants a finding of that check and status with that text, and that every
// finding that is not in order says what to do.
func (f found) want(check string, status doctor.Status, text string) {
	f.t.Helper()
	seen := false
	for _, one := range f.Findings {
		seen = seen || one.Check == check && one.Status == status && strings.Contains(one.Found+" → "+one.Todo, text)
		if (one.Status == doctor.OK) != (one.Todo == "") {
			f.t.Errorf("%s is %s, and to do is %q", one.Check, one.Status, one.Todo)
		}
	}
	if !seen {
		f.t.Errorf("no finding that %s is %s with %q in\n%s", check, status, text, f)
	}
}

// wantNone wants no finding of that status.
func (f found) wantNone(status doctor.Status) {
	f.t.Helper()
	if f.Count(status) != 0 {
		f.t.Errorf("something is %s in\n%s", status, f)
	}
}

func (f found) String() string {
	var text strings.Builder
	_ = f.WriteTable(&text)
	return text.String()
}

// serve runs a service until stop, which may be called again.
func serve(t *testing.T, cfg settings.Config) (running *app.App, stop func()) {
	t.Helper()
	running, err := app.Start(t.Context(), cfg, app.Deps{Log: slog.New(slog.DiscardHandler), Out: new(bytes.Buffer), Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	stop = func() {
		if running == nil {
			return
		}
		if err := running.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		running = nil
	}
	t.Cleanup(stop)
	return running, stop
}

// lived is a folder on which a service has run.
func lived(t *testing.T) settings.Config {
	t.Helper()
	cfg := healthy(t)
	_, stop := serve(t, cfg)
	stop()
	return cfg
}

// writeCertificate makes a certificate for 127.0.0.1 that ends then.
func writeCertificate(t *testing.T, ends time.Time) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "hooklog"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: ends,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	certFile, keyFile = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	write(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	write(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return certFile, keyFile
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestTheReportIsForPeopleAndPrograms(t *testing.T) {
	f := examine(t, healthy(t))
	f.wantNone(doctor.Failed)
	f.want("settings", doctor.OK, "")
	var out bytes.Buffer
	if err := f.WriteJSON(&out); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Status   doctor.Status
		Findings []doctor.Finding
	}
	if err := json.Unmarshal(out.Bytes(), &read); err != nil || read.Status != f.Status() || len(read.Findings) != len(f.Findings) {
		t.Errorf("%v\n%s", err, &out)
	}

	odd := doctor.Report{Findings: []doctor.Finding{
		{Check: "a", Status: doctor.Failed, Found: "two\nlines\x1b[2J", Todo: "mend"}, {Check: "longer", Status: doctor.OK, Found: "fine"},
	}}
	var table bytes.Buffer
	if err := odd.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	want := "failed   a       two lines [2J\n                 → mend\nok       longer  fine\n\n1 in order, warnings: 0, failures: 1\n"
	if table.String() != want || odd.Status() != doctor.Failed {
		t.Errorf("the table is\n%q, want\n%q", table.String(), want)
	}
}

func TestEverySettingThatIsWrongIsAFinding(t *testing.T) {
	cfg := settings.Default()
	cfg.Listen, cfg.LogLevel = "here", "loud"
	report := doctor.Settings(cfg.Validate())
	if report.Count(doctor.Failed) != 2 || len(report.Findings) != 2 {
		t.Errorf("%+v", report)
	}
	found{t, report}.want("settings", doctor.Failed, "listen")
	found{t, report}.want("settings", doctor.Failed, "log-level")
}
