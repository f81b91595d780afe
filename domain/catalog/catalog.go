// Package catalog lists every command once: its name, kind, parameters and help.
// HTTP, the documents and later clients read it, so that none of them has a
// list of its own.
package catalog

import (
	"slices"
	"strings"
)

// Kind says how a command is carried out.
type Kind uint8

const (
	// Change is appended to svc.command and decided by the fold.
	Change Kind = iota
	// RegistryRead goes the same way, because who read a token is on the record.
	RegistryRead
	// Look is answered from the projections; its record goes to svc.access.
	Look
	// Receive is the webhook call itself, with rules of its own.
	Receive
)

// Type is the type of a parameter.
type Type uint8

// The parameter types.
const (
	String Type = iota
	Integer
	Boolean
	// Token is a secret: it is parsed at the edge and cannot be printed.
	Token
	// Password is a secret of free form; it never stands in a query.
	Password
	// List is texts separated by commas; an empty text is an empty list.
	List
)

// Param is one parameter of a command.
type Param struct {
	Name     string
	Type     Type
	Required bool
	// Alias is another accepted name of the same parameter; never stored.
	Alias string
	// Enum lists the only values of a String; empty means any.
	Enum []string
	Help string
}

// Command is one command of the service.
type Command struct {
	Name   string
	Kind   Kind
	Params []Param
	Help   string
}

// ReadOnly reports whether the command changes nothing, so that GET may run it.
func (c Command) ReadOnly() bool { return c.Kind != Change }

// offLimits are the families of commands that decide who may do what.
var offLimits = []string{"user", "client", "policy", "key"}

// Step reports whether a pipeline that a call triggers may have the command as a
// step. What decides who may do what is none, and neither is putting a pipeline,
// whose owner would be whoever the other one runs as. Steps that exist inside
// pipelines only are the language's own, and no commands of this catalog.
func (c Command) Step() bool {
	family, _, _ := strings.Cut(c.Name, ".")
	return (c.Kind == Change || c.Kind == RegistryRead) &&
		c.Name != PipelinePut && !slices.Contains(offLimits, family)
}

// The names of the commands.
const (
	WebhookPut     = "webhook.put"
	WebhookGet     = "webhook.get"
	WebhookList    = "webhook.list"
	WebhookDelete  = "webhook.delete"
	WebhookReceive = "webhook.receive"

	UserPut      = "user.put"
	UserGet      = "user.get"
	UserDelete   = "user.delete"
	ClientPut    = "client.put"
	ClientGet    = "client.get"
	ClientDelete = "client.delete"
	PolicyPut    = "policy.put"
	PolicyGet    = "policy.get"
	PolicyDelete = "policy.delete"
	KeyRotate    = "key.rotate"

	PipelinePut    = "pipeline.put"
	PipelineGet    = "pipeline.get"
	PipelineDelete = "pipeline.delete"
	PipelineRun    = "pipeline.run"
	RunGet         = "run.get"
	RunRetry       = "run.retry"

	TraceGet  = "trace.get"
	EventGet  = "event.get"
	EventTail = "event.tail"

	CheckpointPut = "checkpoint.put"
	CheckpointGet = "checkpoint.get"

	AuditGet    = "audit.get"
	AuditExport = "audit.export"
)

var commands = slices.Concat(webhookCommands, identityCommands, pipelineCommands, traceCommands, checkpointCommands, auditCommands)

// All lists the commands in the order of the catalog.
func All() []Command { return slices.Clone(commands) }

// Lookup finds a command by its name.
func Lookup(name string) (Command, bool) {
	for _, c := range commands {
		if c.Name == name {
			return c, true
		}
	}
	return Command{}, false
}
