package pipelines

import "strings"

// part is a piece of a text: plain words, or the inside of a ${…}.
type part struct {
	text       string
	expression bool
	offset     int // of the text, in bytes
}

// split cuts a text into its parts; $${ stands for the characters ${. It is
// false with the offset of a ${ that has no end.
func split(s string) (parts []part, unclosed int, ok bool) {
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			parts = append(parts, part{text: plain.String()})
			plain.Reset()
		}
	}
	for i := 0; i < len(s); {
		switch {
		case strings.HasPrefix(s[i:], "$${"):
			plain.WriteString("${")
			i += len("$${")
		case strings.HasPrefix(s[i:], "${"):
			inside := i + len("${")
			length := expressionLength(s[inside:])
			if length < 0 {
				return nil, i, false
			}
			flush()
			parts = append(parts, part{s[inside : inside+length], true, inside})
			i = inside + length + len("}")
		default:
			plain.WriteByte(s[i])
			i++
		}
	}
	flush()
	return parts, 0, true
}

// expressionLength is where the brace stands that ends an expression, or -1. The
// expression may hold braces of its own, and any in its texts and comments.
func expressionLength(s string) int {
	open := 0
	for i := 0; i < len(s); {
		switch c := s[i]; {
		case c == '"' || c == '\'':
			length := quotedLength(s[i:], i > 0 && (s[i-1] == 'r' || s[i-1] == 'R'))
			if length < 0 {
				return -1
			}
			i += length
			continue
		case strings.HasPrefix(s[i:], "//"):
			end := strings.IndexByte(s[i:], '\n')
			if end < 0 {
				return -1
			}
			i += end
		case c == '{':
			open++
		case c == '}' && open == 0:
			return i
		case c == '}':
			open--
		}
		i++
	}
	return -1
}

// quotedLength is the length of the text that s begins with, or -1. In a raw
// text a backslash is a letter.
func quotedLength(s string, raw bool) int {
	quote := s[:1]
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(s, triple) {
		quote = triple
	}
	for i := len(quote); i < len(s); i++ {
		switch {
		case s[i] == '\\' && !raw:
			i++
		case strings.HasPrefix(s[i:], quote):
			return i + len(quote)
		}
	}
	return -1
}
