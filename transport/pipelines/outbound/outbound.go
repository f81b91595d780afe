// Package outbound sends the HTTP requests of pipelines, whose authors are not
// trusted with the network that the service stands in. Only hosts that the
// operator lists are called, only over TLS, and only at public addresses: the
// address is checked when the connection is made, after the name is resolved, so
// that a name cannot lead elsewhere. No proxy, no redirect, no cookie.
package outbound

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"hooklog/domain/fault"
)

const (
	// MaxAnswer is the largest body of an answer, in bytes.
	MaxAnswer = 1 << 20

	maxURL          = 8 << 10
	maxAnswerHeader = 64 << 10

	headerTraceparent = "Traceparent" // as net/http writes it
)

// Methods are the methods that may be sent.
var Methods = []string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}

// Config says what may be called.
type Config struct {
	// Hosts are the only ones; none means that nothing is ever sent.
	Hosts []string
	// Timeout bounds a request with its answer.
	Timeout time.Duration
	// Loopback also allows listed addresses of this machine, without TLS. It is for
	// tests: whoever may put a pipeline could call whatever listens here.
	Loopback bool
	// Observe is told of each request, with the status of its answer; nil is nobody.
	Observe func(status int, took time.Duration, err error)
}

// Client sends requests.
type Client struct {
	hosts    []host
	timeout  time.Duration
	loopback bool
	observe  func(status int, took time.Duration, err error)
	http     *http.Client
}

// New makes a client; an error names a host that cannot be read.
func New(cfg Config) (*Client, error) {
	c := &Client{timeout: cfg.Timeout, loopback: cfg.Loopback, observe: cfg.Observe}
	if c.observe == nil {
		c.observe = func(int, time.Duration, error) {}
	}
	for _, entry := range cfg.Hosts {
		h, err := parseHost(entry)
		if err != nil {
			return nil, err
		}
		c.hosts = append(c.hosts, h)
	}
	dialer := net.Dialer{Timeout: cfg.Timeout, ControlContext: c.control}
	c.http = &http.Client{
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12},
			TLSHandshakeTimeout:    cfg.Timeout,
			MaxResponseHeaderBytes: maxAnswerHeader,
			MaxIdleConnsPerHost:    2,
			IdleConnTimeout:        30 * time.Second,
			// An answer that unpacks to more than it was is not asked for.
			DisableCompression: true,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return c, nil
}

// Close ends the connections that are kept.
func (c *Client) Close() { c.http.CloseIdleConnections() }

var errAddress = errors.New("the address is not public")

// control sees every address that is about to be called.
func (c *Client) control(_ context.Context, network, address string, _ syscall.RawConn) error {
	to, err := netip.ParseAddrPort(address)
	if err != nil || !strings.HasPrefix(network, "tcp") {
		return errAddress
	}
	if public(to.Addr()) || (c.loopback && to.Addr().IsLoopback()) {
		return nil
	}
	return errAddress
}

// Request is what a pipeline sends.
type Request struct {
	Method string
	URL    string
	Header map[string]string
	Body   []byte
	// Traceparent goes with the request, unless it has one of its own.
	Traceparent string
}

// Answer is what came back.
type Answer struct {
	Status int
	// Header has lower-case keys; what comes more than once is joined by commas.
	Header map[string]string
	Body   []byte
}

// Do sends a request. The error is a fault whose detail shows neither the address
// nor anything of the request.
func (c *Client) Do(ctx context.Context, r Request) (Answer, error) {
	began := time.Now()
	answer, err := c.do(ctx, r)
	c.observe(answer.Status, time.Since(began), err)
	return answer, err
}

func (c *Client) do(ctx context.Context, r Request) (Answer, error) {
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	req, err := c.request(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return Answer{}, failed(err)
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	if err != nil {
		return Answer{}, failed(err)
	}
	if len(body) > MaxAnswer {
		return Answer{}, fault.New(fault.TooLarge, "the answer has more than %d bytes", MaxAnswer)
	}
	header := make(map[string]string, len(resp.Header))
	for name, values := range resp.Header {
		header[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	return Answer{resp.StatusCode, header, body}, nil
}

func (c *Client) request(ctx context.Context, r Request) (*http.Request, error) {
	if len(c.hosts) == 0 {
		return nil, fault.New(fault.Forbidden, "http.request is switched off: the operator allows no hosts")
	}
	if !slices.Contains(Methods, r.Method) {
		return nil, fault.New(fault.Invalid, "method must be one of %s", strings.Join(Methods, ", "))
	}
	u, err := c.check(r.URL)
	if err != nil {
		return nil, err
	}
	header, err := checkHeader(r.Header)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, r.Method, u.String(), bytes.NewReader(r.Body))
	if err != nil {
		return nil, fault.New(fault.Invalid, "the request cannot be made")
	}
	if _, given := header[headerTraceparent]; !given && r.Traceparent != "" {
		header[headerTraceparent] = []string{r.Traceparent}
	}
	req.Header = header
	return req, nil
}

// failed hides the address, which net/http puts into its errors with the query.
func failed(err error) error {
	var urlErr *url.Error
	if errors.As(err, &urlErr) {
		err = urlErr.Err
	}
	switch {
	case errors.Is(err, errAddress):
		return fault.New(fault.Forbidden, "the host has no public address")
	case errors.Is(err, context.DeadlineExceeded):
		return fault.New(fault.Unavailable, "the host did not answer in time")
	}
	return fault.New(fault.Unavailable, "the host cannot be reached").Because(fmt.Errorf("http.request: %w", err))
}
