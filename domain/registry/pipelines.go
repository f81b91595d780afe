package registry

import (
	"strings"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/pipeline"
	"hooklog/domain/secret"
)

// The rights that the owner of a pipeline needs on the keys that it listens to.
const (
	eventListen    = "event.listen"
	messageReceive = "message.receive"
)

// PipelineRef is how a command names a pipeline to read.
type PipelineRef struct {
	Name string `json:"name"`
	// Version 0 is the latest, and must live.
	Version int `json:"version,omitzero"`
}

// RunParams say what is run: a pipeline by its name, or what the caller brought,
// of which nothing but the digest is recorded.
type RunParams struct {
	Name string `json:"name,omitempty"`
	// SHA256 of the source, in hexadecimal.
	SHA256 string `json:"sha256,omitempty"`
}

// Check reports what is wrong with the parameters themselves, whatever is stored.
func (p RunParams) Check() error {
	switch {
	case (p.Name == "") == (p.SHA256 == ""):
		return fault.New(fault.Invalid, "A run needs either the name of a pipeline or a pipeline.")
	case p.Name == "":
		return nil
	}
	return pipeline.CheckName(p.Name)
}

// RetryParams say which pipelines of a call are to run once more. Whoever writes
// the record knows the call; here only the rights to the pipelines are asked for.
type RetryParams struct {
	CorrelationID string   `json:"correlationId"`
	Pipelines     []string `json:"pipelines"`
}

// decidePipelinePut asks for the right to the name before it tells anything of
// what is stored there, and then for what the owner lends to the pipeline.
func decidePipelinePut(v View, c Command) (Event, Outcome, error) {
	var put pipeline.Put
	if err := params(c, &put); err != nil {
		return nil, Outcome{}, err
	}
	if err := put.Check(); err != nil {
		return nil, Outcome{}, err
	}
	if err := allow(v, c, put.Name); err != nil {
		return nil, Outcome{}, err
	}
	if err := lends(v.Policy(), c.subject(), put.Source); err != nil {
		return nil, Outcome{}, err
	}
	stored, err := put.Decide(lastState(v, put.Name), owner(c))
	if err != nil {
		return nil, Outcome{}, err
	}
	return stored, shownPipeline(stored.Pipeline), nil
}

// owner is who puts a pipeline.
func owner(c Command) pipeline.Author {
	by := pipeline.Author{Name: c.Effective, At: c.Time}
	if access.IsOutside(c.Effective) {
		by.Roles = c.Roles
	}
	return by
}

// lends reports what a pipeline would need of its owner that the owner has not.
// The rules speak of event keys, by whatever name a pipeline listens to them.
func lends(policy access.Policy, owner access.Subject, s pipeline.Source) error {
	for _, pattern := range s.EventKeys {
		if err := policy.AllowAll(owner, eventListen, pattern); err != nil {
			return err
		}
	}
	for _, key := range s.MessageKeys {
		pattern := strings.TrimPrefix(key, pipeline.MessagePrefix)
		if err := policy.AllowAll(owner, messageReceive, pattern); err != nil {
			return err
		}
	}
	for _, user := range s.RunAs {
		if !policy.MayRunAs(owner, user) {
			return fault.New(fault.Forbidden, "%s may not have a pipeline run as %s.", owner.Principal, user)
		}
	}
	return nil
}

// decidePipelineGet answers with one version, or without a name with none:
// whoever asked for all reads those that the policy lets it read.
func decidePipelineGet(v View, c Command) (Event, Outcome, error) {
	if len(c.Params) == 0 {
		return nil, Outcome{}, nil
	}
	var ref PipelineRef
	if err := params(c, &ref); err != nil {
		return nil, Outcome{}, err
	}
	if err := mayName(v, c, ref.Name); err != nil {
		return nil, Outcome{}, err
	}
	found, ok := v.Pipeline(ref.Name, ref.Version)
	if !ok || found.Deleted {
		return nil, Outcome{}, pipeline.ErrUnknown()
	}
	return nil, shownPipeline(found), nil
}

func decidePipelineDelete(v View, c Command) (Event, Outcome, error) {
	var del pipeline.Delete
	if err := params(c, &del); err != nil {
		return nil, Outcome{}, err
	}
	if err := mayName(v, c, del.Name); err != nil {
		return nil, Outcome{}, err
	}
	deleted, err := del.Decide(lastState(v, del.Name), owner(c))
	if err != nil {
		return nil, Outcome{}, err
	}
	return deleted, shownPipeline(deleted.Before), nil
}

// decidePipelineRun answers with the version that is to run, or with none where
// the caller brought the pipeline: then the right to the command is enough.
func decidePipelineRun(v View, c Command) (Event, Outcome, error) {
	var run RunParams
	if err := params(c, &run); err != nil {
		return nil, Outcome{}, err
	}
	if err := run.Check(); err != nil || run.Name == "" {
		return nil, Outcome{}, err
	}
	if err := allow(v, c, run.Name); err != nil {
		return nil, Outcome{}, err
	}
	latest := lastState(v, run.Name)
	if latest == nil || latest.Deleted {
		return nil, Outcome{}, pipeline.ErrUnknown()
	}
	return nil, shownPipeline(*latest), nil
}

func decideRunRetry(v View, c Command) (Event, Outcome, error) {
	var retry RetryParams
	if err := params(c, &retry); err != nil {
		return nil, Outcome{}, err
	}
	if retry.CorrelationID == "" || len(retry.Pipelines) == 0 {
		return nil, Outcome{}, fault.New(fault.Invalid, "A retry needs a call and the names of its pipelines.")
	}
	for _, name := range retry.Pipelines {
		if err := mayName(v, c, name); err != nil {
			return nil, Outcome{}, err
		}
	}
	return nil, Outcome{}, nil
}

// mayName checks the name of a pipeline, and asks for the right to it.
func mayName(v View, c Command, name string) error {
	if err := pipeline.CheckName(name); err != nil {
		return err
	}
	return allow(v, c, name)
}

func lastState(v View, name string) *pipeline.Pipeline {
	if p, ok := v.Pipeline(name, 0); ok {
		return &p
	}
	return nil
}

// shownPipeline leaves the source out: outcomes stay for ever, and whoever needs
// the source finds it by name and version.
func shownPipeline(p pipeline.Pipeline) Outcome {
	p.Body, p.SealedFor = secret.Sealed{}, ""
	return Outcome{Pipeline: &p}
}

func applyPipeline(s State, event pipeline.Event) {
	switch e := event.(type) {
	case pipeline.Stored:
		s.SetPipeline(e.Pipeline)
	case pipeline.Deleted:
		s.SetPipeline(e.After)
	}
}
