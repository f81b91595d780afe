package pipelines

import (
	"encoding/base64"
	"errors"
	"unicode/utf8"
)

// The conversions, by the names that they have as steps and in expressions.
var conversions = map[string]func(any) (any, error){
	"convert.fromBase64": fromBase64,
	"convert.toBase64":   toBase64,
	"convert.fromJson":   fromJSON,
	"convert.toJson":     toJSON,
}

var (
	errNoText   = errors.New("is no text")
	errNoBase64 = errors.New("is no base64")
	errNotJSON  = errors.New("is no JSON")
)

// fromBase64 gives the bytes as a text where they are one, else as they are.
func fromBase64(v any) (any, error) {
	encoded, ok := v.(string)
	if !ok {
		return nil, errNoText
	}
	decoded, err := base64.StdEncoding.DecodeString(encoded)
	if err != nil {
		return nil, errNoBase64
	}
	return textOrBytes(decoded), nil
}

func textOrBytes(b []byte) any {
	if utf8.Valid(b) {
		return string(b)
	}
	return b
}

func toBase64(v any) (any, error) {
	switch v := v.(type) {
	case string:
		return base64.StdEncoding.EncodeToString([]byte(v)), nil
	case []byte:
		return base64.StdEncoding.EncodeToString(v), nil
	}
	return nil, errNoText
}

func fromJSON(v any) (any, error) {
	encoded, ok := v.(string)
	if !ok {
		return nil, errNoText
	}
	decoded, err := Decode([]byte(encoded))
	if err != nil {
		return nil, errNotJSON
	}
	return decoded, nil
}

func toJSON(v any) (any, error) {
	data, err := Encode(v)
	if err != nil {
		return nil, errNoJSON
	}
	return string(data), nil
}
