package call

import (
	"encoding/hex"
	"strings"
	"time"

	"hooklog/domain/record"
)

// Found is an accepted call as a search finds it.
type Found struct {
	Accepted
	// Position is that of the accepted record, and Logged its time: by then the
	// event was on the log.
	Position record.Position
	Logged   time.Time
}

// Search tells the calls that are looked for from others: those of the webhook
// with these last six characters, or those with a trace id. What else is empty
// asks for nothing.
type Search struct {
	Last6    string
	TraceID  string
	EventKey string
	// From and To bound when the call was received: from From on, before To.
	From, To time.Time
	// Readable tells the event keys whose calls may be shown.
	Readable func(eventKey string) bool
}

// Takes reports whether the call is one of those looked for.
func (s Search) Takes(a Accepted) bool {
	return (s.Last6 == "" || s.Last6 == a.Last6) &&
		(s.TraceID == "" || s.TraceID == a.TraceID) &&
		(s.EventKey == "" || s.EventKey == a.EventKey) &&
		!a.Received.Before(s.From) &&
		(s.To.IsZero() || a.Received.Before(s.To)) &&
		s.Readable(a.EventKey)
}

// MethodSent is the method of a call that no caller made: a pipeline sent the event.
const MethodSent = "event.send"

// Sent reports that a pipeline sent the event. A run that is repeated sends it
// once more under the same id, and the first accepted record counts.
func (a Accepted) Sent() bool { return a.Method == MethodSent }

// Genuine reports that the event lies where its key says and has a digest. Any
// other was written by nobody of us, and is given to no one who reads events.
func (a Accepted) Genuine() bool {
	var digest record.Digest
	key, ok := strings.CutPrefix(a.Event.Topic, record.EventTopicPrefix)
	if !ok || key != a.EventKey || len(a.Event.SHA256) != hex.EncodedLen(len(digest)) {
		return false
	}
	_, err := hex.Decode(digest[:], []byte(a.Event.SHA256))
	return err == nil
}
