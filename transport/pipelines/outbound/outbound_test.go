package outbound_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"hooklog/domain/fault"
	"hooklog/transport/pipelines/outbound"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func client(t *testing.T, cfg outbound.Config) *outbound.Client {
	t.Helper()
	if cfg.Timeout == 0 {
		cfg.Timeout = 30 * time.Second
	}
	c, err := outbound.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// serve starts a server on loopback, and gives its address and a client for it.
func serve(t *testing.T, handler http.HandlerFunc) (*outbound.Client, string) {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return client(t, outbound.Config{Hosts: []string{strings.TrimPrefix(server.URL, "http://")}, Loopback: true}), server.URL
}

func TestARequestAndItsAnswer(t *testing.T) {
	c, url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Add("X-Two", "a")
		w.Header().Add("X-Two", "b")
		w.WriteHeader(http.StatusTeapot)
		_, _ = fmt.Fprintf(w, "%s %s %s %s %s %s", r.Method, r.URL, r.Header.Get("X-One"), r.Header.Get("User-Agent"), r.Header.Get("Accept-Encoding"), body)
	})
	answer, err := c.Do(t.Context(), outbound.Request{Method: "POST", URL: url + "/a?b=c", Header: map[string]string{"x-one": "1"}, Body: []byte("payload")})
	if err != nil {
		t.Fatal(err)
	}
	if answer.Status != http.StatusTeapot || answer.Header["x-two"] != "a, b" || string(answer.Body) != "POST /a?b=c 1 hooklog  payload" {
		t.Errorf("%d %v %s", answer.Status, answer.Header, answer.Body)
	}
}

func TestAddressesThatAreRefused(t *testing.T) {
	c := client(t, outbound.Config{Hosts: []string{"api.example.com", "*.below.example", "port.example:8443"}})
	const (
		list = "the operator does not allow http.request to call this host and port"
		tls  = "url must begin with https://"
		abs  = "url must be absolute, for example https://api.example.com/orders"
	)
	for url, want := range map[string]string{
		"https://other.example/":            list,
		"https://api.example.com.evil.test": list,
		"https://evilapi.example.com":       list,
		"https://api.example.com:8443/":     list,
		"https://api.example.com:22/":       list,
		"https://api.example.com./":         list,
		"https://below.example/":            list,
		"https://xbelow.example/":           list,
		"https://port.example/":             list,
		"https://127.0.0.1/":                list,
		"https://[::1]/":                    list,
		"https://2130706433/":               list,
		"http://api.example.com/":           tls,
		"ftp://api.example.com/":            tls,
		"file:///etc/passwd":                abs,
		"//api.example.com/":                tls,
		"https:api.example.com":             abs,
		"https://":                          abs,
		"":                                  abs,
		"api.example.com":                   abs,
		"https://a\nb/":                     abs,
		"https://u:p@api.example.com/":      "url must not hold a user; send a header",
		"https://api.example.com/" + strings.Repeat("a", 9000): "url has 9024 bytes; at most 8192 are allowed",
	} {
		_, err := c.Do(t.Context(), outbound.Request{Method: "GET", URL: url})
		if got := fault.From(err).Detail; got != want {
			t.Errorf("%.60q: %q, want %q", url, got, want)
		}
	}
}

func TestNothingIsSentUnlessHostsAreAllowed(t *testing.T) {
	_, err := client(t, outbound.Config{Loopback: true}).Do(t.Context(), outbound.Request{Method: "GET", URL: "http://127.0.0.1:1/"})
	if !fault.Is(err, fault.Forbidden) || !strings.Contains(err.Error(), "switched off") {
		t.Error(err)
	}
}

func TestHostsThatCannotBeRead(t *testing.T) {
	for _, entry := range []string{"", "*", "*.", "*.com", "a*.example.com", "https://a.example", "a.example/x", "a_b.example", "a.example:0", "a.example:99999", "-a.example", "*.127.0.0.1:x", "ü.example", "a..example"} {
		if _, err := outbound.New(outbound.Config{Hosts: []string{entry}}); err == nil {
			t.Errorf("%q is taken", entry)
		}
	}
	if _, err := outbound.New(outbound.Config{Hosts: []string{"A.example", "*.b.example:1", "93.184.216.34", "[2606:4700::1]:443"}}); err != nil {
		t.Error(err)
	}
}

