package httpapi

import (
	"net/http"
	"net/url"

	"hooklog/domain/fault"
)

// outerToken finds the token in the header or, without one there, in the query.
// A token in both must be the same. It is not parsed here: what is no token is
// answered like an unknown one.
func outerToken(h http.Header, query url.Values) (token string, found bool, err error) {
	counting := h["Token"]
	if len(counting) == 0 {
		counting = query["token"]
	}
	if len(counting) == 0 {
		return "", false, nil
	}
	for _, other := range query["token"] {
		if other != counting[0] {
			return "", true, fault.New(fault.Invalid, "The request carries different tokens.")
		}
	}
	return counting[0], true, once(counting)
}

// once refuses a second token in the place that counts.
func once(tokens []string) error {
	if len(tokens) > 1 {
		return fault.New(fault.Invalid, "The request carries more than one token.")
	}
	return nil
}

// errNoWebhook is the one answer to a missing, unknown, malformed, disabled or
// deleted token, so that none of them can be told from another.
func errNoWebhook() error {
	return fault.New(fault.NotFound, "No webhook takes this call.")
}
