package output

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// secrets are the columns that tables of many rows never have: who needs one
// asks for it by name.
var secrets = []string{"uuid", "webhookUrl", "secret", "body"}

// between stands between columns.
const between = "  "

// table shows a list with a row for each entry, and anything else with a line
// for each member.
func (p Printer) table(tree *yaml.Node, columns []string) error {
	rows := tree
	if items := member(tree, "items"); items != nil {
		rows = items
	}
	switch {
	case rows.Kind == yaml.SequenceNode:
		if err := p.list(rows.Content, columns); err != nil {
			return err
		}
		if next := member(tree, "next"); next != nil && next.Value != "" {
			p.Message("there are more: cursor=%s", next.Value)
		}
		return nil
	case tree.Kind == yaml.MappingNode:
		return p.record(tree, columns)
	default:
		_, err := fmt.Fprintln(p.Out, cell(tree))
		return err
	}
}

func (p Printer) list(rows []*yaml.Node, columns []string) error {
	if len(rows) == 0 {
		p.Message("there are none")
		return nil
	}
	if len(columns) == 0 {
		columns = columnsOf(rows)
	}
	if len(columns) == 0 { // a list of plain values
		for _, row := range rows {
			if _, err := fmt.Fprintln(p.Out, cell(row)); err != nil {
				return err
			}
		}
		return nil
	}
	lines := [][]string{make([]string, len(columns))}
	for i, name := range columns {
		lines[0][i] = Visible(heading(name))
	}
	for _, row := range rows {
		line := make([]string, len(columns))
		for i, name := range columns {
			line[i] = cell(column(row, name))
		}
		lines = append(lines, line)
	}
	return p.align(lines, func(row, col int, text string) style {
		if row == 0 {
			return bold
		}
		return styleOf(columns[col], text)
	})
}

// record shows one object upright. Columns, where they are given, leave out the
// others.
func (p Printer) record(tree *yaml.Node, columns []string) error {
	var names []string
	var lines [][]string
	for i := 0; i+1 < len(tree.Content); i += 2 {
		name := tree.Content[i].Value
		if len(columns) > 0 && !slices.Contains(columns, name) {
			continue
		}
		names = append(names, name)
		lines = append(lines, []string{Visible(name), cell(tree.Content[i+1])})
	}
	return p.align(lines, func(row, col int, text string) style {
		if col == 0 {
			return bold
		}
		return styleOf(names[row], text)
	})
}

// align writes lines whose cells stand below each other.
func (p Printer) align(lines [][]string, styled func(row, col int, text string) style) error {
	var widths []int
	for _, line := range lines {
		for col, text := range line {
			if col == len(widths) {
				widths = append(widths, 0)
			}
			widths[col] = max(widths[col], utf8.RuneCountInString(text))
		}
	}
	var b strings.Builder
	for row, line := range lines {
		shown := ""
		for col, text := range line {
			pad := ""
			if col < len(line)-1 {
				pad = strings.Repeat(" ", widths[col]-utf8.RuneCountInString(text)) + between
			}
			shown += p.paint(styled(row, col, text), text) + pad
		}
		b.WriteString(strings.TrimRight(shown, " ") + "\n")
	}
	_, err := fmt.Fprint(p.Out, b.String())
	return err
}

// columnsOf are the plain members of the rows in the order in which they appear.
func columnsOf(rows []*yaml.Node) []string {
	var columns []string
	for _, row := range rows {
		if row.Kind != yaml.MappingNode {
			continue
		}
		for i := 0; i+1 < len(row.Content); i += 2 {
			name, value := row.Content[i].Value, row.Content[i+1]
			if name == "uuid" {
				name = "last6"
			}
			if !slices.Contains(secrets, name) && !slices.Contains(columns, name) && value.Kind != yaml.MappingNode {
				columns = append(columns, name)
			}
		}
	}
	return columns
}

// column is a member of a row. Of a token, its end is what people may see.
func column(row *yaml.Node, name string) *yaml.Node {
	if found := member(row, name); found != nil || name != "last6" {
		return found
	}
	if token := member(row, "uuid"); token != nil && len(token.Value) > 6 {
		return scalar("!!str", token.Value[len(token.Value)-6:])
	}
	return nil
}

// heading is the name of a column in words: eventKey is EVENT KEY.
func heading(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(unicode.ToUpper(r))
	}
	return b.String()
}

// cell is a value on one line. What could steer a terminal is made visible:
// anybody who calls a webhook may have written it.
func cell(n *yaml.Node) string {
	if n == nil || n.Tag == "!!null" || (n.Kind != yaml.ScalarNode && len(n.Content) == 0) {
		return "-"
	}
	switch n.Kind {
	case yaml.SequenceNode:
		entries := make([]string, len(n.Content))
		for i, entry := range n.Content {
			entries[i] = cell(entry)
		}
		return strings.Join(entries, ",")
	case yaml.MappingNode:
		members := make([]string, 0, len(n.Content)/2)
		for i := 0; i+1 < len(n.Content); i += 2 {
			members = append(members, Visible(n.Content[i].Value)+"="+cell(n.Content[i+1]))
		}
		return "{" + strings.Join(members, " ") + "}"
	}
	return Visible(n.Value)
}

// Visible is a text that others may have written, on one line and without what
// could steer a terminal.
func Visible(text string) string {
	if !strings.ContainsFunc(text, steers) {
		return text
	}
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteByte(' ')
		case steers(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// steers reports a control character, or one that turns the direction of text.
func steers(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) }