// The name is allowed, the address behind it is not.
func TestANameThatLeadsInsideIsRefusedWhenItIsDialled(t *testing.T) {
	var called atomic.Int32
	server := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { called.Add(1) }))
	defer server.Close()
	port := server.URL[strings.LastIndex(server.URL, ":"):]
	for _, host := range []string{"localhost" + port, "127.0.0.1" + port} {
		_, err := client(t, outbound.Config{Hosts: []string{host}}).Do(t.Context(), outbound.Request{Method: "GET", URL: "https://" + host + "/?key=hunter2"})
		if !fault.Is(err, fault.Forbidden) || err.Error() != "the host has no public address" {
			t.Errorf("%s: %v", host, err)
		}
	}
	// With loopback allowed it is reached, and its certificate is not believed.
	host := "127.0.0.1" + port
	_, err := client(t, outbound.Config{Hosts: []string{host}, Loopback: true}).Do(t.Context(), outbound.Request{Method: "GET", URL: "https://" + host + "/?key=hunter2"})
	if !fault.Is(err, fault.Unavailable) || !strings.Contains(err.Error(), "certificate") || strings.Contains(err.Error(), "hunter2") {
		t.Errorf("an unknown certificate: %v", err)
	}
	if called.Load() != 0 {
		t.Error("the server was called")
	}
}

func TestARedirectIsAnAnswer(t *testing.T) {
	var followed atomic.Bool
	c, url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/next" {
			followed.Store(true)
		}
		http.Redirect(w, r, "/next", http.StatusFound)
	})
	answer, err := c.Do(t.Context(), outbound.Request{Method: "GET", URL: url})
	if answer.Status != http.StatusFound || answer.Header["location"] != "/next" || followed.Load() || err != nil {
		t.Errorf("%d %v, followed %v, %v", answer.Status, answer.Header, followed.Load(), err)
	}
}

func TestTheSizeOfAnAnswer(t *testing.T) {
	size := outbound.MaxAnswer
	c, url := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, size)) })
	if answer, err := c.Do(t.Context(), outbound.Request{Method: "GET", URL: url}); len(answer.Body) != size || err != nil {
		t.Errorf("%d bytes, %v", len(answer.Body), err)
	}
	size++
	if _, err := c.Do(t.Context(), outbound.Request{Method: "GET", URL: url}); !fault.Is(err, fault.TooLarge) {
		t.Error(err)
	}
}

func TestAHostThatDoesNotAnswer(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer server.Close()
	defer close(release)
	host := strings.TrimPrefix(server.URL, "http://")
	c := client(t, outbound.Config{Hosts: []string{host}, Loopback: true, Timeout: 50 * time.Millisecond})
	if _, err := c.Do(t.Context(), outbound.Request{Method: "GET", URL: server.URL}); !fault.Is(err, fault.Unavailable) || err.Error() != "the host did not answer in time" {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Do(ctx, outbound.Request{Method: "GET", URL: server.URL}); !fault.Is(err, fault.Unavailable) {
		t.Error(err)
	}
}

// The proxy of the environment would be asked for the host, and would call it
// from wherever it stands.
func TestNoProxyIsUsed(t *testing.T) {
	var asked atomic.Int32
	proxy := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer proxy.Close()
	t.Setenv("HTTPS_PROXY", proxy.URL)
	t.Setenv("NO_PROXY", "")
	plain := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}}
	if resp, err := plain.Get("https://nobody.invalid/"); err == nil {
		_ = resp.Body.Close()
	}
	plain.CloseIdleConnections()
	if asked.Load() != 1 {
		t.Fatalf("the proxy of the test was asked %d times", asked.Load())
	}
	c := client(t, outbound.Config{Hosts: []string{"nobody.invalid"}, Timeout: 5 * time.Second})
	_, err := c.Do(t.Context(), outbound.Request{Method: "GET", URL: "https://nobody.invalid/"})
	if !fault.Is(err, fault.Unavailable) || asked.Load() != 1 {
		t.Errorf("asked %d times, %v", asked.Load(), err)
	}
}

