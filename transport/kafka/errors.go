package kafka

import (
	"errors"
	"fmt"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/domain/fault"
	"hooklog/domain/record"
)

// TopicID tells a topic from another one that had its name before.
type TopicID = [16]byte

// RangeError is returned by a tail and by ReadAt when the log does not hold the
// offset: it expired, was deleted, or was never written. For a tail, End is in
// range.
type RangeError struct {
	At         record.Position
	Start, End int64
}

func (e *RangeError) Error() string {
	return fmt.Sprintf("the log has no %s: it holds the offsets from %d to before %d", e.At, e.Start, e.End)
}

// Below reports that the offset lies before what the log still holds.
func (e *RangeError) Below() bool { return e.At.Offset < e.Start }

// GapError is returned by a tail when a record is not the next one.
type GapError struct {
	Want record.Position
	Have int64
}

func (e *GapError) Error() string {
	return fmt.Sprintf("the log goes on at offset %d where %s was expected", e.Have, e.Want)
}

// RecreatedError is returned by a tail when its topic was deleted and another
// one has its name.
type RecreatedError struct {
	Topic      string
	Want, Have TopicID
}

func (e *RecreatedError) Error() string {
	return fmt.Sprintf("topic %s was recreated: its id was %x and is %x", e.Topic, e.Want, e.Have)
}

// MissingTopicError is returned when a topic, or the partition asked for, does
// not exist.
type MissingTopicError struct{ Topic string }

func (e *MissingTopicError) Error() string {
	return fmt.Sprintf("topic %s or the partition asked for does not exist", e.Topic)
}

// DriftError is returned when a topic exists with settings that do not fit. Its
// text is safe to show.
type DriftError struct {
	Topic, Setting, Want, Have string
}

func (e *DriftError) Error() string {
	return fmt.Sprintf("topic %s has %s=%s where %s is needed", e.Topic, e.Setting, e.Have, e.Want)
}

// MissesTopic reports that err comes from a topic that is no longer there.
func MissesTopic(err error) bool {
	var missing *MissingTopicError
	return errors.As(err, &missing) ||
		errors.Is(err, kerr.UnknownTopicOrPartition) ||
		errors.Is(err, kerr.UnknownTopicID) ||
		errors.Is(err, kerr.InconsistentTopicID)
}

func unavailable(cause error) error {
	return fault.New(fault.Unavailable, "The log does not answer.").Because(cause)
}

func appendFault(cause error) error {
	switch {
	case errors.Is(cause, kgo.ErrMaxBuffered):
		return fault.New(fault.Unavailable, "Too many records wait for the log.").Because(cause)
	case errors.Is(cause, kerr.MessageTooLarge):
		return fault.New(fault.TooLarge, "The record is too large for the log.").Because(cause)
	default:
		return fault.New(fault.Unavailable, "The log did not take the record.").Because(cause)
	}
}
