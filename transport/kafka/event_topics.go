package kafka

import (
	"context"
	"sync"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/record"
)

const (
	// ensureTimeout bounds one round of creations; no caller's context does, since
	// others wait for the same round.
	ensureTimeout = 10 * time.Second
	// maxRound is how many topics a round makes: brokers take milliseconds for
	// each, and an event may wait for the round that is under way.
	maxRound = 16
)

// EventTopics makes event topics when they are first needed, and remembers
// which are good. However many callers miss a topic at the same moment, it is
// created once, and many that are missing at that moment in one request. What an
// event waits for is made before what is only made ahead.
type EventTopics struct {
	log  *Log
	spec TopicSpec

	good sync.Map // topic name → nothing

	mu      sync.Mutex
	waiting map[string]*making
	// urgent and ahead are the names of those that wait, in the order in which they
	// came; one that turned out to be urgent is in both.
	urgent, ahead []string
	working       bool
}

type making struct {
	done   chan struct{}
	err    error
	urgent bool
}

// NewEventTopics makes topics in the form of spec, whose name does not count.
func NewEventTopics(log *Log, spec TopicSpec) *EventTopics {
	return &EventTopics{log: log, spec: spec, waiting: make(map[string]*making)}
}

// Ensure makes a topic ahead of its first event, and returns when it exists in the
// right form. Its errors are faults of kind Unavailable; a *DriftError may be the
// cause.
func (e *EventTopics) Ensure(ctx context.Context, topic string) error {
	return e.made(ctx, topic, false)
}

func (e *EventTopics) made(ctx context.Context, topic string, urgent bool) error {
	if _, good := e.good.Load(topic); good {
		return nil
	}
	if admit := e.log.cfg.AdmitTopic; admit != nil {
		if err := admit(topic); err != nil {
			return err
		}
	}
	m := e.request(topic, urgent)
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
	if err := e.made(ctx, r.Topic, true); err != nil {
		release()
		return record.Position{}, err
	}
	at, err := e.log.AppendHeld(ctx, r, release)
	if err != nil && MissesTopic(err) {
		e.Forget(r.Topic)
	}
	return at, err
}

// request joins the topic to those that wait for a round.
func (e *EventTopics) request(topic string, urgent bool) *making {
	e.mu.Lock()
	defer e.mu.Unlock()
	m := e.waiting[topic]
	if m == nil {
		m = &making{done: make(chan struct{})}
		e.waiting[topic] = m
		if !urgent {
			e.ahead = append(e.ahead, topic)
		}
	}
	if urgent && !m.urgent {
		m.urgent = true
		e.urgent = append(e.urgent, topic)
	}
	if !e.working {
		e.working = true
		go e.work()
	}
	return m
}

// work runs rounds until nobody waits.
func (e *EventTopics) work() {
	for round := e.next(); len(round) > 0; round = e.next() {
		e.ensure(round)
	}
}

// next gives the topics of the next round. What is only made ahead is no part of
// one that an event waits for.
func (e *EventTopics) next() map[string]*making {
	e.mu.Lock()
	defer e.mu.Unlock()
	round := make(map[string]*making)
	for _, queue := range []*[]string{&e.urgent, &e.ahead} {
		for len(*queue) > 0 && len(round) < maxRound {
			name := (*queue)[0]
			*queue = (*queue)[1:]
			if m := e.waiting[name]; m != nil {
				round[name] = m
				delete(e.waiting, name)
			}
		}
		if len(round) > 0 {
			break
		}
	}
	e.working = len(round) > 0
	return round
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
