package pipeline

import "slices"

// Index knows which pipelines listen to an event. Most listen to one key, which
// is looked up; those with wildcards are asked one after the other. It is not for
// concurrent use: whoever shares it guards it.
type Index struct {
	byName    map[string]listening
	byKey     map[string][]string   // the names that listen to exactly this key
	wildcards map[string][][]string // by name, the patterns cut into groups
}

type listening struct {
	listener string
	patterns []string
}

// NewIndex is an index of the pipelines.
func NewIndex(pipelines ...Pipeline) *Index {
	x := &Index{byName: map[string]listening{}, byKey: map[string][]string{}, wildcards: map[string][][]string{}}
	for _, p := range pipelines {
		x.Set(p)
	}
	return x
}

// Set takes in a new state of a pipeline; a deleted one listens no more.
func (x *Index) Set(p Pipeline) {
	x.drop(p.Name)
	patterns := p.eventPatterns()
	if p.Deleted || len(patterns) == 0 {
		return
	}
	x.byName[p.Name] = listening{p.Listener(), patterns}
	for _, pattern := range patterns {
		if hasWildcard(pattern) {
			x.wildcards[p.Name] = append(x.wildcards[p.Name], groups(pattern))
		} else {
			x.byKey[pattern] = append(x.byKey[pattern], p.Name)
		}
	}
}

func (x *Index) drop(name string) {
	for _, pattern := range x.byName[name].patterns {
		others := slices.DeleteFunc(x.byKey[pattern], func(n string) bool { return n == name })
		if len(others) == 0 {
			delete(x.byKey, pattern)
		} else {
			x.byKey[pattern] = others
		}
	}
	delete(x.wildcards, name)
	delete(x.byName, name)
}

// Empty reports that nobody listens to anything.
func (x *Index) Empty() bool { return len(x.byName) == 0 }

// Listeners are the pipelines that an event starts, as name@version in the order
// of their names, each once.
func (x *Index) Listeners(eventKey string) []string {
	names := slices.Clone(x.byKey[eventKey])
	if len(x.wildcards) > 0 {
		key := groups(eventKey)
		fits := func(pattern []string) bool { return match(pattern, key) }
		for name, patterns := range x.wildcards {
			if slices.ContainsFunc(patterns, fits) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for i, name := range names {
		names[i] = x.byName[name].listener
	}
	return names
}
