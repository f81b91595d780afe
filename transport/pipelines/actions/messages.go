package actions

import (
	"context"
	"slices"
	"strings"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/pipelines"
)

// ownTopics begin the names of topics that nobody writes but hooklog itself.
const ownTopics = "svc."

// sendMessage writes to a topic that is not hooklog's own. A repeated run writes
// once more: there is nobody who would fold it.
func (s *Steps) sendMessage(ctx context.Context, user access.Subject, c pipelines.StepCall) (any, error) {
	topic := c.Params["key"].(string)
	if strings.HasPrefix(topic, ownTopics) || !slices.Contains(s.cfg.MessageTopics, topic) {
		return nil, fault.New(fault.Forbidden, "the operator does not allow message.send to write to this topic")
	}
	if err := s.Registry.Policy().Allow(user, c.Command, topic); err != nil {
		return nil, err
	}
	value, kind, err := contentOf(payloadOf(c))
	if err != nil {
		return nil, fault.New(fault.Invalid, "payload has no form in JSON")
	}
	sending := c.Span.Send(topic)
	message := &record.Record{
		Position: record.Position{Topic: topic},
		Time:     s.Now().UTC().Truncate(time.Millisecond),
		Headers: []record.Header{
			{Key: "content-type", Value: []byte(kind)},
			{Key: record.HeaderTraceID, Value: []byte(s.trace.TraceID)},
			{Key: record.HeaderTraceparent, Value: []byte(sending.String())},
		},
		Value: value,
	}
	at, err := s.Journal.AppendWait(ctx, message)
	sending.Sent(at, err)
	return map[string]any{"key": topic, "traceId": s.trace.TraceID}, err
}

// contentOf is a value as a message: texts and bytes as they are.
func contentOf(v any) (value []byte, kind string, err error) {
	switch v := v.(type) {
	case string:
		return []byte(v), "text/plain; charset=utf-8", nil
	case []byte:
		return v, "application/octet-stream", nil
	}
	value, err = pipelines.Encode(v)
	return value, "application/json", err
}
