package httpapi

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"net/http"
	"time"

	"github.com/google/uuid"

	"hooklog/domain/call"
	"hooklog/domain/event"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/auth"
)

// accept puts the call on the log: first the event, then the accepted record
// that names its place and is the commit point. The client's own leaving does
// not stop it half-way.
func (a *API) accept(d *delivery, r *http.Request) error {
	received := d.started.UTC().Truncate(time.Millisecond)
	ev, err := a.eventRecord(d, r, received)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), a.cfg.AppendTimeout)
	defer cancel()
	at, err := a.deps.Events.AppendWait(ctx, ev)
	if err != nil {
		return notOnLog(err)
	}
	accepted, err := call.Accepted{
		CorrelationID: d.correlationID,
		TraceID:       d.traceID,
		EventKey:      d.gate.EventKey,
		Last6:         d.gate.Last6,
		Received:      received,
		Method:        r.Method,
		Size:          d.content.size,
		Address:       auth.Address(r),
		Event:         call.EventAt(at, record.ContentDigest(ev.Headers, ev.Value)),
		Listeners:     d.listeners,
	}.Encode(call.Partition(d.correlationID, a.deps.CallPartitions()))
	if err != nil {
		return err
	}
	if _, err := a.deps.Calls.AppendWait(ctx, &accepted); err != nil {
		return notOnLog(err)
	}
	return nil
}

func (a *API) eventRecord(d *delivery, r *http.Request, received time.Time) (*record.Record, error) {
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
	value, err := event.Encode(&c, d.token)
	if err != nil {
		return nil, err
	}
	return &record.Record{
		Position: record.Position{Topic: record.EventTopic(d.gate.EventKey)},
		Time:     received,
		Headers:  event.Headers(&c, event.Meta{BaseURL: a.cfg.BaseURL, Last6: d.gate.Last6, Traceparent: newTraceparent()}),
		Value:    value,
	}, nil
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

// newTraceparent begins a W3C trace that is not sampled: version 00, 16 bytes of
// trace id, 8 of span id, flags 00.
func newTraceparent() string {
	var random [24]byte
	_, _ = rand.Read(random[:]) // never fails
	b := make([]byte, 0, 55)
	b = append(b, "00-"...)
	b = append(hex.AppendEncode(b, random[:16]), '-')
	b = append(hex.AppendEncode(b, random[16:]), "-00"...)
	return string(b)
}
