package httpapi

import (
	"crypto/rand"
	"net/http"
	"time"

	"github.com/google/uuid"

	"hooklog/domain/call"
	"hooklog/domain/event"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/webhook"
	"hooklog/transport/telemetry"
)

// accept puts the call on the log: first the event, then the accepted record
// that names its place and is the commit point. The client's own leaving does
// not stop it half-way.
func (a *API) accept(d *delivery, r *http.Request) error {
	received := d.started.UTC().Truncate(time.Millisecond)
	ev, sending, err := a.eventRecord(d, r, received)
	if err != nil {
		return err
	}
	ctx := a.appends.context()
	at, err := a.deps.Events.AppendHeld(ctx, ev, d.claim.share())
	sending.Sent(at, err)
	if err != nil {
		return notOnLog(err)
	}
	d.stages.logged = a.deps.Now()
	accepted := call.Accepted{
		CorrelationID: d.correlationID,
		TraceID:       d.traceID,
		EventKey:      d.gate.EventKey,
		Last6:         d.gate.Last6,
		Received:      received,
		Method:        r.Method,
		Size:          d.content.size,
		Address:       d.address.String(),
		Event:         call.EventAt(at, record.ContentDigest(ev.Headers, ev.Value)),
		Listeners:     d.listeners,
	}
	rec, err := accepted.Encode(call.Partition(d.correlationID, a.deps.CallPartitions()))
	if err != nil {
		return err
	}
	rec.Time = d.stages.logged.UTC().Truncate(time.Millisecond)
	sending = d.span.Send(rec.Topic)
	sending.Mark(&rec)
	at, err = a.deps.Calls.AppendHeld(ctx, &rec, d.claim.share())
	sending.Sent(at, err)
	if err != nil {
		return notOnLog(err)
	}
	d.stages.accepted = a.deps.Now()
	return nil
}

// eventRecord gives the event and the span in which it is sent.
func (a *API) eventRecord(d *delivery, r *http.Request, received time.Time) (*record.Record, telemetry.Span, error) {
	c := event.Call{
		EventKey:      d.gate.EventKey,
		TraceID:       d.traceID,
		CorrelationID: d.correlationID,
		Received:      received,
		Method:        r.Method,
		ContentType:   r.Header.Get("Content-Type"),
		Host:          r.Host,
		Header:        r.Header,
		Query:         d.query,
		PayloadType:   d.gate.PayloadType,
		Body:          d.content.body,
		Files:         d.content.files,
	}
	value, err := d.encode(&c)
	if err != nil {
		return nil, telemetry.Span{}, err
	}
	topic := record.EventTopic(d.gate.EventKey)
	sending := d.span.Send(topic)
	return &record.Record{
		Position: record.Position{Topic: topic},
		Time:     received,
		Headers:  event.Headers(&c, event.Meta{BaseURL: a.cfg.BaseURL, Last6: d.gate.Last6, Traceparent: sending.String()}),
		Value:    value,
	}, sending, nil
}

// recordRoom is what a call takes beside its message: the headers of the event
// and the accepted record.
const recordRoom = 2 << 10

// encode makes the message, which lies beside the body for a moment and takes
// the body's place in the budget then.
func (d *delivery) encode(c *event.Call) ([]byte, error) {
	if err := d.claim.resize(d.claim.size + messageAtMost(c.PayloadType, d.content.size)); err != nil {
		return nil, err
	}
	value, err := event.Encode(c, d.token)
	if err != nil {
		return nil, err
	}
	d.content.release()
	return value, d.claim.resize(int64(len(value)) + recordRoom)
}

// messageAtMost is how large a payload can get in its message, but for the few
// bytes around it: base64 grows by a third, and text doubles when all of it has
// to be escaped.
func messageAtMost(t webhook.PayloadType, size int) int64 {
	switch t {
	case webhook.Ignore:
		return recordRoom
	case webhook.Base64:
		return recordRoom + int64(size)*4/3
	default:
		return recordRoom + int64(size)*2
	}
}

// notOnLog is the answer when an append fails: but for a record that the log
// can never take, that is temporary.
func notOnLog(err error) error {
	if fault.Is(err, fault.TooLarge) {
		return err
	}
	return unavailable(err, "The log cannot take the call now.")
}

func newCorrelationID() string { return uuid.NewString() }

func newTraceID(last6 string) string {
	var random [call.RandomIDLength]byte
	_, _ = rand.Read(random[:]) // never fails
	return call.NewTraceID(last6, random)
}
