package oidc

import "context"

// Probe asks the issuer for what it publishes, and gives the number of keys that
// tokens can be verified with. It is for whoever looks for a fault: the errors say
// what the issuer answered.
func (i *Issuer) Probe(ctx context.Context) (keys int, err error) {
	found, err := i.keys.current(ctx)
	return len(found), err
}
