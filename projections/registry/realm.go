package registry

import (
	"encoding/json"
	"errors"

	"hooklog/domain/access"
	"hooklog/domain/proof"
)

// realm is what is asked so often that it stays in memory. It is replaced as a
// whole, after the commit.
type realm struct {
	policy access.Policy
	keys   access.SigningKeys
}

func (r *Registry) loadRealm() error {
	var loaded realm
	_, err := r.load(policyRow, &loaded.policy)
	if err != nil {
		return err
	}
	if _, err = r.load(signingRow, &loaded.keys); err != nil {
		return err
	}
	r.realm.Store(&loaded)
	return nil
}

// Policy is what is allowed. It must not be changed.
func (r *Registry) Policy() access.Policy { return r.realm.Load().policy }

// SigningKeys are the realm's keys, the one that signs first. They must not be
// changed.
func (r *Registry) SigningKeys() access.SigningKeys { return r.realm.Load().keys }

// CheckpointKey is the key that signs checkpoints; false means that there is none
// yet.
func (r *Registry) CheckpointKey() (proof.Key, bool, error) {
	var k proof.Key
	ok, err := r.load(provingRow, &k)
	return k, ok, err
}

// User finds a local user that lives.
func (r *Registry) User(user string) (access.User, bool, error) {
	var u access.User
	ok, err := r.load(userRow(user), &u)
	if err != nil || !ok || u.Deleted {
		return access.User{}, false, err
	}
	return u, true, nil
}

// Users lists the local users that live, in the order of their names.
func (r *Registry) Users() ([]access.User, error) {
	return list(r, userPrefix, func(u access.User) bool { return !u.Deleted })
}

// Client finds an OAuth client.
func (r *Registry) Client(id string) (access.Client, bool, error) {
	var c access.Client
	ok, err := r.load(clientRow(id), &c)
	return c, ok, err
}

// Clients lists the OAuth clients in the order of their ids.
func (r *Registry) Clients() ([]access.Client, error) {
	return list(r, clientPrefix, func(access.Client) bool { return true })
}

func list[T any](r *Registry, prefix []byte, wanted func(T) bool) ([]T, error) {
	found := []T{}
	var failed error
	err := r.store.Scan(prefix, nil, func(_, value []byte) bool {
		var row T
		if failed = json.Unmarshal(value, &row); failed == nil && wanted(row) {
			found = append(found, row)
		}
		return failed == nil
	})
	return found, errors.Join(err, failed)
}
