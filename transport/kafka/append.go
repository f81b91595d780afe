package kafka

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/domain/fault"
	"hooklog/domain/record"
)

// inlineHeaders is how many headers fit into a record's own allocation; an
// event message has ten.
const inlineHeaders = 12

type outgoing struct {
	kgo.Record
	inline [inlineHeaders]kgo.RecordHeader
}

func newOutgoing(r *record.Record) *outgoing {
	out := &outgoing{Record: kgo.Record{
		Topic:     r.Topic,
		Partition: r.Partition,
		Timestamp: r.Time,
		Key:       r.Key,
		Value:     r.Value,
	}}
	out.Headers = out.inline[:0]
	for i := range r.Headers {
		out.Headers = append(out.Headers, kgo.RecordHeader(r.Headers[i]))
	}
	return out
}

// Append hands the record over and returns at once. done is called exactly
// once, from the client's goroutine, with the record's position or a fault; it
// must not block and must not append. The record's bytes belong to the log
// until then. Of r's position only the topic counts for an event, topic and
// partition for any other record; r.Time is its time.
//
// There is no context, because a record that was handed over cannot be taken
// back: it may land after its caller gave up. One that could not be sent for
// half a minute fails; one that was sent stays until the broker has answered,
// however long that takes. A full buffer is a fault of kind Unavailable without
// waiting.
func (l *Log) Append(r *record.Record, done func(record.Position, error)) {
	began := time.Now()
	if l.cfg.Admit != nil {
		if err := l.cfg.Admit(r); err != nil {
			l.cfg.Observe(r.Topic, time.Since(began), err)
			done(record.Position{}, err)
			return
		}
	}
	l.client.TryProduce(l.lifetime(began), &newOutgoing(r).Record, func(out *kgo.Record, err error) {
		l.cfg.Observe(out.Topic, time.Since(began), err)
		if err != nil {
			done(record.Position{}, appendFault(err))
			return
		}
		done(record.Position{Topic: out.Topic, Partition: out.Partition, Offset: out.Offset}, nil)
	})
}

type settled struct {
	at  record.Position
	err error
}

// AppendWait is Append with the caller's own deadline. When ctx ends first, the
// answer is a fault of kind Unavailable and the record may still land.
func (l *Log) AppendWait(ctx context.Context, r *record.Record) (record.Position, error) {
	return l.AppendHeld(ctx, r, func() {})
}

// AppendHeld is AppendWait for a caller that accounts for the record's bytes:
// release is called exactly once, when the log has let go of them. That may be
// long after ctx ended. Like the done of Append, it must not block.
func (l *Log) AppendHeld(ctx context.Context, r *record.Record, release func()) (record.Position, error) {
	outcome := make(chan settled, 1)
	l.Append(r, func(at record.Position, err error) {
		release()
		outcome <- settled{at, err}
	})
	select {
	case s := <-outcome:
		return s.at, s.err
	case <-ctx.Done():
		return record.Position{}, fault.New(fault.Unavailable,
			"The log did not confirm the record in time; it may still be written.").Because(context.Cause(ctx))
	}
}

const (
	deliveryTimeout = 30 * time.Second
	eraLength       = 5 * time.Second
)

// era is the context of the records handed over within a few seconds.
type era struct {
	ctx   context.Context
	until time.Time
}

// lifetime gives a context that ends when a record handed over now is not worth
// sending any more. The client's own delivery timeout counts from a record's
// time, which is not ours to choose; a context for each record would cost more
// than the rest of Append.
func (l *Log) lifetime(now time.Time) context.Context {
	if e := l.era.Load(); e != nil && now.Before(e.until) {
		return e.ctx
	}
	ctx, cancel := context.WithTimeout(context.Background(), deliveryTimeout+eraLength)
	context.AfterFunc(ctx, cancel)
	l.era.Store(&era{ctx: ctx, until: now.Add(eraLength)})
	return ctx
}
