// Package pipeline holds the rules of a stored pipeline: its name, the keys that
// it listens to, what a put or a delete does to it, and who listens to an event.
// It reads no pipeline: the source lies sealed in it, with the keys and users
// that the fold needs beside it in the clear. What the source may say is told by
// transport/pipelines, and who may put it by domain/access.
package pipeline

import (
	"regexp"
	"strconv"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

// MaxNameLength is the number of characters of the longest name.
const MaxNameLength = 100

// BodyField is the field name that sealed sources are bound to.
const BodyField = "pipeline.body"

var namePattern = regexp.MustCompile(`^[a-z0-9]+([.-][a-z0-9]+)*$`)

// Pipeline is the folded state of one stored pipeline. It is a value: a put gives
// a new one.
type Pipeline struct {
	Name string
	// Version counts the puts under this name, from 1. A deletion does not set it
	// back: calls that were accepted name the version they run.
	Version int
	// Deleted says that nothing is left of it but its name and its version.
	Deleted bool
	Source
	Created   time.Time
	CreatedBy string
	Updated   time.Time
	UpdatedBy string
	// OwnerRoles are those that an owner of an outside issuer had at the put: later
	// ones are not known here. A local owner's are looked up when it runs.
	OwnerRoles []string
}

// Source is what a pipeline does, sealed, and what the fold must know of it.
type Source struct {
	// Body is bound to BodyField and to SealedFor, the id of the command that
	// brought it.
	Body      secret.Sealed
	SealedFor string
	// EventKeys and MessageKeys are the patterns that the pipeline listens to.
	EventKeys   []string
	MessageKeys []string
	// RunAs are the users that it may turn into.
	RunAs []string
}

// Owner is whose rights a triggered pipeline borrows: who put its latest version.
func (p Pipeline) Owner() string { return p.UpdatedBy }

// Listener is how an accepted call names this version of the pipeline.
func (p Pipeline) Listener() string { return p.Name + "@" + strconv.Itoa(p.Version) }

// CheckName reports what is wrong with the name of a pipeline.
func CheckName(name string) error {
	if len(name) > MaxNameLength {
		return fault.New(fault.Invalid, "name has %d characters; at most %d are allowed.", len(name), MaxNameLength)
	}
	if !namePattern.MatchString(name) {
		return fault.New(fault.Invalid, "name must consist of lower-case letters and digits, in groups separated by single dots or hyphens, for example orders.to-stock.")
	}
	return nil
}

// ErrUnknown is the answer to a name that no living pipeline has.
func ErrUnknown() error {
	return fault.New(fault.NotFound, "No pipeline has this name.")
}
