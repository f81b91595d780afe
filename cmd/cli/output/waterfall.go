package output

import (
	"fmt"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/term"
)

const (
	// plainWidth is how wide lines are where no terminal tells.
	plainWidth = 80
	// narrowest is the least room that bars get, however narrow a terminal is.
	narrowest = 10
)

// Span is something that took its time, beside others.
type Span struct {
	Name   string
	Status string // empty where it has none
	Begin  time.Time
	// End is zero for a moment, and for what has not ended.
	End time.Time
}

// Waterfall shows spans below each other: when each began, counted from the
// first, how long it took, and a bar of both, scaled to the width.
func (p Printer) Waterfall(spans []Span) error {
	var first, last time.Time
	for _, s := range spans {
		if first.IsZero() || s.Begin.Before(first) {
			first = s.Begin
		}
		for _, t := range []time.Time{s.Begin, s.End} {
			if t.After(last) {
				last = t
			}
		}
	}
	columns := []string{"stage", "status", "start", "time", ""}
	lines := [][]string{{"STAGE", "STATUS", "START", "TIME", ""}}
	for _, s := range spans {
		took := "-"
		if !s.End.IsZero() {
			took = milliseconds(s.End.Sub(s.Begin))
		}
		lines = append(lines, []string{Visible(s.Name), or(s.Status, "-"), milliseconds(s.Begin.Sub(first)), took, ""})
	}
	room := max(narrowest, p.width()-widthOf(lines))
	for i, s := range spans {
		lines[i+1][4] = bar(s, first, last.Sub(first), room)
	}
	return p.align(lines, func(row, col int, text string) style {
		switch {
		case row == 0:
			return bold
		case col == 4:
			return styleOf("status", or(spans[row-1].Status, "ok"))
		case text == "-":
			return plain
		}
		return styleOf(columns[col], text)
	})
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(max(0, d))/float64(time.Millisecond))
}

// bar is at least one sign long, and ends within the room.
func bar(s Span, first time.Time, whole time.Duration, room int) string {
	if whole <= 0 {
		return "|"
	}
	at := func(t time.Time) int { return int(int64(room-1) * int64(t.Sub(first)) / int64(whole)) }
	if s.End.IsZero() {
		return strings.Repeat(" ", at(s.Begin)) + "|"
	}
	return strings.Repeat(" ", at(s.Begin)) + strings.Repeat("=", max(1, at(s.End)-at(s.Begin)+1))
}

// widthOf is what the columns take, with what is between them.
func widthOf(lines [][]string) int {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, text := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	sum := len(between) * (len(widths) - 1)
	for _, width := range widths {
		sum += width
	}
	return sum
}

// width is that of the terminal.
func (p Printer) width() int {
	if file, ok := p.Out.(*os.File); ok {
		if width, _, err := term.GetSize(int(file.Fd())); err == nil && width > 0 {
			return width
		}
	}
	return plainWidth
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}
