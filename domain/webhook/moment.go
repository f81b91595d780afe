package webhook

import (
	"strconv"
	"time"

	"hooklog/domain/fault"
)

// Moment is a place in the history of commands: where the record lies, and its
// time in whole milliseconds. A question for the past knows one of the two; a
// zero Time is a question by the offset.
type Moment struct {
	Offset int64
	Time   time.Time
}

// ParseMoment reads an offset or a time.
func ParseMoment(text string) (Moment, error) {
	if offset, err := strconv.ParseInt(text, 10, 64); err == nil && offset >= 0 {
		return Moment{Offset: offset}, nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil || at.IsZero() {
		return Moment{}, fault.New(fault.Invalid, "at must be a time such as 2026-01-31T12:00:00Z, or an offset of svc.command.")
	}
	return Moment{Time: at.UTC().Truncate(time.Millisecond)}, nil
}

// Behind reports that the moment asked for lies behind now, which knows both.
func (m Moment) Behind(now Moment) bool {
	if m.Time.IsZero() {
		return m.Offset > now.Offset
	}
	return m.Time.After(now.Time)
}

// MarshalText gives a question as ParseMoment reads it.
func (m Moment) MarshalText() ([]byte, error) {
	if m.Time.IsZero() {
		return strconv.AppendInt(nil, m.Offset, 10), nil
	}
	return m.Time.AppendFormat(nil, time.RFC3339Nano), nil
}

// UnmarshalText is the reverse of MarshalText.
func (m *Moment) UnmarshalText(text []byte) (err error) {
	*m, err = ParseMoment(string(text))
	return err
}
