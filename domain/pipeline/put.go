package pipeline

import (
	"errors"
	"slices"
	"time"

	"hooklog/domain/fault"
)

// maxKeys bounds the lists that a put brings beside the source.
const maxKeys = 100

// Put is the wish to store a pipeline under a name, new or in place of the one
// that has it.
type Put struct {
	Name string
	Source
	// Version, when given, is the version that the author believes to replace.
	Version *int
}

// Check reports what is wrong with the fields themselves, whatever is stored.
func (p Put) Check() error {
	if p.Body.IsZero() || p.SealedFor == "" {
		return fault.New(fault.Invalid, "body is required to put a pipeline.")
	}
	return errors.Join(
		CheckName(p.Name),
		checkKeys("eventKey", p.EventKeys),
		checkKeys("key", p.MessageKeys),
		checkUsers(p.RunAs),
	)
}

func checkKeys(param string, patterns []string) error {
	if len(patterns) > maxKeys {
		return fault.New(fault.Invalid, "the pipeline listens to %d keys; at most %d are allowed.", len(patterns), maxKeys)
	}
	for _, pattern := range patterns {
		if err := CheckPattern(param, pattern); err != nil {
			return err
		}
	}
	return nil
}

func checkUsers(users []string) error {
	if len(users) > maxKeys {
		return fault.New(fault.Invalid, "the pipeline runs as %d users; at most %d are allowed.", len(users), maxKeys)
	}
	if slices.Contains(users, "") {
		return fault.New(fault.Invalid, "the user to run as is not named.")
	}
	return nil
}

// Author is who changes a pipeline, and when.
type Author struct {
	Name string
	At   time.Time
	// Roles are those of an outside issuer's user.
	Roles []string
}

// Event is what happened to a pipeline.
type Event interface{ pipelineEvent() }

type (
	// Stored is a new version of a pipeline.
	Stored struct{ Pipeline Pipeline }
	// Deleted is the end of a pipeline. After keeps its version, so that a later
	// pipeline of that name is told apart from this one; Before is what was deleted.
	Deleted struct{ Before, After Pipeline }
)

func (Stored) pipelineEvent()  {}
func (Deleted) pipelineEvent() {}

// Decide answers a checked put. current is what the put's name was last, which
// may be deleted, or nil.
func (p Put) Decide(current *Pipeline, by Author) (Stored, error) {
	next := Pipeline{
		Name: p.Name, Version: 1, Source: p.Source,
		Created: by.At, CreatedBy: by.Name, Updated: by.At, UpdatedBy: by.Name, OwnerRoles: by.Roles,
	}
	if current != nil {
		next.Version = current.Version + 1
	}
	living := current != nil && !current.Deleted
	if living {
		next.Created, next.CreatedBy = current.Created, current.CreatedBy
	}
	switch {
	case p.Version != nil && !living:
		return Stored{}, ErrUnknown()
	case p.Version != nil && *p.Version != current.Version:
		return Stored{}, fault.New(fault.Conflict, "The pipeline has version %d, not %d; read it again before replacing it.", current.Version, *p.Version)
	}
	return Stored{Pipeline: next}, nil
}

// Delete is the wish to delete the pipeline of a name.
type Delete struct {
	Name string `json:"name"`
}

// Check reports what is wrong with the name itself.
func (d Delete) Check() error { return CheckName(d.Name) }

// Decide answers a checked delete; current is as for a put.
func (d Delete) Decide(current *Pipeline, by Author) (Deleted, error) {
	if current == nil || current.Deleted {
		return Deleted{}, ErrUnknown()
	}
	after := Pipeline{
		Name: current.Name, Version: current.Version, Deleted: true,
		Created: current.Created, CreatedBy: current.CreatedBy, Updated: by.At, UpdatedBy: by.Name,
	}
	return Deleted{Before: *current, After: after}, nil
}
