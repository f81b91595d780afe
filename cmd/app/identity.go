package app

import (
	"context"
	"net/http"

	"hooklog/cmd/settings"
	"hooklog/domain/access"
	"hooklog/domain/secret"
	"hooklog/projections/fold"
	"hooklog/projections/registry"
	"hooklog/projections/sessions"
	"hooklog/transport/auth"
	"hooklog/transport/auth/families"
	"hooklog/transport/auth/oidc"
	"hooklog/transport/auth/realm"
)

// identity is how callers of commands are known.
type identity struct {
	authenticator *auth.Authenticator
	// realm serves the own realm at its prefix; nil with an external issuer.
	realm  http.Handler
	prefix string
	// hash is for the passwords of local users.
	hash func(secret.Password) (string, error)
}

// openIdentity makes the own realm, or reaches out for the external issuer that
// takes its place.
func (a *App) openIdentity(instance string, proxies auth.Proxies) (identity, error) {
	e := a.engine
	guard := auth.NewGuard(auth.GuardDeps{
		Instance: instance, Log: e.deps.Log, Now: e.deps.Now, Journal: e.log, Partitions: e.accessPartitions,
		Observe: e.deps.metrics.Login,
	})
	e.onClose(func() error { guard.Close(); return nil })
	local, err := auth.NewLocal(e.registry, e.deps.Now)
	if err != nil {
		return identity{}, err
	}
	id := identity{hash: local.Hash}
	var schemes auth.Schemes
	if e.cfg.External() {
		schemes, err = e.outside(local)
	} else {
		var own *realm.Realm
		if own, err = a.openRealm(local, guard, proxies); err == nil {
			schemes = auth.Schemes{Basic: local, Bearer: own, Refresh: own}
			id.realm, id.prefix = own, own.Prefix()
		}
	}
	if err != nil {
		return identity{}, err
	}
	id.authenticator, err = auth.New(schemes, guard, proxies, e.deps.Now)
	return id, err
}

func (a *App) openRealm(local *auth.Local, guard *auth.Guard, proxies auth.Proxies) (*realm.Realm, error) {
	e := a.engine
	return realm.New(realm.Config{
		BaseURL:    a.baseURL,
		Namespace:  e.cfg.Namespace,
		Audience:   e.cfg.Audience,
		AccessLife: e.cfg.AccessTokenLife,
		Proxies:    proxies,
	}, realm.Deps{
		Log:      e.deps.Log,
		Now:      e.deps.Now,
		Registry: registryView{e.registry, e.commands},
		Families: families.New(families.Config{Life: e.cfg.RefreshTokenLife, Timeout: commandTimeout}, families.Deps{
			Log: e.deps.Log, Now: e.deps.Now, Journal: e.log, Sessions: sessionsView{e.sessions, e.wishes},
		}),
		Passwords:        local,
		Guard:            guard,
		Ring:             e.ring,
		Journal:          e.log,
		AccessPartitions: e.accessPartitions,
	})
}

// outside are the schemes of an external issuer.
func (e *engine) outside(local *auth.Local) (auth.Schemes, error) {
	issuer, err := OpenIssuer(e.cfg, e.deps)
	if err != nil {
		return auth.Schemes{}, err
	}
	e.onClose(func() error { issuer.Close(); return nil })
	schemes := auth.Schemes{Bearer: issuer}
	if e.cfg.ClientID != "" {
		schemes.Refresh = issuer
	}
	var passwords outsidePasswords
	if e.cfg.LocalAdmin {
		passwords.administrator = local
	}
	if e.cfg.PasswordGrant {
		passwords.others = issuer
	}
	if passwords != (outsidePasswords{}) {
		schemes.Basic = passwords
	}
	return schemes, nil
}

// OpenIssuer makes the external issuer of the settings. It asks nothing yet.
func OpenIssuer(cfg settings.Config, deps Deps) (*oidc.Issuer, error) {
	return oidc.New(oidc.Config{
		Issuer:            cfg.IssuerURL(),
		Namespace:         cfg.Namespace,
		Audience:          cfg.Audience,
		AuthorizedParties: cfg.AuthorizedParties,
		RolesClaim:        cfg.RolesClaim,
		ClientID:          cfg.ClientID,
		ClientSecret:      cfg.ClientSecret,
		PasswordGrant:     cfg.PasswordGrant,
	}, oidc.Deps{Log: deps.Log, Now: deps.Now})
}

// outsidePasswords are those of the local administrator, for when the issuer is
// down, and those that the issuer knows. Either may be missing.
type outsidePasswords struct{ administrator, others auth.Basic }

// Basic implements auth.Basic. The administrator's name is never asked for
// outside: nobody there is him.
func (p outsidePasswords) Basic(ctx context.Context, name string, password secret.Password) (auth.Identity, error) {
	basic := p.others
	if name == access.Administrator {
		basic = p.administrator
	}
	if basic == nil {
		return auth.Identity{}, auth.ErrWrongPassword()
	}
	return basic.Basic(ctx, name, password)
}

// registryView joins the users and keys with the barrier of their fold.
type registryView struct {
	*registry.Registry
	runner *fold.Runner
}

func (v registryView) Current(ctx context.Context) error { return v.runner.Current(ctx) }

// sessionsView joins the refresh tokens with the barrier of their fold.
type sessionsView struct {
	*sessions.Sessions
	runner *fold.Runner
}

func (v sessionsView) Current(ctx context.Context) error { return v.runner.Current(ctx) }