func TestHeadersAndMethods(t *testing.T) {
	c, url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, r.Header.Get("Content-Type"), r.Host)
	})
	many := map[string]string{}
	for i := range 65 {
		many[fmt.Sprintf("x-%d", i)] = "a"
	}
	tests := []struct {
		name   string
		method string
		header map[string]string
		want   string
	}{
		{"a method that is none", "BREW", nil, "method must be one of GET, HEAD, POST, PUT, PATCH, DELETE"},
		{"CONNECT", "CONNECT", nil, "method must be one of GET, HEAD, POST, PUT, PATCH, DELETE"},
		{"a small method", "get", nil, "method must be one of GET, HEAD, POST, PUT, PATCH, DELETE"},
		{"another host", "GET", map[string]string{"hOsT": "a"}, "the header Host cannot be set"},
		{"a length", "GET", map[string]string{"content-length": "1"}, "the header Content-Length cannot be set"},
		{"an encoding of the connection", "GET", map[string]string{"Transfer-Encoding": "chunked"}, "the header Transfer-Encoding cannot be set"},
		{"a connection", "GET", map[string]string{"connection": "x-secret"}, "the header Connection cannot be set"},
		{"an upgrade", "GET", map[string]string{"Upgrade": "h2c"}, "the header Upgrade cannot be set"},
		{"a proxy", "GET", map[string]string{"proxy-authorization": "x"}, "the header Proxy-Authorization cannot be set"},
		{"a second header in a value", "GET", map[string]string{"A": "b\r\nHost: c"}, "the header A must be plain text on one line"},
		{"a NUL", "GET", map[string]string{"A": "\x00"}, "the header A must be plain text on one line"},
		{"letters beyond ASCII", "GET", map[string]string{"A": "ü"}, "the header A must be plain text on one line"},
		{"a second header in a name", "GET", map[string]string{"A: b\r\nHost": "c"}, "the name of a header must be letters, digits and hyphens"},
		{"no name", "GET", map[string]string{"": "c"}, "the name of a header must be letters, digits and hyphens"},
		{"too many", "GET", many, "there are 65 headers; at most 64 are allowed"},
		{"too long", "GET", map[string]string{"a": strings.Repeat("b", 17<<10)}, "the headers have more than 16384 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := c.Do(t.Context(), outbound.Request{Method: tt.method, URL: url, Header: tt.header})
			if got := fault.From(err); got.Kind != fault.Invalid || got.Detail != tt.want {
				t.Errorf("%v %q", got.Kind, got.Detail)
			}
		})
	}
}

func TestRequestsAreObserved(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) }))
	t.Cleanup(server.Close)
	var seen []string
	c := client(t, outbound.Config{
		Hosts: []string{strings.TrimPrefix(server.URL, "http://")}, Loopback: true,
		Observe: func(status int, took time.Duration, err error) {
			seen = append(seen, fmt.Sprint(status, took > 0, fault.Is(err, fault.Forbidden)))
		},
	})
	for _, url := range []string{server.URL, "https://elsewhere.example"} {
		_, _ = c.Do(t.Context(), outbound.Request{Method: "GET", URL: url})
	}
	if len(seen) != 2 || seen[0] != "418 true false" || seen[1] != "0 true true" {
		t.Errorf("observed %q", seen)
	}
}

func TestARequestCarriesItsTrace(t *testing.T) {
	const ours, own = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "00-5bd66ef5095369c7b0d1f8f4bd33716a-c532cb4098ac3dd2-00"
	c, url := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, strings.Join(r.Header.Values("traceparent"), " "))
	})
	for name, tt := range map[string]struct {
		request outbound.Request
		want    string
	}{
		"where the run has one":            {outbound.Request{Traceparent: ours}, ours},
		"but the pipeline's own counts":    {outbound.Request{Traceparent: ours, Header: map[string]string{"TraceParent": own}}, own},
		"and none where there is no trace": {outbound.Request{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tt.request.Method, tt.request.URL = "GET", url
			answer, err := c.Do(t.Context(), tt.request)
			if err != nil || string(answer.Body) != tt.want {
				t.Errorf("sent %q, %v", answer.Body, err)
			}
		})
	}
}
