package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestImportsPointOneWay(t *testing.T) {
	broken, files, err := checkRules(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range broken {
		t.Error(rule)
	}
	if files < 20 {
		t.Errorf("only %d files were read", files)
	}
}

// soundTree is a small project that breaks no rule, and comes near to each.
var soundTree = map[string]string{
	".gitignore":                       "# built\n/out/\n",
	".cache/tool/tool.go":              "package tool\nimport _ \"hooklog/nowhere\"",
	"out/main.go":                      "package main",
	"deploy/chart.yaml":                "",
	"cmd/app/app.go":                   goFile("hooklog/transport/kafka", "hooklog/projections/store", "hooklog/domain/call", "os"),
	"transport/kafka/kafka.go":         goFile("hooklog/transport/kafka/embedded", "context"),
	"transport/kafka/embedded/e.go":    goFile("hooklog/domain/record"),
	"transport/httpapi/httpapi.go":     goFile("hooklog/transport/auth/realm", "hooklog/transport/commands", "net/http"),
	"transport/auth/auth.go":           goFile("hooklog/transport/keyring", "hooklog/transport/telemetry", "crypto/rand"),
	"projections/results/results.go":   goFile("hooklog/projections/store", "github.com/cockroachdb/pebble/v2"),
	"domain/call/call.go":              goFile("hooklog/domain/record", "time", "net/url", "net/netip", "github.com/google/uuid"),
	"domain/call/call_test.go":         goFile("os", "context", "pgregory.net/rapid"),
	"domain/call/testdata/anything.go": goFile("hooklog/cmd/app"),
	"domain/event/event.go":            "package event\nimport \"time\"\nfunc f(at time.Time) time.Time { return at.Add(time.Second) }",
}

func goFile(imports ...string) string {
	return "package p\nimport (\n_ \"" + strings.Join(imports, "\"\n_ \"") + "\"\n)\n"
}

func TestTheImportRulesFindWhatIsPlanted(t *testing.T) {
	if broken := plantAndCheck(t, "", ""); len(broken) != 0 {
		t.Fatalf("the sound tree breaks rules:\n%s", strings.Join(broken, "\n"))
	}
	for name, planted := range map[string]struct{ file, text, want string }{
		"domain imports transport":                {"domain/call/x.go", goFile("hooklog/transport/auth"), "domain never imports transport"},
		"domain imports projections":              {"domain/call/x.go", goFile("hooklog/projections/store"), "domain never imports projections"},
		"domain imports cmd, in a test":           {"domain/call/x_test.go", goFile("hooklog/cmd/app"), "domain never imports cmd"},
		"transport imports projections":           {"transport/auth/x.go", goFile("hooklog/projections/store"), "transport never imports projections"},
		"transport imports cmd":                   {"transport/auth/x.go", goFile("hooklog/cmd/settings"), "transport never imports cmd"},
		"projections import transport":            {"projections/store/x.go", goFile("hooklog/transport/keyring"), "projections never imports transport"},
		"projections import transport, in a test": {"projections/store/x_test.go", goFile("hooklog/transport/kafka"), "projections never imports transport"},
		"projections import cmd":                  {"projections/store/x.go", goFile("hooklog/cmd/app"), "projections never imports cmd"},
		"a room imports the log":                  {"transport/commands/x.go", goFile("hooklog/transport/kafka"), "only cmd imports transport/kafka"},
		"a room imports the embedded broker":      {"transport/httpapi/x.go", goFile("hooklog/transport/kafka/embedded"), "only cmd imports transport/kafka"},
		"a room imports one that is not shared":   {"transport/portal/x.go", goFile("hooklog/transport/httpapi"), "rooms of transport share only"},
		"a shared room imports one that is not":   {"transport/auth/x.go", goFile("hooklog/transport/pipelines"), "rooms of transport share only"},
		"domain imports a library":                {"domain/call/x.go", goFile("golang.org/x/sync/errgroup"), "domain knows the standard library"},
		"domain imports context":                  {"domain/call/x.go", goFile("context"), "imports context"},
		"domain imports crypto/rand":              {"domain/call/x.go", goFile("crypto/rand"), "imports crypto/rand"},
		"domain imports math/rand":                {"domain/call/x.go", goFile("math/rand"), "imports math/rand"},
		"domain imports math/rand/v2":             {"domain/call/x.go", goFile("math/rand/v2"), "imports math/rand/v2"},
		"domain imports net":                      {"domain/call/x.go", goFile("net"), "imports net:"},
		"domain imports net/http":                 {"domain/call/x.go", goFile("net/http"), "imports net/http"},
		"domain imports os":                       {"domain/call/x.go", goFile("os"), "imports os:"},
		"domain imports os/exec":                  {"domain/call/x.go", goFile("os/exec"), "imports os/exec"},
		"domain imports io/fs":                    {"domain/call/x.go", goFile("io/fs"), "imports io/fs"},
		"domain imports database/sql":             {"domain/call/x.go", goFile("database/sql"), "imports database/sql"},
		"domain hides a package behind a dot":     {"domain/call/x.go", "package p\nimport . \"time\"\nvar _ = Now", "nothing as a dot"},
		"domain asks the clock":                   {"domain/call/x.go", "package p\nimport \"time\"\nvar _ = time.Now()", "uses time.Now"},
		"domain asks the clock since":             {"domain/call/x.go", "package p\nimport \"time\"\nvar _ = time.Since(time.Time{})", "uses time.Since"},
		"domain asks the clock by another name":   {"domain/call/x.go", "package p\nimport t \"time\"\nvar clock = t.Now", "uses time.Now"},
		"domain makes an id":                      {"domain/call/x.go", "package p\nimport \"github.com/google/uuid\"\nvar _ = uuid.New()", "uses uuid.New"},
		"domain prints":                           {"domain/call/x.go", "package p\nimport \"fmt\"\nfunc init() { fmt.Println() }", "uses fmt.Println"},
		"a further top-level folder":              {"pkg/x.go", "package p", "pkg: is no folder of the top level"},
	} {
		t.Run(name, func(t *testing.T) {
			broken := plantAndCheck(t, planted.file, planted.text)
			if len(broken) != 1 || !strings.Contains(broken[0], planted.want) ||
				!strings.HasPrefix(broken[0], strings.Split(planted.file, "/")[0]) {
				t.Errorf("found %q, want %q", broken, planted.want)
			}
		})
	}
}

func TestTheImportRulesMissAHouse(t *testing.T) {
	broken, _, err := checkRules(t.TempDir())
	if err != nil || len(broken) != len(houses) {
		t.Errorf("an empty folder gives %q, %v", broken, err)
	}
}

// plantAndCheck checks the sound tree with one more file.
func plantAndCheck(t *testing.T, file, text string) []string {
	t.Helper()
	root := t.TempDir()
	write := func(name, text string) {
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range soundTree {
		write(name, text)
	}
	if file != "" {
		write(file, text)
	}
	broken, _, err := checkRules(root)
	if err != nil {
		t.Fatal(err)
	}
	return broken
}
