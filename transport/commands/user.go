package commands

import (
	"context"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
	"hooklog/domain/secret"
)

// putUser hashes the password before anything is appended: only the hash is on
// the log.
func (d *Dispatcher) putUser(ctx context.Context, req Request) (any, error) {
	put := access.UserPut{Name: *catalog.Arg[string](req.Args, "username")}
	if roles := catalog.Arg[[]string](req.Args, "roles"); roles != nil {
		put.Roles = *roles
	}
	if err := put.Check(); err != nil {
		return nil, err
	}
	// The clear text is a part of the request that repeats are told by; what is
	// recorded of it is a keyed digest.
	asked := struct {
		access.UserPut
		Password string `json:"password"`
	}{UserPut: put}
	if password := catalog.Arg[secret.Password](req.Args, "password"); password != nil {
		if err := access.CheckPassword(*password); err != nil {
			return nil, err
		}
		var err error
		if put.PasswordHash, err = d.Hash(*password); err != nil {
			return nil, err
		}
		asked.Password = password.Reveal()
	}
	outcome, err := d.decide(ctx, req, change{id: commandID(req), request: asked, params: put})
	if err != nil {
		return nil, err
	}
	return showUser(*outcome.User), nil
}

func (d *Dispatcher) getOrDeleteUser(ctx context.Context, req Request) (any, error) {
	outcome, err := d.decideNamed(ctx, req, "username")
	if err != nil {
		return nil, err
	}
	if outcome.User != nil {
		return showUser(*outcome.User), nil
	}
	return listAll(d, req, d.Registry.Users, showUser)
}

// listAll answers a get that names nothing. It asks for the right once more: a
// repeat gets the first outcome, and whoever sends it may have lost the right since.
func listAll[Row, Shown any](d *Dispatcher, req Request, read func() ([]Row, error), show func(Row) Shown) (any, error) {
	if err := d.Registry.Policy().Allow(req.Caller.subject(), req.Command.Name, ""); err != nil {
		return nil, err
	}
	rows, err := read()
	if err != nil {
		return nil, err
	}
	return pageOf(rows, show), nil
}

func showUser(u access.User) User {
	return User{Username: u.Name, Roles: u.Roles, Version: u.Version, Trail: u.Trail}
}
