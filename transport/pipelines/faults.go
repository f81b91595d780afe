package pipelines

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"hooklog/domain/fault"
)

// place is where something stands in a source; line and column count from 1,
// the column in characters.
type place struct {
	line, column int
}

func (p place) String() string { return fmt.Sprintf("%d:%d", p.line, p.column) }

type faultAt struct {
	place
	text string
}

// faults are all that was found wrong with a source.
type faults struct {
	list []faultAt
}

func (f *faults) add(at place, format string, args ...any) {
	f.list = append(f.list, faultAt{at, fmt.Sprintf(format, args...)})
}

// err tells them in the order of the source, one in a line, each once.
func (f *faults) err() error {
	if len(f.list) == 0 {
		return nil
	}
	slices.SortStableFunc(f.list, func(a, b faultAt) int {
		return cmp.Or(cmp.Compare(a.line, b.line), cmp.Compare(a.column, b.column), strings.Compare(a.text, b.text))
	})
	list := slices.Compact(f.list)
	lines := make([]string, 0, maxFaults+1)
	for i, one := range list {
		if i == maxFaults {
			lines = append(lines, fmt.Sprintf("and %d more", len(list)-maxFaults))
			break
		}
		lines = append(lines, one.String()+": "+one.text)
	}
	return fault.New(fault.Invalid, "The pipeline cannot be taken:\n%s", strings.Join(lines, "\n"))
}

// maxShown is how much of a source is repeated in a fault.
const maxShown = 120

// shown is a part of a source as it may stand in a fault: short, on one line.
func shown(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "�"))
	if len(s) <= maxShown {
		return s
	}
	return strings.ToValidUTF8(s[:maxShown], "") + "…"
}
