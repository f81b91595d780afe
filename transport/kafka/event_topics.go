package kafka

import (
	"context"
	"sync"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/record"
)

// ensureTimeout bounds one round of creations; no caller's context does, since
// others wait for the same round.
const ensureTimeout = 10 * time.Second

// EventTopics makes event topics when they are first needed, and remembers
// which are good. However many callers miss a topic at the same moment, it is
// created once, and all that are missing at that moment in one request.
type EventTopics struct {
	log  *Log
	spec TopicSpec

	good sync.Map // topic name → nothing

	mu      sync.Mutex
	waiting map[string]*making
	working bool
}

type making struct {
	done chan struct{}
	err  error
}

// NewEventTopics makes topics in the form of spec, whose name does not count.
func NewEventTopics(log *Log, spec TopicSpec) *EventTopics {
	return &EventTopics{log: log, spec: spec, waiting: make(map[string]*making)}
}

// Ensure returns when the topic exists in the right form. Its errors are faults
// of kind Unavailable; a *DriftError may be the cause.
func (e *EventTopics) Ensure(ctx context.Context, topic string) error {
	if _, good := e.good.Load(topic); good {
		return nil
	}
	if admit := e.log.cfg.AdmitTopic; admit != nil {
		if err := admit(topic); err != nil {
			return err
		}
	}
	m := e.request(topic)
	select {
	case <-m.done:
	case <-ctx.Done():
		m = &making{err: ctx.Err()}
	}
	if m.err != nil {
		return fault.New(fault.Unavailable, "The topic of this event is not available.").Because(m.err)
	}
	return nil
}

// Forget makes the next Ensure look again, and lets go of what the client knows
// of the topic: otherwise it would hold on to a deleted topic's id.
func (e *EventTopics) Forget(topic string) {
	e.good.Delete(topic)
	e.log.client.PurgeTopicsFromProducing(topic)
}

// AppendHeld appends an event to its topic, which it makes first where it is
// missing. A topic that turns out to be deleted fails this event and is made
// again for the next one. release is called once, as by Log.AppendHeld, whatever
// happens.
func (e *EventTopics) AppendHeld(ctx context.Context, r *record.Record, release func()) (record.Position, error) {
	if err := e.Ensure(ctx, r.Topic); err != nil {
		release()
		return record.Position{}, err
	}
	at, err := e.log.AppendHeld(ctx, r, release)
	if err != nil && MissesTopic(err) {
		e.Forget(r.Topic)
	}
	return at, err
}

// request joins the topic to the next round.
func (e *EventTopics) request(topic string) *making {
	e.mu.Lock()
	defer e.mu.Unlock()
	m := e.waiting[topic]
	if m == nil {
		m = &making{done: make(chan struct{})}
		e.waiting[topic] = m
	}
	if !e.working {
		e.working = true
		go e.work()
	}
	return m
}

// work runs rounds until nobody waits.
func (e *EventTopics) work() {
	for {
		e.mu.Lock()
		round := e.waiting
		e.waiting = make(map[string]*making)
		e.working = len(round) > 0
		e.mu.Unlock()
		if len(round) == 0 {
			return
		}
		e.ensure(round)
	}
}

func (e *EventTopics) ensure(round map[string]*making) {
	ctx, cancel := context.WithTimeout(context.Background(), ensureTimeout)
	defer cancel()
	names := make([]string, 0, len(round))
	for name, m := range round {
		if _, good := e.good.Load(name); good { // since the round before
			close(m.done)
			continue
		}
		names = append(names, name)
	}
	for name, outcome := range e.log.ensure(ctx, &e.spec, names) {
		m := round[name]
		if m.err = outcome.err; m.err == nil {
			e.good.Store(name, nil)
		}
		close(m.done)
	}
}
