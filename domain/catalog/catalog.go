// Package catalog lists every command once: its name, kind, parameters and help.
// HTTP, the documents and later clients read it, so that none of them has a
// list of its own.
package catalog

import (
	"slices"

	"hooklog/domain/webhook"
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

// The names of the commands.
const (
	WebhookPut     = "webhook.put"
	WebhookGet     = "webhook.get"
	WebhookList    = "webhook.list"
	WebhookDelete  = "webhook.delete"
	WebhookReceive = "webhook.receive"
)

var commands = []Command{
	{
		Name: WebhookPut, Kind: Change,
		Help: "Creates a webhook, or with uuid edits the one that has that token.",
		Params: []Param{
			{Name: "uuid", Type: Token, Help: "Token of the webhook to edit; absent to create one."},
			{Name: "eventKey", Type: String, Help: "Unique name and key that pipelines listen to, such as webhook.orders. Required to create."},
			{Name: "payloadType", Type: String, Alias: "payloadHandling", Enum: webhook.PayloadTypes, Help: "How the payload travels: raw, base64 (default) or ignore."},
			{Name: "maxPayloadLength", Type: Integer, Help: "Largest accepted payload in bytes, 1 to 4194304; default 512000."},
			{Name: "enabled", Type: Boolean, Help: "false answers callers as if the token were unknown; default true."},
			{Name: "version", Type: Integer, Help: "Expected version of the webhook to edit; another one is answered 409."},
		},
	},
	{
		Name: WebhookGet, Kind: RegistryRead,
		Help:   "Returns all webhooks with their tokens, or with uuid that one.",
		Params: []Param{{Name: "uuid", Type: Token, Help: "Token of the webhook to return."}},
	},
	{
		Name: WebhookList, Kind: Look,
		Help: "Lists the webhooks without their tokens.",
		Params: []Param{
			{Name: "limit", Type: Integer, Help: "Rows of one answer, 1 to 1000; default 100."},
			{Name: "cursor", Type: String, Help: "The next of the answer before."},
		},
	},
	{
		Name: WebhookDelete, Kind: Change,
		Help:   "Deletes the webhook with that token.",
		Params: []Param{{Name: "uuid", Type: Token, Required: true, Help: "Token of the webhook to delete."}},
	},
	{
		Name: WebhookReceive, Kind: Receive,
		Help: "Takes a webhook call: puts it on the log and answers with the result JSON.",
		Params: []Param{
			{Name: "token", Type: Token, Required: true, Help: "Token of the webhook: header (recommended), query, or body of a POST."},
			{Name: "pollingRedirectEnabled", Type: Boolean, Help: "true answers with a redirect to the result endpoint; default false."},
		},
	},
}

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
