package registry

import (
	"hooklog/domain/access"
	"hooklog/domain/fault"
)

// InitParams are the parameters of ClusterInit.
type InitParams struct {
	Check string      `json:"check"`
	Admin access.User `json:"admin"`
}

// ResetParams are the parameters of AdminReset.
type ResetParams struct {
	PasswordHash string `json:"passwordHash"`
}

// AcceptParams are the parameters of LogAccept.
type AcceptParams struct {
	// Reason is what the log had lost.
	Reason string `json:"reason"`
}

// decideInternal answers the commands that only the machine's operator can
// write. Concurrent first starts agree, because the first record on the log wins.
func decideInternal(v View, c Command) (Event, error) {
	if c.Principal != access.System {
		return nil, fault.New(fault.Forbidden, "%s may not run %s.", c.Principal, c.Name)
	}
	switch c.Name {
	case ClusterInit:
		return decideInit(v, c)
	case AdminReset:
		return decideReset(v, c)
	case KeyInit:
		return decideKeyInit(v, c)
	case CheckpointInit:
		return decideCheckpointInit(v, c)
	default: // LogAccept changes nothing: that it was said is what counts
		return nil, params(c, new(AcceptParams))
	}
}

func decideInit(v View, c Command) (Event, error) {
	var p InitParams
	if err := params(c, &p); err != nil {
		return nil, err
	}
	if _, started := v.Cluster(); started {
		return nil, fault.New(fault.Conflict, "The log is already in use.")
	}
	if err := p.Admin.Check(); err != nil {
		return nil, err
	}
	if p.Admin.Name != access.Administrator {
		return nil, fault.New(fault.Invalid, "The administrator is called %s.", access.Administrator)
	}
	admin, err := access.UserPut{Name: p.Admin.Name, PasswordHash: p.Admin.PasswordHash, Roles: p.Admin.Roles}.Decide(access.User{}, c.author())
	if err != nil {
		return nil, err
	}
	return ClusterStarted{
		Cluster:   Cluster{Check: p.Check, CheckedBy: c.ID, Created: c.Time},
		Admin:     admin,
		Anonymous: access.AnonymousUser(c.author()),
		Client:    access.OwnClient(c.author()),
		Policy:    access.FirstPolicy(c.author()),
	}, nil
}

func decideReset(v View, c Command) (Event, error) {
	var p ResetParams
	if err := params(c, &p); err != nil {
		return nil, err
	}
	admin, ok := v.User(access.Administrator)
	if !ok {
		return nil, fault.New(fault.NotFound, "There is no administrator yet; start the service once.")
	}
	if p.PasswordHash == "" {
		return nil, fault.New(fault.Invalid, "The reset brings no password.")
	}
	admin, err := access.UserPut{Name: admin.Name, PasswordHash: p.PasswordHash}.Decide(admin, c.author())
	return UserChanged{User: admin}, err
}

func decideKeyInit(v View, c Command) (Event, error) {
	var key access.SigningKey
	if err := params(c, &key); err != nil {
		return nil, err
	}
	if len(v.SigningKeys()) > 0 {
		return nil, fault.New(fault.Conflict, "There is a signing key already.")
	}
	keys, err := v.SigningKeys().Rotate(key, c.Time)
	return KeysChanged{Keys: keys}, err
}
