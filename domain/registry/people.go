package registry

import (
	"hooklog/domain/access"
	"hooklog/domain/fault"
)

func decideUserPut(v View, c Command) (Event, Outcome, error) {
	var put access.UserPut
	if err := params(c, &put); err != nil {
		return nil, Outcome{}, err
	}
	if err := put.Check(); err != nil {
		return nil, Outcome{}, err
	}
	current, _ := v.User(put.Name)
	user, err := put.Decide(current, c.author())
	if err != nil {
		return nil, Outcome{}, err
	}
	return UserChanged{User: user}, shownUser(user), nil
}

// decideUserGet answers with one user, or without a name with none: whoever
// asked for all reads them once the command is allowed. So do the other gets.
func decideUserGet(v View, c Command) (Event, Outcome, error) {
	if len(c.Params) == 0 {
		return nil, Outcome{}, nil
	}
	user, err := livingUser(v, c)
	if err != nil {
		return nil, Outcome{}, err
	}
	return nil, shownUser(user), nil
}

func decideUserDelete(v View, c Command) (Event, Outcome, error) {
	user, err := livingUser(v, c)
	if err != nil {
		return nil, Outcome{}, err
	}
	gone, err := user.Delete(c.author())
	if err != nil {
		return nil, Outcome{}, err
	}
	return UserChanged{User: gone}, shownUser(user), nil
}

func livingUser(v View, c Command) (access.User, error) {
	name, err := nameOf(c)
	if err != nil {
		return access.User{}, err
	}
	user, ok := v.User(name)
	if !ok || user.Deleted {
		return access.User{}, fault.New(fault.NotFound, "There is no user %q.", name)
	}
	return user, nil
}

func shownUser(u access.User) Outcome { return Outcome{User: new(u.Shown())} }

func decideClientPut(v View, c Command) (Event, Outcome, error) {
	var put access.ClientPut
	if err := params(c, &put); err != nil {
		return nil, Outcome{}, err
	}
	if err := put.Check(); err != nil {
		return nil, Outcome{}, err
	}
	current, _ := v.Client(put.ID)
	client, err := put.Decide(current, c.author())
	if err != nil {
		return nil, Outcome{}, err
	}
	return ClientChanged{Client: client}, Outcome{Client: &client}, nil
}

func decideClientGet(v View, c Command) (Event, Outcome, error) {
	if len(c.Params) == 0 {
		return nil, Outcome{}, nil
	}
	client, err := livingClient(v, c)
	if err != nil {
		return nil, Outcome{}, err
	}
	return nil, Outcome{Client: &client}, nil
}

func decideClientDelete(v View, c Command) (Event, Outcome, error) {
	client, err := livingClient(v, c)
	if err != nil {
		return nil, Outcome{}, err
	}
	if err := client.CheckDelete(); err != nil {
		return nil, Outcome{}, err
	}
	return ClientDeleted{ID: client.ID}, Outcome{Client: &client}, nil
}

func livingClient(v View, c Command) (access.Client, error) {
	name, err := nameOf(c)
	if err != nil {
		return access.Client{}, err
	}
	client, ok := v.Client(name)
	if !ok {
		return access.Client{}, fault.New(fault.NotFound, "There is no client %q.", name)
	}
	return client, nil
}
