package output

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Field is a cell of a line that is shown before the next one is known.
type Field struct {
	Column, Text string
	// Width is the room that texts of its kind need.
	Width int
}

// Follow shows one value of a stream: for people its fields, on a terminal cut
// where its line ends.
func (p Printer) Follow(value json.RawMessage, fields ...Field) error {
	if !p.ForPeople() {
		return p.Line(value)
	}
	var b strings.Builder
	used := 0
	for i, f := range fields {
		text, pad := Visible(f.Text), ""
		if i < len(fields)-1 {
			pad = strings.Repeat(" ", max(0, f.Width-utf8.RuneCountInString(text))) + between
		} else if IsTerminal(p.Out) {
			text = cut(text, p.width()-used)
		}
		used += utf8.RuneCountInString(text + pad)
		b.WriteString(p.paint(styleOf(f.Column, text), text) + pad)
	}
	_, err := fmt.Fprintln(p.Out, b.String())
	return err
}

// cut shortens a text to the room that it has.
func cut(text string, room int) string {
	runes := []rune(text)
	if len(runes) <= room {
		return text
	}
	return string(runes[:max(0, room-1)]) + "…"
}
