package output

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf16"
)

// write shows data as it is, but for what could steer a terminal: there it is
// written in the way of JSON and YAML, which have such characters in texts only.
func (p Printer) write(text string) error {
	if IsTerminal(p.Out) {
		text = harmless(text)
	}
	_, err := io.WriteString(p.Out, text)
	return err
}

func harmless(text string) string {
	var b strings.Builder
	for _, r := range text { // what is no UTF-8 comes as U+FFFD
		switch {
		case r == '\n' || r == '\t' || !steers(r):
			b.WriteRune(r)
		default:
			for _, unit := range utf16.Encode([]rune{r}) {
				fmt.Fprintf(&b, `\u%04x`, unit)
			}
		}
	}
	return b.String()
}
