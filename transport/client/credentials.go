package client

import (
	"context"
	"encoding/base64"

	"hooklog/domain/secret"
)

// Credentials say who asks.
type Credentials interface {
	// Authorization gives the value of the header of that name. refused is the
	// value that the service has just refused, or empty; who knows nothing better
	// gives it again.
	Authorization(ctx context.Context, refused string) (string, error)
}

// Basic are a name and a password.
type Basic struct {
	User     string
	Password secret.Password
}

// Authorization implements Credentials.
func (b Basic) Authorization(context.Context, string) (string, error) {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(b.User+":"+b.Password.Reveal())), nil
}

// Bearer is an access token that nobody renews.
type Bearer struct{ Token secret.Password }

// Authorization implements Credentials.
func (b Bearer) Authorization(context.Context, string) (string, error) {
	return "Bearer " + b.Token.Reveal(), nil
}
