package registry

import (
	"encoding/json"
	"errors"
	"sync"
	"sync/atomic"

	"hooklog/domain/pipeline"
)

// listeners is the index of who listens, which every call asks. As long as nobody
// does, asking costs a look at one word that does not change.
type listeners struct {
	anybody atomic.Bool
	mu      sync.RWMutex
	index   *pipeline.Index
}

func (l *listeners) publish(changed []pipeline.Pipeline) {
	if len(changed) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range changed {
		l.index.Set(p)
	}
	l.anybody.Store(!l.index.Empty())
}

func (r *Registry) loadListeners() error {
	living, err := list(r, pipelinePrefix, func(p pipeline.Pipeline) bool { return !p.Deleted })
	r.listeners.index = pipeline.NewIndex()
	r.listeners.publish(living)
	return err
}

// Listeners are the pipelines that an event of the key starts, as name@version in
// the order of their names.
func (r *Registry) Listeners(eventKey string) []string {
	if !r.listeners.anybody.Load() {
		return nil
	}
	r.listeners.mu.RLock()
	defer r.listeners.mu.RUnlock()
	return r.listeners.index.Listeners(eventKey)
}

// Pipeline finds a version with its source, also one that was replaced or deleted
// since; 0 is the latest of a pipeline that lives.
func (r *Registry) Pipeline(named string, version int) (p pipeline.Pipeline, ok bool, err error) {
	if version == 0 {
		ok, err = r.load(pipelineRow(named), &p)
		if err != nil || !ok || p.Deleted {
			return pipeline.Pipeline{}, false, err
		}
		version = p.Version
	}
	ok, err = r.load(versionRow(named, version), &p)
	return p, ok, err
}

// Pipelines lists the living pipelines that are readable, without their sources,
// in the order of their names, at most limit of them (0: all), from the first
// name behind after.
func (r *Registry) Pipelines(after string, limit int, readable func(name string) bool) ([]pipeline.Pipeline, error) {
	from := pipelinePrefix
	if after != "" {
		from = pipelineRow(after)
	}
	found := []pipeline.Pipeline{}
	var failed error
	err := r.store.Scan(pipelinePrefix, from, func(key, value []byte) bool {
		if !readable(string(key[len(pipelinePrefix):])) {
			return true
		}
		var p pipeline.Pipeline
		if failed = json.Unmarshal(value, &p); failed == nil && !p.Deleted {
			found = append(found, p)
		}
		return failed == nil && (limit == 0 || len(found) < limit)
	})
	return found, errors.Join(err, failed)
}
