package doctor

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
)

// Report is what was found.
type Report struct {
	Findings []Finding
}

// Count is the number of findings of a status.
func (r Report) Count(s Status) int {
	n := 0
	for _, f := range r.Findings {
		if f.Status == s {
			n++
		}
	}
	return n
}

// Status is that of the worst finding.
func (r Report) Status() Status {
	for _, s := range []Status{Failed, Warning} {
		if r.Count(s) > 0 {
			return s
		}
	}
	return OK
}

// WriteTable writes the report for people: a line for each finding, and below it
// what to do.
func (r Report) WriteTable(w io.Writer) error {
	width := 0
	for _, f := range r.Findings {
		width = max(width, len(f.Check))
	}
	var text strings.Builder
	for _, f := range r.Findings {
		fmt.Fprintf(&text, "%-7s  %-*s  %s\n", f.Status, width, f.Check, oneLine(f.Found))
		if f.Todo != "" {
			fmt.Fprintf(&text, "%-7s  %-*s  → %s\n", "", width, "", oneLine(f.Todo))
		}
	}
	fmt.Fprintf(&text, "\n%d in order, warnings: %d, failures: %d\n", r.Count(OK), r.Count(Warning), r.Count(Failed))
	_, err := io.WriteString(w, text.String())
	return err
}

// WriteJSON writes the report for programs.
func (r Report) WriteJSON(w io.Writer) error {
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(struct {
		Status   Status    `json:"status"`
		Findings []Finding `json:"findings"`
	}{r.Status(), r.Findings})
}

// oneLine keeps what others answered from breaking the table.
func oneLine(text string) string {
	return strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }), " ")
}

// size writes bytes for people.
func size(bytes int64) string {
	const step = 1024
	value, units := float64(bytes), []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	for len(units) > 1 && value >= step {
		value, units = value/step, units[1:]
	}
	if units[0] == "bytes" {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%.1f %s", value, units[0])
}
