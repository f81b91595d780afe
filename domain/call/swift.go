package call

import (
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// An accepted record is written and folded for every call, and reflection would
// be most of that work. So its usual form is appended and read by hand; anything
// unusual takes the way through encoding/json, which gives the same.

// appendJSON appends what json.Marshal would give, or reports that a text needs
// escaping.
func (a *Accepted) appendJSON(b []byte) ([]byte, bool) {
	if !plain(a.CorrelationID, a.TraceID, a.EventKey, a.Last6, a.Method, a.Address, a.Event.Topic, a.Event.SHA256) || !plain(a.Listeners...) {
		return nil, false
	}
	b = appendText(b, `{"correlationId":"`, a.CorrelationID)
	b = appendText(b, `","traceId":"`, a.TraceID)
	b = appendText(b, `","eventKey":"`, a.EventKey)
	b = appendText(b, `","last6":"`, a.Last6)
	b = append(b, `","received":"`...)
	b = a.Received.AppendFormat(b, time.RFC3339Nano)
	b = appendText(b, `","method":"`, a.Method)
	b = append(b, `","size":`...)
	b = strconv.AppendInt(b, int64(a.Size), 10)
	if a.Address != "" {
		b = append(appendText(b, `,"address":"`, a.Address), '"')
	}
	b = appendText(b, `,"event":{"topic":"`, a.Event.Topic)
	b = append(b, `","partition":`...)
	b = strconv.AppendInt(b, int64(a.Event.Partition), 10)
	b = append(b, `,"offset":`...)
	b = strconv.AppendInt(b, a.Event.Offset, 10)
	b = appendText(b, `,"sha256":"`, a.Event.SHA256)
	b = append(b, `"}`...)
	return append(appendListeners(b, a.Listeners), '}'), true
}

// appendJSON appends what json.Marshal would give for a call without runs.
func (s *State) appendJSON(b []byte) ([]byte, bool) {
	if len(s.Runs)+len(s.Retries) > 0 || !plain(s.CorrelationID, s.TraceID) || !plain(s.Listeners...) {
		return nil, false
	}
	b = appendText(b, `{"correlationId":"`, s.CorrelationID)
	b = appendText(b, `","traceId":"`, s.TraceID)
	b = append(b, `","received":"`...)
	b = s.Received.AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')
	return append(appendListeners(b, s.Listeners), '}'), true
}

func appendListeners(b []byte, listeners []string) []byte {
	if len(listeners) == 0 {
		return b
	}
	b = append(b, `,"listeners":[`...)
	for i, l := range listeners {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendText(b, `"`, l), '"')
	}
	return append(b, ']')
}

// EncodeRow gives the state as a projection stores it.
func (s State) EncodeRow() ([]byte, error) {
	if row, ok := s.appendJSON(make([]byte, 0, 160)); ok {
		return row, nil
	}
	return json.Marshal(s)
}

func appendText(b []byte, before, text string) []byte {
	return append(append(b, before...), text...)
}

// plain reports that JSON, in every form that encoding/json writes, has the texts
// as they are.
func plain(texts ...string) bool {
	for _, text := range texts {
		for i := range len(text) {
			if c := text[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
				return false
			}
		}
	}
	return true
}

// parseAccepted reads exactly what appendJSON writes.
func parseAccepted(value []byte) (a Accepted, ok bool) {
	p := parser{rest: string(value), ok: true}
	a.CorrelationID = p.text(`{"correlationId":"`)
	a.TraceID = p.text(`,"traceId":"`)
	a.EventKey = p.text(`,"eventKey":"`)
	a.Last6 = p.text(`,"last6":"`)
	a.Received = p.time(`,"received":"`)
	a.Method = p.text(`,"method":"`)
	a.Size = int(p.number(`,"size":`))
	if strings.HasPrefix(p.rest, `,"address":"`) {
		a.Address = p.text(`,"address":"`)
	}
	a.Event.Topic = p.text(`,"event":{"topic":"`)
	a.Event.Partition = int32(p.number(`,"partition":`))
	a.Event.Offset = p.number(`,"offset":`)
	a.Event.SHA256 = p.text(`,"sha256":"`)
	p.literal(`}`)
	for before := `,"listeners":["`; strings.HasPrefix(p.rest, before); before = `,"` {
		a.Listeners = append(a.Listeners, p.text(before))
	}
	if a.Listeners != nil {
		p.literal(`]`)
	}
	return a, p.ok && p.rest == "}"
}

// parser takes one member after the other from rest.
type parser struct {
	rest string
	ok   bool
}

func (p *parser) literal(text string) {
	if !strings.HasPrefix(p.rest, text) {
		p.ok, p.rest = false, ""
		return
	}
	p.rest = p.rest[len(text):]
}

func (p *parser) text(before string) string {
	p.literal(before)
	text, rest, found := strings.Cut(p.rest, `"`)
	p.ok = p.ok && found && plain(text)
	p.rest = rest
	return text
}

func (p *parser) time(before string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, p.text(before))
	p.ok = p.ok && err == nil
	return t
}

func (p *parser) number(before string) int64 {
	p.literal(before)
	end := strings.IndexAny(p.rest, ",}")
	if end < 0 {
		p.ok = false
		return 0
	}
	n, err := strconv.ParseInt(p.rest[:end], 10, 64)
	// What ParseInt takes beside JSON's numbers, +1 and 01, is not ours.
	p.ok = p.ok && err == nil && strconv.FormatInt(n, 10) == p.rest[:end]
	p.rest = p.rest[end:]
	return n
}
