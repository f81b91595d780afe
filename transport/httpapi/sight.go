package httpapi

import (
	"context"
	"fmt"

	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

// sight is what can be seen of a call at one moment.
type sight struct {
	call.State
	// known says that the fold has the call, alive that it has not expired.
	known, alive bool
	status       call.Status
}

func (s sight) processing() bool { return s.alive && s.status == call.Processing }
func (s sight) ready() bool      { return s.alive && s.status != call.Processing }

func (a *API) look(id string) (sight, error) {
	state, known, err := a.deps.Results.Call(id)
	if err != nil || !known {
		return sight{}, err
	}
	s := sight{State: state, known: true}
	s.status, s.alive = state.StatusAt(a.deps.Now(), a.cfg.Limits)
	return s, nil
}

// find looks again after the fold has caught up before it calls an id unknown:
// the call may have been accepted by another instance a moment ago.
func (a *API) find(ctx context.Context, id string) (sight, error) {
	if !isCorrelationID(id) {
		return sight{}, nil
	}
	s, err := a.look(id)
	if err != nil || s.known {
		return s, err
	}
	if err := a.current(ctx, a.deps.Results); err != nil {
		return sight{}, err
	}
	return a.look(id)
}

// current waits until a view has caught up, before it says that it has nothing.
func (a *API) current(ctx context.Context, view interface{ Current(context.Context) error }) error {
	waiting, cancel := context.WithTimeout(ctx, a.cfg.AppendTimeout)
	defer cancel()
	if err := view.Current(waiting); err != nil {
		if ctx.Err() != nil {
			return fault.New(fault.Invalid, "The caller has left.").Because(err)
		}
		return unavailable(err, "The service is not current.")
	}
	return nil
}

// watch is a registration for the next change of a call.
type watch struct {
	changed <-chan struct{}
	stop    func()
}

func (a *API) watch(id string) watch {
	changed, stop := a.deps.Results.Watch(id)
	return watch{changed, stop}
}

// await looks at the call at each change until its result is ready, it is
// released or ctx ends, and gives what it saw last. w was registered before; it
// is replaced at each change, and its last registration is the caller's to stop.
func (a *API) await(ctx context.Context, id string, w *watch, released <-chan struct{}) (sight, error) {
	for {
		s, err := a.look(id)
		if err != nil || s.ready() {
			return s, err
		}
		select {
		case <-w.changed:
			before := *w
			*w = a.watch(id)
			before.stop()
		case <-released:
			return s, nil
		case <-ctx.Done():
			return s, nil
		}
	}
}

// value is the value of the result JSON: that of the one listener, or an object
// of all by pipeline name.
func (a *API) value(s sight) ([]byte, error) {
	switch {
	case !s.ready():
		return nil, nil
	case s.status == call.Failed:
		return call.Problem(s.TraceID), nil
	case len(s.Listeners) == 0:
		return call.TraceInformation(s.TraceID), nil
	case len(s.Listeners) == 1:
		return a.open(s.Runs[s.Listeners[0]])
	}
	b := []byte{'{'}
	for i, listener := range s.Listeners {
		if i > 0 {
			b = append(b, ',')
		}
		name, err := encodeJSON(call.PipelineName(listener))
		if err != nil {
			return nil, err
		}
		value, err := a.open(s.Runs[listener])
		if err != nil {
			return nil, err
		}
		// Not encoded again, because that would change its bytes.
		b = append(append(append(b, name...), ':'), value...)
	}
	return append(b, '}'), nil
}

// open unseals the value of a run; a run without one has null.
func (a *API) open(run call.Completed) ([]byte, error) {
	if run.Value == "" {
		return []byte("null"), nil
	}
	value, err := a.deps.Values.Open(call.ValueField, run.ValueID(), secret.NewSealed(run.Value))
	if err != nil {
		return nil, fmt.Errorf("open the value of a run: %w", err)
	}
	return value, nil
}
