package client_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// elsewhereShown are the verbs that ask no service: they run one, look at this
// machine or write scripts. Other suites have them.
var elsewhereShown = []string{
	"serve", "admin reset", "keys init", "rebuild", "doctor", "version",
	"completion bash", "completion zsh", "completion fish", "completion powershell",
}

// alone is the group that does something by itself.
const alone = "audit"

var (
	transcriptLine = regexp.MustCompile(`(?m)^(?:\$ hooklog (.*)|\[(\d)\])$`)
	formatGiven    = regexp.MustCompile(` -o (table|json|yaml)$`)
)

// inGoldens gives what the golden files show of each verb: the formats of what
// went well, "" where none was named, and "error".
func inGoldens(t *testing.T, names []string) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "*.golden"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	shown := map[string][]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var line string
		for _, found := range transcriptLine.FindAllStringSubmatch(string(text), -1) {
			if found[2] == "" {
				line = found[1]
				continue
			}
			sort := "error"
			if found[2] == "0" {
				sort = strings.TrimPrefix(formatGiven.FindString(line), " -o ")
			}
			name := verbOf(line, names)
			shown[name] = append(shown[name], sort)
		}
	}
	return shown
}

// verbOf is the verb that a line runs: the longest that it begins with.
func verbOf(line string, names []string) (verb string) {
	for _, name := range names {
		if strings.HasPrefix(line+" ", name+" ") && len(name) > len(verb) {
			verb = name
		}
	}
	return verb
}

func TestEveryVerbIsInTheGoldenFilesInEachFormatAndWithAnError(t *testing.T) {
	var names []string
	wanted := map[string][]string{}
	left := slices.Clone(elsewhereShown)
	for _, v := range newShell(t).verbs() {
		name := strings.Join(v.words, " ")
		names = append(names, name)
		if i := slices.Index(left, name); i >= 0 {
			left = slices.Delete(left, i, i+1)
			continue
		}
		if v.isGroup && name != alone {
			continue
		}
		wanted[name] = []string{"error"}
		for _, format := range []string{"table", "json", "yaml"} {
			if strings.Contains(v.formats, format) {
				wanted[name] = append(wanted[name], format)
			}
		}
		if v.formats == "" {
			wanted[name] = append(wanted[name], "")
		}
	}
	shown := inGoldens(t, names)
	for name, sorts := range wanted {
		for _, sort := range sorts {
			if !slices.Contains(shown[name], sort) {
				t.Errorf("no golden file has hooklog %s: %q; there is %q", name, sort, shown[name])
			}
		}
	}
	if len(left) > 0 {
		t.Errorf("there are no such verbs any more: %q", left)
	}
	if len(wanted) < 60 {
		t.Errorf("only %d verbs were found", len(wanted))
	}
}
