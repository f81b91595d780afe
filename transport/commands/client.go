package commands

import (
	"context"
	"crypto/rand"
	"encoding/base64"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
	"hooklog/domain/secret"
)

// secretLength is the length of a client's secret in bytes.
const secretLength = 32

// putClient makes a secret with every put, because only the fold knows whether
// the client needs one. It is shown when the client has got this very one: a
// repeat has made another, and shows none.
func (d *Dispatcher) putClient(ctx context.Context, req Request) (any, error) {
	put := access.ClientPut{ID: *catalog.Arg[string](req.Args, "id"), Public: catalog.Arg[bool](req.Args, "public")}
	if newSecret := catalog.Arg[bool](req.Args, "newSecret"); newSecret != nil {
		put.NewSecret = *newSecret
	}
	if err := put.Check(); err != nil {
		return nil, err
	}
	c := change{id: commandID(req), request: put}
	made, err := newSecret()
	if err != nil {
		return nil, err
	}
	put.SecretHash = access.SecretHash(made)
	c.params = put
	outcome, err := d.decide(ctx, req, c)
	if err != nil {
		return nil, err
	}
	shown := showClient(*outcome.Client)
	if outcome.Client.SecretHash == put.SecretHash {
		shown.Secret = made.Reveal()
	}
	return shown, nil
}

func newSecret() (secret.Password, error) {
	random := make([]byte, secretLength)
	if _, err := rand.Read(random); err != nil {
		return secret.Password{}, err
	}
	return secret.NewPassword(base64.RawURLEncoding.EncodeToString(random)), nil
}

func (d *Dispatcher) getOrDeleteClient(ctx context.Context, req Request) (any, error) {
	outcome, err := d.decideNamed(ctx, req, "id")
	if err != nil {
		return nil, err
	}
	if outcome.Client != nil {
		return showClient(*outcome.Client), nil
	}
	return listAll(d, req, d.Registry.Clients, showClient)
}

func showClient(c access.Client) Client {
	return Client{ID: c.ID, Public: c.Public, Version: c.Version, Trail: c.Trail}
}
