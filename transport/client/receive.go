package client

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

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

// Wait gives the result of a call when there is one. The service paces it by
// holding each question.
func (c *Client) Wait(ctx context.Context, correlationID string) (json.RawMessage, error) {
	for {
		resp, err := c.poll(ctx, correlationID, "true")
		if err != nil {
			return nil, err
		}
		if resp.StatusCode != http.StatusFound {
			return c.whole(resp)
		}
		_ = resp.Body.Close()
	}
}

func (c *Client) poll(ctx context.Context, correlationID, redirect string) (*http.Response, error) {
	query := url.Values{paramCorrelationID: {correlationID}, paramRedirect: {redirect}}
	return c.accepted(ctx, request{method: http.MethodGet, path: resultPath + "?" + query.Encode(), header: http.Header{}})
}
