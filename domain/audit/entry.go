// Package audit is what the log tells of who did what: one entry for each record
// of svc.command and svc.access, with what it came to and what it changed. An
// entry holds no token, hash, password, source or key that is secret, so it can
// be shown as it is. Who may see it is told by its keys; the policy itself, and
// where entries are kept, is not known here.
package audit

import (
	"encoding/json"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/record"
)

// OK is the outcome of what was done; every other one is the name of a fault's kind.
const OK = "ok"

// Login is the command of an entry about log-ins, which no command is behind.
const Login = "login"

// Entry is one record of the log, as an auditor sees it. The form stands in
// answers and in the projections.
type Entry struct {
	Time      time.Time `json:"time"`
	Topic     string    `json:"topic"`
	Partition int32     `json:"partition"`
	Offset    int64     `json:"offset"`

	ID string `json:"id,omitempty"`
	// Command is empty where the record cannot be read.
	Command string `json:"command,omitempty"`
	Who
	Outcome string `json:"outcome"`
	Detail  string `json:"detail,omitempty"`
	// Repeat says that the id had been decided before, so that nothing was done.
	Repeat bool `json:"repeat,omitempty"`

	About
	// Params are what was asked for by a look or a log-in.
	Params map[string]any `json:"params,omitempty"`
	// Failures are the log-ins that an instance refused in about a minute.
	Failures *access.Failures `json:"failures,omitempty"`
	// Before and After are what a command made of what it was about.
	Before json.RawMessage `json:"before,omitempty"`
	After  json.RawMessage `json:"after,omitempty"`
}

// Who is on whose word something was done.
type Who struct {
	Principal     string   `json:"principal,omitempty"`
	PrincipalName string   `json:"principalName,omitempty"`
	Effective     string   `json:"effective,omitempty"`
	Roles         []string `json:"roles,omitempty"`
	Client        string   `json:"client,omitempty"`
	Address       string   `json:"address,omitempty"`
	// Owner, Via and Call are those of the pipeline that issued the command.
	Owner string `json:"owner,omitempty"`
	Via   string `json:"via,omitempty"`
	Call  string `json:"call,omitempty"`
}

// About is what something was done to.
type About struct {
	EventKey   string `json:"eventKey,omitempty"`
	Last6      string `json:"last6,omitempty"`
	Pipeline   string `json:"pipeline,omitempty"`
	User       string `json:"user,omitempty"`
	ClientID   string `json:"clientId,omitempty"`
	Rule       string `json:"rule,omitempty"`
	SigningKey string `json:"signingKey,omitempty"`
	// Keys are all event keys and pipeline names, in order: who may see the entry
	// needs the right to each of them, and without any the right to every key.
	Keys []string `json:"keys,omitempty"`
}

// Position is where the record lies.
func (e Entry) Position() record.Position {
	return record.Position{Topic: e.Topic, Partition: e.Partition, Offset: e.Offset}
}

func entryAt(at record.Position) Entry {
	return Entry{Topic: at.Topic, Partition: at.Partition, Offset: at.Offset, Outcome: OK}
}
