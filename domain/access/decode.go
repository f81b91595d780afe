package access

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"hooklog/domain/record"
)

// Decode reads a record of svc.access, as a Look, a Login or Failures; an error
// means that it is none of them, in every version and for ever.
func Decode(r *record.Record) (any, error) {
	switch kind := r.Header(record.HeaderType); kind {
	case LookType:
		return decode(r, func(l Look) (time.Time, bool) { return l.Time, l.ID != "" && l.Name != "" && l.Principal != "" })
	case LoginType:
		return decode(r, func(l Login) (time.Time, bool) { return l.Time, l.ID != "" && l.Principal != "" })
	case FailuresType:
		return decode(r, func(f Failures) (time.Time, bool) { return f.To, f.Instance != "" })
	default:
		return nil, fmt.Errorf("record type %q is not of svc.access", kind)
	}
}

func decode[T any](r *record.Record, whole func(T) (at time.Time, ok bool)) (any, error) {
	var v T
	if err := json.Unmarshal(r.Value, &v); err != nil {
		return nil, fmt.Errorf("decode %T: %w", v, err)
	}
	if at, ok := whole(v); !ok || at.IsZero() {
		return nil, errors.New("the record does not say who, or when")
	}
	return v, nil
}
