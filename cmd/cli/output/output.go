// Package output shows what the service answered: as a table for people, as
// JSON or YAML for programs. Data goes to one writer and nothing else does;
// messages and progress are for the other. It knows no command and no secret
// but the names of those columns that lists do without.
package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/term"
)

// The formats, and when to use colour.
const (
	Table = "table"
	JSON  = "json"
	YAML  = "yaml"

	Auto   = "auto"
	Always = "always"
	Never  = "never"
)

// Formats and Colors are the values of the flags.
var (
	Formats = []string{Table, JSON, YAML}
	Colors  = []string{Auto, Always, Never}
)

// Printer shows answers and messages.
type Printer struct {
	Out, Err io.Writer
	// Format is one of Formats; empty means a table on a terminal and JSON
	// elsewhere, because what is piped is read by a program.
	Format string
	// Color is one of Colors. Auto means a terminal, unless NO_COLOR is set.
	Color string
}

// Check refuses what is no format and no way of colouring.
func (p Printer) Check() error {
	if p.Format != "" && !slices.Contains(Formats, p.Format) {
		return fmt.Errorf("output must be one of %s", strings.Join(Formats, ", "))
	}
	if !slices.Contains(Colors, p.Color) {
		return fmt.Errorf("color must be one of %s", strings.Join(Colors, ", "))
	}
	return nil
}

// Value shows one answer. The columns are those of its table, in their order;
// none means all that it has.
func (p Printer) Value(answer json.RawMessage, columns ...string) error {
	switch p.format() {
	case JSON:
		var b bytes.Buffer
		if err := json.Indent(&b, answer, "", "  "); err != nil {
			return err
		}
		b.WriteByte('\n')
		return p.write(b.String())
	case YAML:
		tree, err := parse(answer)
		if err != nil {
			return err
		}
		var b strings.Builder
		encoder := yaml.NewEncoder(&b)
		encoder.SetIndent(2)
		if err := errors.Join(encoder.Encode(tree), encoder.Close()); err != nil {
			return err
		}
		return p.write(b.String())
	default:
		tree, err := parse(answer)
		if err != nil {
			return err
		}
		return p.table(tree, columns)
	}
}

// Line shows one value of a stream, on one line unless it is YAML.
func (p Printer) Line(value json.RawMessage) error {
	if p.format() == YAML {
		if _, err := io.WriteString(p.Out, "---\n"); err != nil {
			return err
		}
		return p.Value(value)
	}
	return p.write(string(value) + "\n")
}

// Text shows what is a text and nothing else, such as a URL or a pipeline. In
// the other formats it is a value as any.
func (p Printer) Text(answer json.RawMessage, text string) error {
	if !p.ForPeople() {
		return p.Value(answer)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return p.write(text)
}

// Message tells people something beside the data.
func (p Printer) Message(format string, args ...any) {
	_, _ = fmt.Fprintf(p.Err, "hooklog: %s\n", Visible(fmt.Sprintf(format, args...)))
}

// ForPeople reports that tables are shown, and not data for programs.
func (p Printer) ForPeople() bool { return p.format() == Table }

func (p Printer) format() string {
	switch {
	case p.Format != "":
		return p.Format
	case IsTerminal(p.Out):
		return Table
	default:
		return JSON
	}
}

func (p Printer) coloured() bool {
	switch p.Color {
	case Always:
		return true
	case Never:
		return false
	}
	return os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && IsTerminal(p.Out)
}

// IsTerminal reports that a person sees what is written there, or types what is
// read there.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}
