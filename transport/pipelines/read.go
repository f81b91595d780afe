package pipelines

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// reader reads a source as YAML, of which JSON is a part, and takes only what
// means the same to every reader: no anchors, aliases, merges, tags of one's own
// and keys that come twice.
type reader struct {
	faults
	lines []string
}

// read gives the one document of a source, or nil with a fault.
func (r *reader) read(source []byte) *yaml.Node {
	start := place{1, 1}
	switch {
	case len(source) > MaxSource:
		r.add(start, "the source has %d bytes; at most %d are allowed", len(source), MaxSource)
		return nil
	case !utf8.Valid(source):
		r.add(start, "the source is no UTF-8")
		return nil
	case bytes.IndexByte(source, 0) >= 0:
		r.add(start, "the source holds a character that is not allowed (NUL)")
		return nil
	}
	r.lines = strings.Split(string(source), "\n")
	var document, further yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(source))
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		r.add(start, "the source is empty")
		return nil
	} else if err != nil {
		r.addYAML(err)
		return nil
	}
	if err := decoder.Decode(&further); err == nil {
		r.add(at(&further), "there is more than one document")
	} else if !errors.Is(err, io.EOF) {
		r.addYAML(err)
	}
	root := document.Content[0]
	r.check(root, 0)
	return root
}

func at(n *yaml.Node) place { return place{n.Line, n.Column} }

var (
	yamlError   = regexp.MustCompile(`^yaml: (?:line (\d+): )?(.*)`)
	looseAlias  = regexp.MustCompile(`^unknown anchor '(.*)' referenced`)
	parserFault = "did not find expected"
)

// addYAML tells what the parser said. It knows the line, for some faults that of
// what is not ended, counted from 0; the column it does not know.
func (r *reader) addYAML(err error) {
	m := yamlError.FindStringSubmatch(err.Error())
	if m == nil {
		r.add(place{1, 1}, "this is no YAML")
		return
	}
	line, _ := strconv.Atoi(m[1])
	if strings.HasPrefix(m[2], parserFault) {
		line++
	}
	if alias := looseAlias.FindStringSubmatch(m[2]); alias != nil {
		r.add(r.find("*"+alias[1]), "aliases are not allowed")
		return
	}
	r.add(place{max(1, line), 1}, "this is no YAML: %s", shown(m[2]))
}

// find is where a text stands first.
func (r *reader) find(text string) place {
	for i, line := range r.lines {
		if before, _, ok := strings.Cut(line, text); ok {
			return place{i + 1, 1 + utf8.RuneCountInString(before)}
		}
	}
	return place{1, 1}
}

// tags are what a value may be. A date is the text that it is written as.
var tags = map[string]bool{
	"!!str": true, "!!int": true, "!!float": true, "!!bool": true, "!!null": true, "!!timestamp": true, "!!seq": true, "!!map": true,
}

// check finds what no source may have, whatever it stands for.
func (r *reader) check(n *yaml.Node, depth int) {
	switch {
	case depth > maxDepth:
		r.add(at(n), "this is nested deeper than %d levels", maxDepth)
		return
	case n.Kind == yaml.AliasNode:
		r.add(at(n), "aliases are not allowed")
		return
	case n.Anchor != "":
		r.add(at(n), "anchors are not allowed")
	case !tags[n.ShortTag()] && n.ShortTag() != "!!merge":
		r.add(at(n), "the tag %s is not allowed", shown(n.ShortTag()))
	}
	if n.Kind == yaml.MappingNode {
		r.checkKeys(n)
	}
	for _, child := range n.Content {
		r.check(child, depth+1)
	}
}

func (r *reader) checkKeys(n *yaml.Node) {
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		key := n.Content[i]
		switch {
		case key.ShortTag() == "!!merge":
			r.add(at(key), "merges (<<) are not allowed")
		case key.Kind != yaml.ScalarNode || key.ShortTag() != "!!str":
			r.add(at(key), "a key must be a text; write it in quotes")
		case seen[key.Value]:
			r.add(at(key), "%q is given twice", shown(key.Value))
		}
		seen[key.Value] = true
	}
}

// scalarAt tells the places inside of a scalar, where its value stands in the
// source as it is; else it only knows where the scalar begins.
type scalarAt struct {
	place
	value string // empty: not as it is
}

func (r *reader) scalarAt(n *yaml.Node) scalarAt {
	begin := n.Column - 1
	if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
		begin++
	}
	if n.Line > len(r.lines) {
		return scalarAt{place: at(n)}
	}
	line := r.lines[n.Line-1]
	if !strings.HasPrefix(line[offsetOf(line, 1, begin):], n.Value) {
		return scalarAt{place: at(n)}
	}
	return scalarAt{place{n.Line, begin + 1}, n.Value}
}

// offset is the place of a byte of the value.
func (s scalarAt) offset(bytes int) place {
	if s.value == "" {
		return s.place
	}
	return place{s.line, s.column + utf8.RuneCountInString(s.value[:bytes])}
}

// offsetOf turns the line (from 1) and column (from 0, in characters) of an
// expression into an offset in bytes.
func offsetOf(source string, line, column int) int {
	offset := 0
	for ; line > 1; line-- {
		end := strings.IndexByte(source[offset:], '\n')
		if end < 0 {
			return offset
		}
		offset += end + 1
	}
	for i := range source[offset:] {
		if column == 0 {
			return offset + i
		}
		column--
	}
	return len(source)
}
