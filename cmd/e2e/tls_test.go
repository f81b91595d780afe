package e2e_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"hooklog/cmd/settings"
)

// writeCertificate puts a certificate for loopback with that serial number, and
// its key, into a folder.
func writeCertificate(t *testing.T, folder string, serial int64) (certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(serial),
		Subject:               pkix.Name{CommonName: "hooklog"}, // OpenSSL wants one
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	certFile, keyFile = filepath.Join(folder, "cert.pem"), filepath.Join(folder, "key.pem")
	if err := os.MkdirAll(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	replaceFile(t, certFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}))
	replaceFile(t, keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	return certFile, keyFile
}

// replaceFile puts a file in the place of another in one step.
func replaceFile(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// serialAt is the serial number of the certificate that a new connection sees.
func serialAt(t *testing.T, url string) int64 {
	t.Helper()
	conn, err := tls.Dial("tcp", strings.TrimPrefix(url, "https://"), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func TestACertificateIsReplacedWithoutARestart(t *testing.T) {
	folder := t.TempDir()
	certFile, keyFile := writeCertificate(t, folder, 1)
	trusted := x509.NewCertPool()
	first, err := os.ReadFile(certFile)
	if err != nil || !trusted.AppendCertsFromPEM(first) {
		t.Fatal(err)
	}
	s := start(t, func(c *settings.Config) { c.TLSCert, c.TLSKey = certFile, keyFile })
	s.http.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: trusted}}

	hook := s.put("eventKey=webhook.demo")
	if !strings.HasPrefix(hook.WebhookURL, "https://127.0.0.1:") {
		t.Errorf("webhookUrl %s", hook.WebhookURL)
	}
	s.called(hook.UUID, asJSON, `{}`)
	sees := func(serial int64, what string) {
		t.Helper()
		if got := serialAt(t, s.url); got != serial {
			t.Errorf("%s: a new connection sees certificate %d, want %d", what, got, serial)
		}
	}
	sees(1, "at the start")

	writeCertificate(t, folder, 2)
	sees(2, "after the replacement")

	replaceFile(t, certFile, []byte("no certificate"))
	sees(2, "after a broken replacement")
	if n := strings.Count(s.logs.String(), "New certificate was not loaded"); n != 1 {
		t.Errorf("the broken replacement is told %d times", n)
	}
	if err := os.Remove(certFile); err != nil {
		t.Fatal(err)
	}
	sees(2, "without the file")

	other, _ := writeCertificate(t, t.TempDir(), 3)
	foreign, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	replaceFile(t, certFile, foreign)
	sees(2, "with a certificate that is not of the key")

	writeCertificate(t, folder, 4)
	sees(4, "after it was mended")
	s.called(hook.UUID, asJSON, `{"on":"the connection of before"}`)
}

func TestNoServiceWithoutItsCertificate(t *testing.T) {
	folder := t.TempDir()
	certFile, keyFile := writeCertificate(t, folder, 1)
	replaceFile(t, keyFile, []byte("no key"))
	code, _, stderr := runBinary(t, nil, "serve", "--listen", "127.0.0.1:0", "--data-dir", filepath.Join(folder, "data"),
		"--tls-cert", certFile, "--tls-key", keyFile)
	if code != 1 || !strings.Contains(stderr, "hooklog: tls-cert: ") {
		t.Errorf("%d %q", code, stderr)
	}
}
