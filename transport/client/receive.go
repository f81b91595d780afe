package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"hooklog/domain/secret"
)

const (
	receivePath = commandPath + "webhook.receive"
	resultPath  = "/api/v3/result"

	paramCorrelationID = "svc-result-correlationid"
	paramRedirect      = "pollingRedirectEnabled"
)

// Payload is the body of a call; without content it has none.
type Payload struct {
	ContentType string
	Content     []byte
}

// Receive calls a webhook and gives the result JSON, which may say that it is
// still processed. The token stands in the header, where no log sees it.
func (c *Client) Receive(ctx context.Context, token secret.Token, payload Payload) (json.RawMessage, error) {
	r := request{
		method: http.MethodPost, path: receivePath,
		header: http.Header{"Token": {token.Reveal()}}, body: payload.Content,
	}
	if len(payload.Content) > 0 {
		r.header.Set("Content-Type", payload.ContentType)
	}
	resp, err := c.accepted(ctx, r) //nolint:bodyclose // whole closes it
	if err != nil {
		return nil, err
	}
	return c.whole(resp)
}

// Result asks once for the result of a call.
func (c *Client) Result(ctx context.Context, correlationID string) (json.RawMessage, error) {
	resp, err := c.poll(ctx, correlationID, "false") //nolint:bodyclose // whole closes it
	if err != nil {
		return nil, err
	}
	return c.whole(resp)
}

// pace is how often a service is asked that does not hold the question: it stops,
// or too many wait for the same call.
const pace = 500 * time.Millisecond

// Wait gives the result of a call when there is one. The service paces it by
// holding each question.
func (c *Client) Wait(ctx context.Context, correlationID string) (json.RawMessage, error) {
	for {
		next := time.After(pace)
		resp, err := c.poll(ctx, correlationID, "true")
		if err != nil {
			return nil, err
		}
		if !comesBack(resp) {
			return c.whole(resp)
		}
		_ = resp.Body.Close()
		select {
		case <-ctx.Done():
			return nil, unreachable(c.base, ctx.Err())
		case <-next:
		}
	}
}

// comesBack reports that the service asks to be asked again. A proxy's redirect
// leads elsewhere.
func comesBack(resp *http.Response) bool {
	location, err := resp.Location()
	return resp.StatusCode == http.StatusFound && err == nil && strings.HasSuffix(location.Path, resultPath)
}

func (c *Client) poll(ctx context.Context, correlationID, redirect string) (*http.Response, error) {
	query := url.Values{paramCorrelationID: {correlationID}, paramRedirect: {redirect}}
	return c.accepted(ctx, request{method: http.MethodGet, path: resultPath + "?" + query.Encode(), header: http.Header{}})
}
