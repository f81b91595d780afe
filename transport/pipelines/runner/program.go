package runner

import (
	"context"
	"strconv"
	"strings"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
	"hooklog/transport/pipelines"
)

// program is a compiled version of a pipeline.
type program struct {
	name    string
	version int
	owner   string
	roles   []string // of an outside owner
	put     time.Time
	program *pipelines.Program
}

// program finds the version that a call names.
func (l *lane) program(ctx context.Context, listener string) (*program, error) {
	if p, ok := l.programs.Get(listener); ok {
		return p, nil
	}
	stored, err := l.stored(ctx, listener)
	if err != nil {
		return nil, err
	}
	source, err := l.Ring.Open(pipeline.BodyField, stored.SealedFor, stored.Body)
	if err != nil {
		return nil, fault.New(fault.Internal, "The key ring cannot open the pipeline.").Because(err)
	}
	compiled, err := pipelines.Compile(source, l.Catalog)
	if err != nil {
		return nil, err
	}
	p := &program{name: stored.Name, version: stored.Version, owner: stored.Owner(), roles: stored.OwnerRoles, put: stored.Updated, program: compiled}
	l.programs.Add(listener, p)
	return p, nil
}

// stored waits until this instance has folded the version, unless there is none on
// the log.
func (l *lane) stored(ctx context.Context, listener string) (pipeline.Pipeline, error) {
	name, number, _ := strings.Cut(listener, "@")
	version, err := strconv.Atoi(number)
	if err != nil || version < 1 {
		return pipeline.Pipeline{}, pipeline.ErrUnknown()
	}
	for current := false; ; {
		p, ok, err := l.Registry.Pipeline(name, version)
		switch {
		case err != nil:
			return p, err
		case ok:
			return p, nil
		case current:
			return p, pipeline.ErrUnknown()
		}
		err = l.Registry.Current(ctx)
		current = err == nil
		if err != nil && pipelines.Pause(ctx, retryPause) != nil {
			return p, err
		}
	}
}
