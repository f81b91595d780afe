package actions

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"hooklog/domain/access"
	"hooklog/domain/call"
	"hooklog/domain/event"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/transport/pipelines"
	"hooklog/transport/telemetry"
)

// maxDepth is how many events may lead to one another: pipelines that send what
// they listen to come to an end.
const maxDepth = 8

// sentKeys is the form of the keys of webhooks, which no topic collides with, and
// the first group of theirs is what a sent event must not have.
var sentKeys = regexp.MustCompile(`^[a-z0-9][a-z0-9-]*(\.[a-z0-9][a-z0-9-]*)*$`)

const webhookGroup = "webhook"

func checkSentKey(key string) error {
	first, _, _ := strings.Cut(key, ".")
	switch {
	case len(key) > webhook.MaxEventKeyLength || !sentKeys.MatchString(key):
		return fault.New(fault.Invalid, "eventKey must be dot-separated groups of lower-case letters, digits and hyphens, at most %d characters.", webhook.MaxEventKeyLength)
	case first == webhookGroup:
		return fault.New(fault.Forbidden, "event.send must not send what only webhooks do: keys that begin with %s.", webhookGroup)
	}
	return nil
}

// sent is what event.send gives.
type sent struct {
	EventKey      string `json:"eventKey"`
	TraceID       string `json:"traceId"`
	CorrelationID string `json:"correlationId"`
}

// sendEvent puts an event and its accepted record on the log, as a received call
// is, and under an id that a repeat has too: of two accepted records the first
// counts.
func (s *Steps) sendEvent(ctx context.Context, user access.Subject, c pipelines.StepCall) (any, error) {
	key := c.Params["eventKey"].(string)
	if err := checkSentKey(key); err != nil {
		return nil, err
	}
	if err := s.Registry.Policy().Allow(user, c.Command, key); err != nil {
		return nil, err
	}
	if s.trace.Depth >= maxDepth {
		return nil, fault.New(fault.Invalid, "more than %d events led to one another", maxDepth)
	}
	payload, err := pipelines.Encode(payloadOf(c))
	if err != nil {
		return nil, fault.New(fault.Invalid, "payload has no form in JSON")
	}
	id := s.correlationID(s.issue(c))
	message := &event.Call{
		EventKey: key, TraceID: s.trace.TraceID, CorrelationID: id,
		Received: s.Now().UTC().Truncate(time.Millisecond), Method: call.MethodSent, ContentType: "application/json",
		PayloadType: webhook.Raw, Body: payload,
	}
	if err := s.accept(ctx, c.Span, message); err != nil {
		return nil, err
	}
	return sent{key, s.trace.TraceID, id}, nil
}

func payloadOf(c pipelines.StepCall) any {
	if v, given := c.Params["payload"]; given {
		return v
	}
	return c.Body
}

// correlationID is a UUID made of a command's id, which not even those can foretell
// who know the id of the call: it opens the result.
func (s *Steps) correlationID(commandID string) string {
	var id uuid.UUID
	mark, _ := hex.DecodeString(s.Ring.Fingerprint([]byte("event.send\x00" + commandID)))
	copy(id[:], mark)
	id[6] = id[6]&0x0f | 0x80 // version 8: made by a rule of one's own
	id[8] = id[8]&0x3f | 0x80
	return id.String()
}

// newTrace is what the events follow that a caller's pipeline sends.
func newTrace(commandID string) Trigger {
	var random [call.RandomIDLength]byte
	_, _ = rand.Read(random[:]) // never fails
	last6 := commandID[max(0, len(commandID)-6):]
	return Trigger{TraceID: call.NewTraceID(last6, random), Last6: last6}
}

// accept sends below the step, as a call of its own.
func (s *Steps) accept(ctx context.Context, step telemetry.Span, message *event.Call) error {
	after := s.trace
	place := s.Tracer.At(step.TraceContext, telemetry.Call{TraceID: after.TraceID, Last6: after.Last6, EventKey: message.EventKey})
	value, err := event.Encode(message, secret.Token{})
	if err != nil {
		return err
	}
	topic := record.EventTopic(message.EventKey)
	sending := place.Send(topic)
	depth := record.Header{Key: record.HeaderDepth, Value: strconv.AppendInt(nil, int64(after.Depth+1), 10)}
	ev := &record.Record{
		Position: record.Position{Topic: topic},
		Time:     message.Received,
		Headers: append(event.Headers(message, event.Meta{
			BaseURL: s.cfg.BaseURL, Last6: after.Last6, Traceparent: sending.String(),
		}), depth),
		Value: value,
	}
	at, err := s.Topics.AppendHeld(ctx, ev, func() {})
	sending.Sent(at, err)
	if err != nil {
		return err
	}
	// A repeat must come to the same partition, also after some were added: what
	// follows a call stays with it.
	partition := after.Accepted.Partition
	if s.origin.Trigger == nil {
		partition = call.Partition(message.CorrelationID, s.CallPartitions())
	}
	accepted := call.Accepted{
		CorrelationID: message.CorrelationID,
		TraceID:       message.TraceID,
		EventKey:      message.EventKey,
		Last6:         after.Last6,
		Received:      message.Received,
		Method:        message.Method,
		Size:          len(message.Body),
		Event:         call.EventAt(at, record.ContentDigest(ev.Headers, ev.Value)),
		Listeners:     s.Registry.Listeners(message.EventKey),
	}
	rec, err := accepted.Encode(partition)
	if err != nil {
		return err
	}
	rec.Time = s.Now().UTC().Truncate(time.Millisecond)
	sending = place.Send(rec.Topic)
	sending.Mark(&rec)
	rec.Headers = append(rec.Headers, depth)
	at, err = s.Journal.AppendWait(ctx, &rec)
	sending.Sent(at, err)
	return err
}
