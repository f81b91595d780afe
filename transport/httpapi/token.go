package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"hooklog/domain/fault"
)

// outerToken finds the token in the header or, without one there, in the query.
// A token in both must be the same. It is not parsed here: what is no token is
// answered like an unknown one. In the query it counts only as it stands there,
// because proxies repeat the query in headers of their own, where a token that
// is written with escapes would not be overwritten.
func outerToken(r *http.Request, query url.Values) (token string, found bool, err error) {
	counting := r.Header["Token"]
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
		if !strings.Contains(r.URL.RawQuery, other) {
			return "", true, nil
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
