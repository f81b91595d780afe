package realm

import (
	"context"
	"crypto/subtle"
	"net/http"
	"time"

	"github.com/google/uuid"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/transport/auth"
)

// granted is what a token request came to.
type granted struct {
	user    access.User
	client  string
	scope   string
	refresh secret.Password
	// refreshEnds is when the refresh token's family expires.
	refreshEnds time.Time
}

func (rl *Realm) serveToken(w http.ResponseWriter, r *http.Request) error {
	q, err := rl.parse(w, r)
	if err != nil {
		return err
	}
	// Asked first: a refresh token is not used up where nothing can be given.
	key, err := rl.signingKey()
	if err != nil {
		return err
	}
	ctx := r.Context()
	g, err := rl.admitted(ctx, q)
	if err != nil {
		return err
	}
	if q.grant == passwordGrant {
		if g.refresh, g.refreshEnds, err = rl.Families.Open(ctx, g.user, g.client, g.scope); err != nil {
			return err
		}
	}
	token, err := rl.issue(key, g)
	if err != nil {
		return err
	}
	rl.record(q, g)
	return writeJSON(w, http.StatusOK, struct {
		AccessToken    string `json:"access_token"`
		TokenType      string `json:"token_type"`
		ExpiresIn      int64  `json:"expires_in"`
		RefreshToken   string `json:"refresh_token"`
		RefreshExpires int64  `json:"refresh_expires_in"`
		Scope          string `json:"scope"`
	}{
		token.Reveal(), "Bearer", seconds(rl.cfg.AccessLife),
		g.refresh.Reveal(), seconds(g.refreshEnds.Sub(rl.Now())), g.scope,
	})
}

func seconds(d time.Duration) int64 { return int64(d / time.Second) }

// admitted checks the request's credentials, as far as the guard lets it.
func (rl *Realm) admitted(ctx context.Context, q tokenRequest) (g granted, err error) {
	settle, err := rl.Guard.Admit(ctx, q.from, q.username)
	if err != nil {
		return granted{}, err
	}
	defer func() { settle(err) }()
	if err := rl.checkClient(q.client); err != nil {
		return granted{}, err
	}
	if q.grant == passwordGrant {
		return rl.byPassword(ctx, q)
	}
	return rl.byRefresh(ctx, q)
}

func (rl *Realm) checkClient(given clientCredential) error {
	client, known, err := rl.Registry.Client(given.id)
	if err != nil {
		return err
	}
	right := client.Public && given.secret.IsZero()
	if !client.Public {
		right = !given.secret.IsZero() &&
			subtle.ConstantTimeCompare([]byte(access.SecretHash(given.secret)), []byte(client.SecretHash)) == 1
	}
	if !known || !right {
		return wrongClient()
	}
	return nil
}

func (rl *Realm) byPassword(ctx context.Context, q tokenRequest) (granted, error) {
	// Read before the password is checked: if the user changes in between, the
	// tokens are those of the version before, which nobody takes.
	user, known, err := rl.Registry.User(q.username)
	if err != nil {
		return granted{}, err
	}
	if _, err := rl.Passwords.Basic(ctx, q.username, q.password); err != nil {
		return granted{}, err
	}
	if !known {
		return granted{}, errChanged()
	}
	if q.scope == "" {
		q.scope = defaultScope
	}
	return granted{user: user, client: q.client.id, scope: q.scope}, nil
}

func (rl *Realm) byRefresh(ctx context.Context, q tokenRequest) (granted, error) {
	if q.scope != "" {
		// A token is not used up by a request that asks for too much. That it is not
		// alive is for the rotation to judge.
		family, err := rl.Families.Alive(ctx, q.refresh)
		switch {
		case err == nil && !within(q.scope, family.Scope):
			return granted{}, badScope("The scope is wider than that of the log-in.")
		case err != nil && !fault.Is(err, fault.Unauthenticated):
			return granted{}, err
		}
	}
	successor, family, err := rl.Families.Rotate(ctx, q.refresh, q.client.id)
	if err == nil {
		err = rl.clientLives(ctx, family)
	}
	if err != nil {
		return granted{}, err
	}
	user, err := rl.user(ctx, family.User, family.UserVersion)
	if err != nil {
		return granted{}, err
	}
	if q.scope == "" {
		q.scope = family.Scope
	}
	return granted{user, q.client.id, q.scope, successor, family.Expires}, nil
}

// user gives the user that something was issued to, if it is still as it was
// then. Another instance may have heard of a change before this one.
func (rl *Realm) user(ctx context.Context, name string, version int) (access.User, error) {
	user, known, err := rl.Registry.User(name)
	if err == nil && (!known || user.Version < version) {
		if err = rl.behind.catchUp(ctx); err == nil {
			user, known, err = rl.Registry.User(name)
		}
	}
	if err != nil {
		return access.User{}, err
	}
	if !known || user.Version != version {
		return access.User{}, errChanged()
	}
	return user, nil
}

func errChanged() error {
	return fault.New(fault.Unauthenticated, "The user has changed since the log-in.").Because(auth.ErrOutdated)
}

// record puts the log-in on the record. The answer does not wait for it.
func (rl *Realm) record(q tokenRequest, g granted) {
	rec, err := access.Login{
		ID:        uuid.NewString(),
		Principal: g.user.Name,
		Client:    g.client,
		Grant:     q.grant,
		Scope:     g.scope,
		Address:   q.from.String(),
		Time:      rl.Now().UTC().Truncate(time.Millisecond),
	}.Encode(rl.AccessPartitions())
	if err != nil {
		rl.Log.Error("Log-in was not recorded", "principal", g.user.Name, "error", err)
		return
	}
	rl.Journal.Append(&rec, func(_ record.Position, err error) {
		if err != nil {
			rl.Log.Warn("Log-in was not recorded", "principal", g.user.Name, "client", g.client, "error", err)
		}
	})
}
