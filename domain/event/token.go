package event

import (
	"bytes"
	"encoding/json"
	"iter"
	"net/url"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

// TokenInJSON finds the top-level member token of a JSON object; found is false
// when body is no JSON object or has none. The value is what stands between the
// quotes, or empty when that cannot be a token: overwriting finds a token only
// by its literal characters, so one written with escapes is none. Two members
// of that name are a fault.Invalid.
func TokenInJSON(body []byte) (value string, found bool, err error) {
	if !bytes.HasPrefix(bytes.TrimLeft(body, " \t\r\n"), []byte("{")) || !json.Valid(body) {
		return "", false, nil
	}
	for name, raw := range members(body) {
		if !isTokenName(name) {
			continue
		}
		if found {
			return "", true, errTwice()
		}
		found = true
		if len(raw) == secret.TokenLength+len(`""`) && raw[0] == '"' {
			value = string(raw[1 : len(raw)-1])
		}
	}
	return value, found, nil
}

// TokenInForm finds the field token of a body in the form of
// application/x-www-form-urlencoded, with the same rules: its name counts
// decoded, its value only as it stands.
func TokenInForm(body []byte) (value string, found bool, err error) {
	for pair := range bytes.SplitSeq(body, []byte("&")) {
		name, raw, _ := bytes.Cut(pair, []byte("="))
		if !isTokenField(name) {
			continue
		}
		if found {
			return "", true, errTwice()
		}
		found = true
		if len(raw) == secret.TokenLength {
			value = string(raw)
		}
	}
	return value, found, nil
}

func errTwice() error {
	return fault.New(fault.Invalid, "The body has more than one token.")
}

const tokenName = "token"

// isTokenName decodes a member's name only if it is written with escapes and
// short enough to be five of them.
func isTokenName(quoted []byte) bool {
	if string(quoted) == `"`+tokenName+`"` {
		return true
	}
	if len(quoted) > len(`""`)+len(tokenName)*len(`\u0000`) || bytes.IndexByte(quoted, '\\') < 0 {
		return false
	}
	var name string
	return json.Unmarshal(quoted, &name) == nil && name == tokenName
}

func isTokenField(escaped []byte) bool {
	if string(escaped) == tokenName {
		return true
	}
	if len(escaped) > len(tokenName)*len(`%00`) || bytes.IndexByte(escaped, '%') < 0 {
		return false
	}
	name, err := url.QueryUnescape(string(escaped))
	return err == nil && name == tokenName
}

// members goes through the quoted names and the values of an object, which is
// valid JSON. It allocates nothing, unlike a decoder.
func members(object []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(name, value []byte) bool) {
		rest := object[bytes.IndexByte(object, '{')+1:]
		for {
			start := bytes.IndexByte(rest, '"')
			if start < 0 {
				return // an empty object
			}
			rest = rest[start:]
			name := rest[:stringEnd(rest)]
			rest = rest[len(name):]
			rest = rest[bytes.IndexByte(rest, ':')+1:]
			value := rest[:valueEnd(rest)]
			if !yield(name, bytes.TrimSpace(value)) || rest[len(value)] == '}' {
				return
			}
			rest = rest[len(value)+1:]
		}
	}
}

// stringEnd is behind the closing quote of the string that b begins with.
func stringEnd(b []byte) int {
	for i := 1; ; i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
}

// valueEnd is at the comma or brace that ends a member's value.
func valueEnd(b []byte) int {
	depth := 0
	for i := 0; ; i++ {
		switch b[i] {
		case '"':
			i += stringEnd(b[i:]) - 1
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			depth--
		case ',':
			if depth == 0 {
				return i
			}
		}
	}
}
