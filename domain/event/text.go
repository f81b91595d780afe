package event

import "unicode/utf8"

// escapeGrowth is by how many bytes a byte grows inside a JSON string.
var escapeGrowth = func() (t [256]uint8) {
	for c := range ' ' {
		t[c] = uint8(len(`\u0000`) - 1)
	}
	for _, c := range "\"\\\n\r\t" {
		t[c] = 1
	}
	return t
}()

// appendEscaped appends s, which is valid UTF-8, as the inside of a JSON
// string. Only what JSON demands is escaped. The short forms \b and \f are not
// used, because their letters could be the first of a token and an overwritten
// token would then break the escape; four hexadecimal digits stand that.
func appendEscaped[T string | []byte](dst []byte, s T) []byte {
	const hex = "0123456789abcdef"
	start := 0
	for i := range len(s) {
		c := s[i]
		if escapeGrowth[c] == 0 {
			continue
		}
		dst = append(dst, s[start:i]...)
		start = i + 1
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&0xf])
		}
	}
	return append(dst, s[start:]...)
}

// escapedLen is the number of bytes that appendEscaped appends.
func escapedLen[T string | []byte](s T) int {
	n := len(s)
	for i := range len(s) {
		n += int(escapeGrowth[s[i]])
	}
	return n
}

// textSize is room enough for message.text, as if no byte beyond ASCII were
// valid.
func textSize(s string) int {
	n := escapedLen(s)
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			n += len("\uFFFD") - 1
		}
	}
	return n
}

// validText replaces each byte that is no UTF-8 by U+FFFD, like encoding/json.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return string([]rune(s))
}

// isPlainText reports UTF-8 without control characters but tab, LF and CR.
func isPlainText(b []byte) bool {
	if !utf8.Valid(b) {
		return false
	}
	for i, c := range b {
		switch {
		case c < ' ' && c != '\t' && c != '\n' && c != '\r', c == 0x7f:
			return false
		case c == 0xc2 && b[i+1] < 0xa0: // U+0080 to U+009F
			return false
		}
	}
	return true
}

// isPrintable reports printable ASCII.
func isPrintable(s string) bool {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// compareFold compares as strings.Compare does the ASCII lower case of both.
func compareFold(a, b string) int {
	for i := range min(len(a), len(b)) {
		if x, y := lowerByte(a[i]), lowerByte(b[i]); x != y {
			return int(x) - int(y)
		}
	}
	return len(a) - len(b)
}

func lower(b []byte) {
	for i, c := range b {
		b[i] = lowerByte(c)
	}
}

func lowerByte(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}
