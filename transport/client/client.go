// Package client speaks to a running hooklog over HTTP: it runs commands, calls
// webhooks and waits for results. It reads no settings, asks nobody and prints
// nothing; that is for the command line, its user. No error of it carries a
// password, a token or a correlation id.
package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

const (
	commandPath = "/api/v3/command/"
	contentForm = "application/x-www-form-urlencoded"

	// connectTimeout bounds how long a host that does not answer is waited for.
	connectTimeout = 10 * time.Second
	// maxAnswer bounds what is kept of one answer in memory.
	maxAnswer = 64 << 20
)

// Config is where the service is and who asks.
type Config struct {
	// BaseURL is where the service is, such as https://hooks.example.org.
	BaseURL string
	// CAFile holds the certificates (PEM) that are trusted instead of the
	// system's; empty means the system's.
	CAFile string
	// Credentials may be nil: calls of webhooks and results need none.
	Credentials Credentials
}

// Client is one caller of one service. It is safe for concurrent use.
type Client struct {
	base        string
	credentials Credentials
	http        *http.Client
}

// New checks the configuration; it does not connect.
func New(cfg Config) (*Client, error) {
	base, err := CheckURL(cfg.BaseURL)
	if err != nil {
		return nil, err
	}
	caller, err := NewHTTP(cfg.CAFile)
	if err != nil {
		return nil, err
	}
	return &Client{base: base, credentials: cfg.Credentials, http: caller}, nil
}

// CheckURL gives a base URL without the slash at its end. It does not repeat
// what is wrong, because it may hold a password.
func CheckURL(text string) (string, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return "", errors.New("write the URL of the service as http://host:port or https://host")
	case u.User != nil:
		return "", errors.New("the URL of the service must not carry a user or a password")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return "", errors.New("the URL of the service has no query and no fragment")
	}
	return strings.TrimRight(u.String(), "/"), nil
}

// NewHTTP is the HTTP client of this package. It follows no redirect: one could
// lead the credentials elsewhere.
func NewHTTP(caFile string) (*http.Client, error) {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DialContext = (&net.Dialer{Timeout: connectTimeout}).DialContext
	if caFile != "" {
		pem, err := os.ReadFile(caFile)
		if err != nil {
			return nil, fmt.Errorf("certificates: %w", err)
		}
		roots := x509.NewCertPool()
		if !roots.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("certificates: %s holds none in PEM form", caFile)
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
	}
	return &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}, nil
}

// BaseURL is where the service is.
func (c *Client) BaseURL() string { return c.base }

// Call is a command with its parameters.
type Call struct {
	Name   string
	Params url.Values
	// IdempotencyKey, where there is one, makes a repeat get the first outcome.
	IdempotencyKey string
}

// Command runs a command and gives its answer.
func (c *Client) Command(ctx context.Context, call Call) (json.RawMessage, error) {
	answer, err := c.Open(ctx, call)
	if err != nil {
		return nil, err
	}
	return answer.Value()
}

// Open runs a command whose answer may be a stream. The answer must be read.
func (c *Client) Open(ctx context.Context, call Call) (*Answer, error) {
	header := http.Header{"Content-Type": {contentForm}}
	if call.IdempotencyKey != "" {
		header.Set("Idempotency-Key", call.IdempotencyKey)
	}
	resp, err := c.authorized(ctx, request{ //nolint:bodyclose // the reader of the answer closes it
		method: http.MethodPost, path: commandPath + call.Name,
		header: header, body: []byte(call.Params.Encode()),
	})
	return &Answer{c, resp}, err
}

// request is one that can be sent again.
type request struct {
	method, path string
	header       http.Header
	body         []byte
}

// authorized sends with credentials. What was refused for them is sent once
// more when the credentials know something better: nothing was done by then.
func (c *Client) authorized(ctx context.Context, r request) (*http.Response, error) {
	if c.credentials == nil {
		return c.accepted(ctx, r)
	}
	header, err := c.credentials.Authorization(ctx, "")
	if err != nil {
		return nil, err
	}
	r.header.Set("Authorization", header)
	resp, err := c.accepted(ctx, r)
	if !isUnauthenticated(err) {
		return resp, err
	}
	better, renewal := c.credentials.Authorization(ctx, header)
	switch {
	case renewal != nil:
		return nil, renewal
	case better == header:
		return nil, err
	}
	r.header.Set("Authorization", better)
	return c.accepted(ctx, r)
}

// accepted gives an answer of 2xx or 3xx, whose body must be closed.
func (c *Client) accepted(ctx context.Context, r request) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.base+r.path, bytes.NewReader(r.body))
	if err != nil {
		return nil, err
	}
	req.Header = r.header
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, unreachable(c.base, err)
	}
	if resp.StatusCode >= http.StatusBadRequest {
		defer func() { _ = resp.Body.Close() }()
		return nil, readRefusal(resp)
	}
	return resp, nil
}

// whole reads the one JSON value of an answer.
func (c *Client) whole(resp *http.Response) (json.RawMessage, error) {
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, unreachable(c.base, err)
	case len(body) > maxAnswer:
		return nil, fmt.Errorf("the answer of %s is longer than %d bytes", c.base, maxAnswer)
	case resp.StatusCode != http.StatusOK || !json.Valid(body):
		return nil, c.foreign()
	}
	return body, nil
}

// foreign is for answers that hooklog does not give.
func (c *Client) foreign() error {
	return fmt.Errorf("%s does not answer as hooklog does; is it the right URL?", c.base)
}
