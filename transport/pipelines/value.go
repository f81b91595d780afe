package pipelines

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math"

	"hooklog/domain/fault"
)

// The values of a run are nil, bool, string, []byte, int64, uint64, float64,
// json.Number, []any and map[string]any, and are never written to: steps and
// variables share them. Bytes are what is no text; in JSON they are base64.

var (
	errTooLarge = errors.New("is too large")
	errTooDeep  = errors.New("is nested too deeply")
	errNoJSON   = errors.New("has no form in JSON")
)

// meter counts the bytes that values have as JSON, and stops at a limit. It
// counts each time that a value is met: what is small in memory, because its
// parts are shared, may be endless in JSON.
type meter struct {
	left int
}

func (m *meter) take(n int) error {
	if m.left -= n; m.left < 0 {
		return errTooLarge
	}
	return nil
}

// add counts never more than the JSON has: escapes are not looked for.
func (m *meter) add(v any) error { return m.addAt(v, 0) }

func (m *meter) addAt(v any, depth int) error {
	if depth > maxNesting {
		return errTooDeep
	}
	switch v := v.(type) {
	case nil, bool:
		return m.take(4)
	case int64, uint64:
		return m.take(1)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return errNoJSON
		}
		return m.take(1)
	case json.Number:
		return m.take(len(v))
	case string:
		return m.take(len(v) + 2)
	case []byte:
		return m.take(base64.StdEncoding.EncodedLen(len(v)) + 2)
	case []any:
		return m.addList(v, depth)
	case map[string]any:
		return m.addMap(v, depth)
	}
	return errNoJSON
}

func (m *meter) addList(list []any, depth int) error {
	if err := m.take(1 + max(1, len(list))); err != nil {
		return err
	}
	for _, v := range list {
		if err := m.addAt(v, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (m *meter) addMap(object map[string]any, depth int) error {
	if err := m.take(2); err != nil {
		return err
	}
	for k, v := range object {
		if err := m.take(len(k) + 3); err != nil {
			return err
		}
		if err := m.addAt(v, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// measure gives the size of a value that is at most limit bytes.
func measure(v any, limit int) (int, error) {
	m := meter{left: limit}
	err := m.add(v)
	return limit - m.left, err
}

// Decode reads JSON into a value of a run. Numbers stay as they are written
// until something is computed with them.
func Decode(data []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one value")
	}
	return v, nil
}

// Encode gives a value of a run as JSON; nothing is escaped that need not be.
func Encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// plain gives what a step returned as a value of a run: a struct becomes what it
// is in JSON.
func plain(v any) (any, error) {
	if _, err := measure(v, MaxState); !errors.Is(err, errNoJSON) {
		return v, err
	}
	data, err := Encode(v)
	if err != nil {
		return nil, errNoJSON
	}
	v, err = Decode(data)
	if err != nil {
		return nil, errNoJSON
	}
	_, err = measure(v, MaxState)
	return v, err
}

// text is a value as a part of a longer text: a text as it is, anything else as
// JSON.
func text(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case []byte:
		return base64.StdEncoding.EncodeToString(v), nil
	}
	data, err := Encode(v)
	return string(data), err
}

// wrong makes a fault of what a run did; it never shows a value.
func wrong(format string, args ...any) error { return fault.New(fault.Invalid, format, args...) }
