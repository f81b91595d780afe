package doctor_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"hooklog/cmd/doctor"
	"hooklog/cmd/settings"
)

const day = 24 * time.Hour

func TestTheCertificate(t *testing.T) {
	for name, tc := range map[string]struct {
		ends   time.Duration
		base   string
		status doctor.Status
		text   string
	}{
		"good":             {60*day + time.Hour, "https://127.0.0.1:8443", doctor.OK, "60 more days"},
		"soon to end":      {3*day + time.Hour, "https://127.0.0.1:8443", doctor.Warning, "expires in 3 days"},
		"ended":            {-time.Hour, "https://127.0.0.1:8443", doctor.Failed, "has expired"},
		"for another name": {60 * day, "https://hooks.example.org", doctor.Warning, "does not cover hooks.example.org"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := healthy(t)
			cfg.TLSCert, cfg.TLSKey = writeCertificate(t, time.Now().Add(tc.ends))
			cfg.BaseURL = tc.base
			examine(t, cfg).want("certificate", tc.status, tc.text)
		})
	}
	t.Run("with the key of another", func(t *testing.T) {
		cfg := healthy(t)
		cfg.TLSCert, _ = writeCertificate(t, time.Now().Add(day))
		_, cfg.TLSKey = writeCertificate(t, time.Now().Add(day))
		examine(t, cfg).want("certificate", doctor.Failed, "its own key")
	})
}

func TestWhoListens(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	cfg := healthy(t)
	cfg.Listen, cfg.OpsListen = taken.Addr().String(), "127.0.0.1:0"
	go func() { _ = http.Serve(taken, http.NotFoundHandler()) }()
	examine(t, cfg).want("listen", doctor.Failed, "another process listens")
	cfg.Listen, cfg.OpsListen = "127.0.0.1:0", taken.Addr().String()
	examine(t, cfg).want("ops-listen", doctor.Failed, "another process listens")
	cfg.OpsListen, cfg.EmbeddedListen = "", taken.Addr().String()
	examine(t, cfg).want("embedded-listen", doctor.Failed, "another process listens")
	cfg.EmbeddedListen = ""
	_ = taken.Close()

	cfg.Listen = taken.Addr().String()
	f := examine(t, cfg)
	f.want("listen", doctor.OK, "is free")
	f.want("ops-listen", doctor.OK, "is off")

	cfg.Listen, cfg.OpsListen = "192.0.2.1:80", "0.0.0.0:0"
	f = examine(t, cfg)
	f.want("listen", doctor.Failed, "an address of this machine")
	f.want("ops-listen", doctor.Warning, "firewall")
}

func TestARunningService(t *testing.T) {
	cfg := healthy(t)
	cfg.OpsListen = "127.0.0.1:0"
	running, _ := serve(t, cfg)
	cfg.Listen = strings.TrimPrefix(running.BaseURL(), "http://")
	cfg.OpsListen = running.OpsAddr().String()
	f := examine(t, cfg)
	f.wantNone(doctor.Failed)
	f.want("data folder", doctor.OK, "a service runs on it")
	f.want("listen", doctor.OK, "is ready")
	f.want("ops-listen", doctor.OK, "is ready")
	f.want("base URL", doctor.OK, "leads to a hooklog")
	f.want("embedded log", doctor.OK, "not read")
	f.want("key ring", doctor.OK, "is the one of this log")

	t.Run("with other settings than its own", func(t *testing.T) {
		cfg := cfg
		cfg.Listen, cfg.BaseURL = freeAddress(t), "http://"+freeAddress(t)
		f := examine(t, cfg)
		f.want("listen", doctor.Warning, "settings that the service was started with")
		f.want("base URL", doctor.Warning, "cannot be reached from here")
	})
	for name, tc := range map[string]struct {
		proxy  http.HandlerFunc
		status doctor.Status
		text   string
	}{
		"behind a proxy that finds nothing":  {http.NotFound, doctor.Failed, "answers 404"},
		"behind a proxy that sends on":       {http.RedirectHandler("https://elsewhere.example.org", http.StatusMovedPermanently).ServeHTTP, doctor.Failed, "elsewhere.example.org"},
		"behind a proxy that leads nowhere":  {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, doctor.Failed, "answers 502"},
		"behind a proxy that passes it on":   {func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `{"status":"ok"}`) }, doctor.OK, "leads to a hooklog"},
		"behind a proxy with its own answer": {func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprint(w, `welcome`) }, doctor.Failed, "not as hooklog does"},
	} {
		t.Run(name, func(t *testing.T) {
			proxy := httptest.NewServer(tc.proxy)
			defer proxy.Close()
			cfg := cfg
			cfg.BaseURL = proxy.URL
			examine(t, cfg).want("base URL", tc.status, tc.text)
		})
	}
	t.Run("behind TLS that nobody trusts", func(t *testing.T) {
		proxy := httptest.NewTLSServer(http.NotFoundHandler())
		defer proxy.Close()
		cfg := cfg
		cfg.BaseURL = proxy.URL
		examine(t, cfg).want("base URL", doctor.Warning, "does not trust")
	})
}

func TestABaseURLThatIsNoGood(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*settings.Config)
		text   string
	}{
		"in the clear":       {func(c *settings.Config) { c.BaseURL = "http://hooks.example.org" }, "in the clear"},
		"of all interfaces":  {func(c *settings.Config) { c.Listen = "0.0.0.0:18080" }, "set base-url"},
		"without any host":   {func(c *settings.Config) { c.Listen = ":18080" }, "set base-url"},
		"on another machine": {func(c *settings.Config) { c.Listen = "192.0.2.1:80" }, "in the clear"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := healthy(t)
			tc.change(&cfg)
			examine(t, cfg).want("base URL", doctor.Warning, tc.text)
		})
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}
