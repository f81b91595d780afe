package commands

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"fmt"

	"github.com/go-jose/go-jose/v4"

	"hooklog/domain/access"
)

// SigningKeyField is what sealed signing keys are bound to, beside their command.
const SigningKeyField = "realm.key"

// NewSigningKey makes a key that the command with that id is to bring: its
// private half is PKCS#8, sealed by the ring.
func NewSigningKey(ring Sealer, commandID string) (access.SigningKey, error) {
	key, err := makeSigningKey(ring, commandID)
	if err != nil {
		return access.SigningKey{}, fmt.Errorf("make signing key: %w", err)
	}
	return key, nil
}

func makeSigningKey(ring Sealer, commandID string) (access.SigningKey, error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return access.SigningKey{}, err
	}
	jwk := jose.JSONWebKey{Key: private.Public(), Algorithm: access.KeyAlgorithm, Use: "sig"}
	thumbprint, err := jwk.Thumbprint(crypto.SHA256)
	if err != nil {
		return access.SigningKey{}, err
	}
	jwk.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	public, err := jwk.MarshalJSON()
	if err != nil {
		return access.SigningKey{}, err
	}
	plain, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return access.SigningKey{}, err
	}
	sealed, err := ring.Seal(SigningKeyField, commandID, plain)
	return access.SigningKey{
		ID: jwk.KeyID, Algorithm: access.KeyAlgorithm, Public: public, Sealed: sealed, SealedFor: commandID,
	}, err
}

func (d *Dispatcher) rotateKey(ctx context.Context, req Request) (any, error) {
	c := change{id: commandID(req)}
	key, err := NewSigningKey(d.Ring, c.id)
	if err != nil {
		return nil, err
	}
	c.params = key
	outcome, err := d.decide(ctx, req, c)
	if err != nil {
		return nil, err
	}
	shown := outcome.Key
	return SigningKey{ID: shown.ID, Algorithm: shown.Algorithm, Public: shown.Public, Created: shown.Created}, nil
}
