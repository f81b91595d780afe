package output

import "strings"

// style is a way to write a text on a terminal, as its escape sequence.
type style string

const (
	plain  style = ""
	bold   style = "\x1b[1m"
	green  style = "\x1b[32m"
	yellow style = "\x1b[33m"
	red    style = "\x1b[31m"
	reset  style = "\x1b[0m"
)

// styleOf colours what people look for first: how something ended.
func styleOf(column, text string) style {
	switch column {
	case "status", "outcome":
		switch text {
		case "ok":
			return green
		case "processing":
			return yellow
		default:
			return red
		}
	case "answer":
		if strings.HasPrefix(text, "2") {
			return green
		}
		return red
	case "enabled":
		if text == "false" {
			return yellow
		}
	}
	return plain
}

func (p Printer) paint(s style, text string) string {
	if s == plain || text == "" || !p.coloured() {
		return text
	}
	return string(s) + text + string(reset)
}
