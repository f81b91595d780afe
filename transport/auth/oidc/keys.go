package oidc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

var (
	errSignature  = errors.New("no key of the issuer made the signature")
	errUnknownKey = errors.New("the issuer has no such key")
)

// fetchKeys gets the keys that verify. A key of a kind that is not understood is
// no reason to do without the others.
func (i *Issuer) fetchKeys(ctx context.Context) ([]jose.JSONWebKey, error) {
	issuer, err := i.endpoints.current(ctx)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, issuer.keys, http.NoBody)
	if err != nil {
		return nil, err
	}
	answer, err := i.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&set); err != nil {
		return nil, fmt.Errorf("keys: %w", err)
	}
	var keys []jose.JSONWebKey
	for _, text := range set.Keys {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(text) == nil && key.IsPublic() && (key.Use == "" || key.Use == "sig") {
			keys = append(keys, key)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("keys: the issuer has none that verify signatures")
	}
	return keys, nil
}

// open verifies the signature and decodes the claims. A key that is not held may
// be a new one.
func (i *Issuer) open(ctx context.Context, token *jwt.JSONWebToken, claims ...any) error {
	keys, err := i.keys.current(ctx)
	if err != nil {
		return unavailable(err)
	}
	if err = openWith(keys, token, claims); !errors.Is(err, errUnknownKey) {
		return err
	}
	keys, asked := i.keys.renewed(ctx)
	if err = openWith(keys, token, claims); errors.Is(err, errUnknownKey) && asked != nil {
		return unavailable(asked)
	}
	return err
}

func openWith(keys []jose.JSONWebKey, token *jwt.JSONWebToken, claims []any) error {
	header := token.Headers[0]
	known := false
	for _, key := range keys {
		if header.KeyID != "" && header.KeyID != key.KeyID {
			continue
		}
		known = known || header.KeyID != ""
		if (key.Algorithm == "" || key.Algorithm == header.Algorithm) && token.Claims(key.Key, claims...) == nil {
			return nil
		}
	}
	if known {
		return wrong(errSignature)
	}
	return wrong(errUnknownKey)
}
