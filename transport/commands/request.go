// Package commands carries out the commands of the catalog: it appends a change
// to the log, waits until its own instance has folded it, and answers with the
// outcome. It does not decide anything and knows no HTTP.
package commands

import (
	"cmp"

	"hooklog/domain/access"
	"hooklog/domain/catalog"
	"hooklog/transport/telemetry"
)

// Caller is who runs a command, as authentication found out.
type Caller struct {
	Principal string
	// Name is what an outside issuer calls the principal.
	Name string
	// Effective is the user whose rights count; empty is the principal.
	Effective string
	// Roles are those of the effective user.
	Roles []string
	// Client is the OAuth client that the caller came through, if any.
	Client string
	// Address is the caller's network address, without port.
	Address string
	// Owner, Via and Call are those of the pipeline that issues the command, as on
	// its record.
	Owner, Via, Call string
}

func (c Caller) subject() access.Subject {
	return access.Subject{Principal: cmp.Or(c.Effective, c.Principal), Roles: c.Roles}
}

// Request is one command to run.
type Request struct {
	Caller  Caller
	Command catalog.Command
	Args    catalog.Args
	// IdempotencyKey, when given, makes a repeat get the first outcome.
	IdempotencyKey string
	// CommandID, when given, is the id of the command itself: that of a pipeline's
	// step, which gets the first outcome when the run is repeated.
	CommandID string
	// Span is what the records of the command are sent below.
	Span telemetry.Span
}
