package realm

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/uuid"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/domain/session"
	"hooklog/transport/auth"
)

// maxToken is far above the length of any token of ours.
const maxToken = 8 << 10

// claims is the content of an access token. The roles are for others to read:
// here they are always those that the user has now.
type claims struct {
	jwt.Claims
	Party       string      `json:"azp"`
	Client      string      `json:"client_id"`
	Username    string      `json:"preferred_username"`
	RealmAccess realmAccess `json:"realm_access"`
	Scope       string      `json:"scope,omitempty"`
	// UserVersion is that of the user when the token was issued.
	UserVersion int `json:"ver"`
}

type realmAccess struct {
	Roles []string `json:"roles"`
}

// proven is what a verified token says, for a while.
type proven struct {
	user    string
	version int
	client  string
	until   time.Time
}

// issue makes the access token.
func (rl *Realm) issue(key *signingKey, g granted) (secret.Password, error) {
	now := rl.Now()
	text, err := jwt.Signed(key.signer).Claims(claims{
		Claims: jwt.Claims{
			Issuer:    rl.issuer,
			Subject:   g.user.Name,
			Audience:  jwt.Audience{rl.cfg.Audience},
			Expiry:    jwt.NewNumericDate(now.Add(rl.cfg.AccessLife)),
			NotBefore: jwt.NewNumericDate(now),
			IssuedAt:  jwt.NewNumericDate(now),
			ID:        uuid.NewString(),
		},
		Party:       g.client,
		Client:      g.client,
		Username:    g.user.Name,
		RealmAccess: realmAccess{g.user.Roles},
		Scope:       g.scope,
		UserVersion: g.user.Version,
	}).Serialize()
	return secret.NewPassword(text), err
}

// Bearer gives the user of an access token.
func (rl *Realm) Bearer(ctx context.Context, token secret.Password) (auth.Identity, error) {
	text := token.Reveal()
	if len(text) > maxToken {
		return auth.Identity{}, errNotValid()
	}
	id := sha256.Sum256([]byte(text))
	says, known := rl.verified.Get(id)
	if !known || !rl.Now().Before(says.until) {
		var err error
		if says, err = rl.verify(ctx, text); err != nil {
			return auth.Identity{}, err
		}
		rl.verified.Add(id, says)
	}
	user, err := rl.user(ctx, says.user, says.version)
	if err != nil {
		return auth.Identity{}, err
	}
	return auth.Identity{Principal: user.Name, Roles: user.Roles, Client: says.client}, nil
}

// Refresh gives the user of a refresh token, whose family goes on as it is.
func (rl *Realm) Refresh(ctx context.Context, token secret.Password) (auth.Identity, error) {
	family, err := rl.Families.Alive(ctx, token)
	if err != nil {
		return auth.Identity{}, err
	}
	if err := rl.clientLives(ctx, family); err != nil {
		return auth.Identity{}, err
	}
	user, err := rl.user(ctx, family.User, family.UserVersion)
	if err != nil {
		return auth.Identity{}, err
	}
	return auth.Identity{Principal: user.Name, Roles: user.Roles, Client: family.Client}, nil
}

// clientLives reports that the family's client is no more: also where one of its
// name was made later. Another instance may have heard of a new one before this
// one.
func (rl *Realm) clientLives(ctx context.Context, family session.Family) error {
	client, known, err := rl.Registry.Client(family.Client)
	if err == nil && !known {
		if err = rl.behind.catchUp(ctx); err == nil {
			client, known, err = rl.Registry.Client(family.Client)
		}
	}
	if err != nil || known && !family.Created.Add(skew).Before(client.Created) {
		return err
	}
	return fault.New(fault.Unauthenticated, "The client of the refresh token is no more.").Because(auth.ErrOutdated)
}

// errNotValid is the answer to every token that we did not issue. It has no
// cause, because causes quote the token.
func errNotValid() error { return fault.New(fault.Unauthenticated, "The access token is not valid.") }

// verify reads a token. Nothing in it is believed, and no address in it followed,
// before a key of ours has proved it.
func (rl *Realm) verify(ctx context.Context, text string) (proven, error) {
	id, ok := keyOf(text)
	if !ok {
		return proven{}, errNotValid()
	}
	token, err := jwt.ParseSigned(text, []jose.SignatureAlgorithm{jose.ES256})
	if err != nil {
		return proven{}, errNotValid()
	}
	key, err := rl.verifyingKey(ctx, id)
	if err != nil {
		return proven{}, err
	}
	var c claims
	if err := token.Claims(key, &c); err != nil {
		return proven{}, errNotValid()
	}
	return rl.judge(c)
}

// keyOf gives the key id of an access token whose header has exactly what ours
// have: so there is no place for a key, an address of one, or an extension.
func keyOf(text string) (id string, ok bool) {
	encoded, _, _ := strings.Cut(text, ".")
	decoded, err := base64.RawURLEncoding.DecodeString(encoded)
	if err != nil {
		return "", false
	}
	var header map[string]any
	if err := json.Unmarshal(decoded, &header); err != nil {
		return "", false
	}
	id, _ = header["kid"].(string)
	return id, len(header) == 3 && header["alg"] == string(jose.ES256) && header["typ"] == tokenType && id != ""
}

// judge checks what a token of ours says.
func (rl *Realm) judge(c claims) (proven, error) {
	now := rl.Now()
	err := c.ValidateWithLeeway(jwt.Expected{Issuer: rl.issuer, AnyAudience: jwt.Audience{rl.cfg.Audience}, Time: now}, skew)
	switch {
	case errors.Is(err, jwt.ErrExpired):
		return proven{}, fault.New(fault.Unauthenticated, "The access token has expired.").Because(auth.ErrOutdated)
	case err != nil || c.Expiry == nil || c.NotBefore == nil:
		return proven{}, errNotValid()
	}
	until := c.Expiry.Time()
	if soon := now.Add(remember); soon.Before(until) {
		until = soon
	}
	return proven{c.Subject, c.UserVersion, c.Party, until}, nil
}
