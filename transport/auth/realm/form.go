package realm

import (
	"io"
	"mime"
	"net/http"
	"net/netip"
	"net/url"

	"hooklog/domain/secret"
)

// The grants that exist.
const (
	passwordGrant = "password"
	refreshGrant  = "refresh_token"
)

// maxForm is how long a token request may be.
const maxForm = 64 << 10

// tokenRequest is a token request that says all it must.
type tokenRequest struct {
	grant  string
	from   netip.Addr
	client clientCredential
	// scope is empty when none was asked for.
	scope string

	username string
	password secret.Password
	refresh  secret.Password
}

// clientCredential is who a client says that it is; public clients have no secret.
type clientCredential struct {
	id     string
	secret secret.Password
}

func (rl *Realm) parse(w http.ResponseWriter, r *http.Request) (tokenRequest, error) {
	form, err := readForm(w, r)
	if err != nil {
		return tokenRequest{}, err
	}
	q := tokenRequest{
		grant:    form.Get("grant_type"),
		from:     rl.cfg.Proxies.Address(r),
		username: form.Get("username"),
		password: secret.NewPassword(form.Get("password")),
		refresh:  secret.NewPassword(form.Get("refresh_token")),
	}
	if q.client, err = parseClient(r, form); err != nil {
		return tokenRequest{}, err
	}
	if q.scope, err = parseScope(form.Get("scope")); err != nil {
		return tokenRequest{}, err
	}
	return q, q.check()
}

func (q tokenRequest) check() error {
	switch {
	case q.grant == "":
		return badRequest("grant_type is missing.")
	case q.grant == passwordGrant && (q.username == "" || q.password.IsZero()):
		return badRequest("The password grant needs username and password.")
	case q.grant == refreshGrant && q.refresh.IsZero():
		return badRequest("The refresh_token grant needs refresh_token.")
	case q.grant != passwordGrant && q.grant != refreshGrant:
		return &refusal{
			status: http.StatusBadRequest, code: unsupportedGrantType,
			description: "The grants are " + passwordGrant + " and " + refreshGrant + ".",
		}
	}
	return nil
}

// readForm takes parameters from the body alone: what stands in a query is
// written to logs on its way.
func readForm(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if r.URL.RawQuery != "" {
		return nil, badRequest("The parameters belong in the body.")
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, badRequest("The Content-Type must be application/x-www-form-urlencoded.")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxForm))
	if err != nil {
		return nil, badRequest("The body could not be read, or is too long.")
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, badRequest("The body is no valid form.")
	}
	for _, values := range form {
		if len(values) > 1 {
			return nil, badRequest("A parameter is repeated.")
		}
	}
	return form, nil
}

// parseClient reads the client from the header or from the form; it must not
// choose both.
func parseClient(r *http.Request, form url.Values) (clientCredential, error) {
	given := clientCredential{form.Get("client_id"), secret.NewPassword(form.Get("client_secret"))}
	if len(r.Header.Values("Authorization")) == 0 {
		if given.id == "" {
			return given, badRequest("client_id is missing.")
		}
		return given, nil
	}
	name, word, ok := r.BasicAuth()
	if !ok || len(r.Header.Values("Authorization")) > 1 {
		return given, wrongClient()
	}
	// RFC 6749 has both encoded as in a form before they are joined.
	id, err := url.QueryUnescape(name)
	if err != nil {
		return given, wrongClient()
	}
	text, err := url.QueryUnescape(word)
	if err != nil {
		return given, wrongClient()
	}
	if !given.secret.IsZero() || (given.id != "" && given.id != id) {
		return given, badRequest("The client must authenticate in one way only.")
	}
	return clientCredential{id, secret.NewPassword(text)}, nil
}
