package session

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hooklog/domain/record"
)

// RefreshType is the wire name and version of a wish about a family of refresh
// tokens. Other kinds of sessions have other names.
const RefreshType = "session.refresh/1"

// Kind is what a wish is for.
type Kind string

// The kinds of wishes.
const (
	Open   Kind = "open"
	Rotate Kind = "rotate"
	End    Kind = "end"
)

// Wish is a record of svc.session: what somebody wants of a family. Whether it is
// granted is decided by folding it.
type Wish struct {
	// ID identifies the wish. A second record with it gets the first's outcome.
	ID   string `json:"id"`
	Kind Kind   `json:"kind"`
	// Client is the OAuth client that asks for a rotation.
	Client string `json:"client,omitempty"`
	// Token is to be rotated.
	Token Hash `json:"token,omitzero"`
	// Successor is what a rotation gives for it.
	Successor Hash `json:"successor,omitzero"`
	// Family is the whole state as the writer saw it, or as it is to be opened: the
	// log may have lost the family's earlier records by its retention.
	Family Family    `json:"family"`
	Time   time.Time `json:"time"`
}

// Encode gives the record to append.
func (w Wish) Encode() (record.Record, error) {
	value, err := json.Marshal(w)
	if err != nil {
		return record.Record{}, fmt.Errorf("encode wish to %s a family: %w", w.Kind, err)
	}
	return record.Record{
		Position: record.Position{Topic: record.TopicSession},
		Time:     w.Time,
		Key:      []byte(w.Family.ID.String()),
		Headers:  []record.Header{{Key: record.HeaderType, Value: []byte(RefreshType)}},
		Value:    value,
	}, nil
}

// DecodeWish reads a record of svc.session; an error means that it holds no wish,
// for ever.
func DecodeWish(r *record.Record) (Wish, error) {
	var w Wish
	if t := r.Header(record.HeaderType); t != RefreshType {
		return w, fmt.Errorf("record type %q is unknown on %s", t, record.TopicSession)
	}
	if err := json.Unmarshal(r.Value, &w); err != nil {
		return w, fmt.Errorf("decode wish: %w", err)
	}
	if w.Family.ID.String() != string(r.Key) {
		return w, fmt.Errorf("a record of %s must have its family as key", record.TopicSession)
	}
	return w, w.check()
}

func (w Wish) check() error {
	f := w.Family
	switch {
	case w.ID == "":
		return errors.New("a wish needs an id")
	case f.ID == Hash{} || f.User == "":
		return errors.New("a family needs an id and a user")
	case len(f.Current) > MaxCurrent:
		return fmt.Errorf("a family has at most %d current tokens", MaxCurrent)
	}
	switch w.Kind {
	case Open:
		if len(f.Current) != 1 || f.Ended {
			return errors.New("a family is opened with one token")
		}
	case Rotate:
		if (w.Token == Hash{} || w.Successor == Hash{}) {
			return errors.New("a rotation needs a token and its successor")
		}
	case End:
	default:
		return fmt.Errorf("nobody can wish to %q a family", w.Kind)
	}
	return nil
}
