package doctor

import (
	"context"
	"crypto/tls"
	"io"
	"net/http"
	"strings"
	"time"
)

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 10

// The clients connect to what the settings say: without redirects, and without
// proxies of the environment, as the service itself does. Nothing secret is sent.
var (
	careful  = newClient(&tls.Config{MinVersion: tls.VersionTLS12})
	trusting = newClient(&tls.Config{MinVersion: tls.VersionTLS12, InsecureSkipVerify: true}) //nolint:gosec // it asks who is there, on this machine
)

func newClient(secured *tls.Config) *http.Client {
	return &http.Client{
		Timeout:       patience,
		Transport:     &http.Transport{TLSClientConfig: secured, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// reply is what somebody answered.
type reply struct {
	status   int
	location string
	body     []byte
	// date is the other side's clock, in whole seconds; zero where it does not tell.
	date time.Time
}

// isHooklog reports that it is hooklog's answer at /healthz.
func (r reply) isHooklog() bool {
	return r.status == http.StatusOK && strings.TrimSpace(string(r.body)) == `{"status":"ok"}`
}

func ask(ctx context.Context, client *http.Client, url string) (reply, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return reply{}, err
	}
	answer, err := client.Do(request)
	if err != nil {
		return reply{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	r := reply{status: answer.StatusCode, location: answer.Header.Get("Location")}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		r.date = date
	}
	r.body, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	return r, err
}
