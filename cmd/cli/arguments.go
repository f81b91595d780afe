package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"hooklog/cmd/cli/output"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
)

// maxFile bounds what a file may give; the service takes less.
const maxFile = 16 << 20

// input is where values come from that are not on the command line. What stands
// there can be read once.
type input struct {
	cmd  *cobra.Command
	read bool
}

// arguments turns the words of the command line into the parameters of a
// command: key=value, key=@file, key=@- for the standard input, and key:=json.
// The service's own rules are checked here too, before anything is sent.
func arguments(cmd *cobra.Command, c catalog.Command, words []string) (url.Values, error) {
	in := &input{cmd: cmd}
	params := url.Values{}
	given := make([]catalog.Given, 0, len(words))
	for _, word := range words {
		name, value, ok := strings.Cut(word, "=")
		name, isJSON := strings.CutSuffix(name, ":")
		if !ok {
			return nil, errUsage{errors.New("write parameters as key=value, key=@file or key:=json")}
		}
		p, known := parameter(c, name)
		if !known {
			return nil, errUsage{unknownParameter(c, name)}
		}
		var err error
		switch {
		case isJSON:
			value, err = fromJSON(p, value)
		case strings.HasPrefix(value, "@"):
			value, err = in.value(p, value[1:])
		}
		if err != nil {
			return nil, errUsage{fmt.Errorf("%s: %w", name, err)}
		}
		given = append(given, catalog.Given{Name: name, Value: value, Source: catalog.Body})
		params.Add(name, value)
	}
	if _, err := c.Bind(given); err != nil {
		return nil, errUsage{fmt.Errorf("%s See hooklog command %s --help.", fault.From(err).Detail, c.Name)} //nolint:staticcheck,revive // it follows a sentence
	}
	return params, nil
}

func parameter(c catalog.Command, name string) (catalog.Param, bool) {
	for _, p := range c.Params {
		if name != "" && (p.Name == name || p.Alias == name) {
			return p, true
		}
	}
	return catalog.Param{}, false
}

// unknownParameter does not repeat what is longer than any name: it may be a
// secret in the wrong place.
func unknownParameter(c catalog.Command, name string) error {
	names := make([]string, len(c.Params))
	longest := 0
	for i, p := range c.Params {
		names[i] = p.Name
		longest = max(longest, len(p.Name)+4)
	}
	if len(name) > longest {
		return fmt.Errorf("%s has no such parameter; it has %s", c.Name, list(names))
	}
	if meant := near(name, names); len(meant) > 0 {
		return fmt.Errorf("%s has no parameter %q; did you mean %s?", c.Name, name, strings.Join(meant, " or "))
	}
	return fmt.Errorf("%s has no parameter %q; it has %s", c.Name, name, list(names))
}

func list(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// value reads a file, or the standard input where the path is a hyphen. A
// password is asked for when that is a terminal.
func (in *input) value(p catalog.Param, path string) (string, error) {
	if path == "-" && p.Type == catalog.Password && output.IsTerminal(in.cmd.InOrStdin()) {
		return askTwice(in.cmd)
	}
	content, err := in.content(path)
	if err != nil {
		return "", err
	}
	if p.Type == catalog.Password {
		return strings.TrimRight(string(content), "\r\n"), nil
	}
	return string(content), nil
}

func (in *input) content(path string) ([]byte, error) {
	var from io.Reader
	if path == "-" {
		if in.read {
			return nil, errors.New("the standard input can be read only once")
		}
		in.read, from = true, in.cmd.InOrStdin()
	} else {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		from = file
	}
	content, err := io.ReadAll(io.LimitReader(from, maxFile+1))
	if err == nil && len(content) > maxFile {
		err = fmt.Errorf("it is longer than %d bytes", maxFile)
	}
	return content, err
}

// fromJSON gives a JSON value as the parameter is sent: a text without its
// quotes, a list of texts with commas, anything else as it is written.
func fromJSON(p catalog.Param, text string) (string, error) {
	malformed := errors.New("behind := stands JSON, such as true, 5, \"text\" or [\"a\",\"b\"]")
	var compact bytes.Buffer
	if json.Compact(&compact, []byte(text)) != nil {
		return "", malformed
	}
	var s string
	if json.Unmarshal(compact.Bytes(), &s) == nil && compact.Bytes()[0] == '"' {
		return s, nil
	}
	if p.Type != catalog.List {
		return compact.String(), nil
	}
	var entries []*string // null is no text
	if json.Unmarshal(compact.Bytes(), &entries) != nil || entries == nil || slices.Contains(entries, nil) {
		return "", errors.New("write a list of texts, such as [\"a\",\"b\"]")
	}
	texts := make([]string, len(entries))
	for i, entry := range entries {
		if texts[i] = *entry; strings.Contains(texts[i], ",") {
			return "", errors.New("an entry of the list must not have a comma")
		}
	}
	return strings.Join(texts, ","), nil
}
