package realm

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	jose "github.com/go-jose/go-jose/v4"

	"hooklog/domain/access"
)

// The paths below the prefix.
const (
	tokenPath     = "/protocol/openid-connect/token"
	keysPath      = "/protocol/openid-connect/certs"
	discoveryPath = "/.well-known/openid-configuration"
)

// endpoint answers one method, or returns what went wrong and has written
// nothing.
type endpoint struct {
	method string
	serve  func(http.ResponseWriter, *http.Request) error
}

// ServeHTTP answers whatever is below Prefix.
func (rl *Realm) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("Pragma", "no-cache") // RFC 6749 wants both
	h.Set("X-Content-Type-Options", "nosniff")
	path, ours := strings.CutPrefix(r.URL.Path, rl.Prefix())
	e, known := rl.endpoints[path]
	switch {
	case !ours || !known:
		rl.fail(w, r, &refusal{status: http.StatusNotFound, code: invalidRequest, description: "There is nothing at this path."})
		return
	case r.Method != e.method:
		h.Set("Allow", e.method)
		rl.fail(w, r, &refusal{status: http.StatusMethodNotAllowed, code: invalidRequest, description: "Allowed here: " + e.method + "."})
		return
	}
	if err := e.serve(w, r); err != nil {
		rl.fail(w, r, err)
	}
}

// serveDiscovery tells clients what there is. There is no authorization endpoint,
// so no response types.
func (rl *Realm) serveDiscovery(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, struct {
		Issuer        string   `json:"issuer"`
		TokenEndpoint string   `json:"token_endpoint"`
		KeysURL       string   `json:"jwks_uri"`
		Grants        []string `json:"grant_types_supported"`
		ResponseTypes []string `json:"response_types_supported"`
		SubjectTypes  []string `json:"subject_types_supported"`
		Algorithms    []string `json:"id_token_signing_alg_values_supported"`
		ClientMethods []string `json:"token_endpoint_auth_methods_supported"`
		Scopes        []string `json:"scopes_supported"`
	}{
		Issuer:        rl.issuer,
		TokenEndpoint: rl.issuer + tokenPath,
		KeysURL:       rl.issuer + keysPath,
		Grants:        []string{passwordGrant, refreshGrant},
		ResponseTypes: []string{},
		SubjectTypes:  []string{"public"},
		Algorithms:    []string{access.KeyAlgorithm},
		ClientMethods: []string{"none", "client_secret_basic", "client_secret_post"},
		Scopes:        knownScopes,
	})
}

// serveKeys publishes the keys that tokens may be signed with now.
func (rl *Realm) serveKeys(w http.ResponseWriter, _ *http.Request) error {
	set := jose.JSONWebKeySet{Keys: []jose.JSONWebKey{}}
	for _, key := range rl.livingKeys() {
		public, err := publicKey(key)
		if err != nil {
			return err
		}
		set.Keys = append(set.Keys, public)
	}
	return writeJSON(w, http.StatusOK, set)
}

func writeJSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, _ = w.Write(body) // the caller may be gone
	return nil
}
