package oidc

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

const (
	// patience bounds a whole exchange with the issuer.
	patience = 5 * time.Second
	// maxAnswer bounds what the issuer may say.
	maxAnswer = 1 << 20
)

// newClient makes the client for the issuer alone: what it is told by settings and
// discovery is where it goes, without redirects and proxies of the environment.
func newClient() *http.Client {
	return &http.Client{
		Timeout: patience,
		Transport: &careful{http.Transport{
			TLSClientConfig:     &tls.Config{MinVersion: tls.VersionTLS12},
			ForceAttemptHTTP2:   true,
			MaxIdleConnsPerHost: 4,
			IdleConnTimeout:     30 * time.Second,
		}},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// careful bounds answers. A document that is not there is an error here, before
// somebody puts the whole page that came in its place into an error text.
type careful struct{ http.Transport }

func (c *careful) RoundTrip(r *http.Request) (*http.Response, error) {
	answer, err := c.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if r.Method == http.MethodGet && answer.StatusCode != http.StatusOK {
		_ = answer.Body.Close()
		return nil, fmt.Errorf("the issuer answered %d", answer.StatusCode)
	}
	answer.Body = http.MaxBytesReader(nil, answer.Body, maxAnswer)
	return answer, nil
}

// sound checks a URL that secrets are sent to, or keys come from.
func sound(text string) error {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "":
		return errors.New("it must be a plain URL")
	case u.Scheme == "https", u.Scheme == "http" && loopback(u.Hostname()):
		return nil
	}
	return errors.New("it must begin with https://, but on this machine")
}

func loopback(host string) bool {
	address := net.ParseIP(host)
	return host == "localhost" || address != nil && address.IsLoopback()
}
