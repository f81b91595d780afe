package client_test

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"hooklog/cmd/app"
	"hooklog/cmd/settings"
)

// elsewhere are the lines of examples that need other machines or programs, or
// that start a service, which other suites do.
var elsewhere = []string{
	"hooklog serve # try it on this machine",
	"hooklog serve",
	"hooklog serve --brokers kafka:9092 --key-ring ring",
	"hooklog serve --embedded-listen 127.0.0.1:9092",
	"hooklog serve --brokers one:9092,two:9092,three:9092 --broker-tls --key-ring /etc/hooklog/ring --listen :8080 --base-url https://hooks.example.org",
	"hooklog doctor --brokers one:9092,two:9092,three:9092 --broker-tls --key-ring /etc/hooklog/ring",
	"hooklog verify --data-dir copy --key checkpoint.pub --checkpoint https://vault.example.org/hooklog",
	"hooklog verify --brokers kafka:9092 --key checkpoint.pub --call-retention 720h",
	"hooklog login --url https://hooks.example.org --issuer https://id.example.org --client-id hooklog-cli",
	"hooklog listen webhook.orders --forward http://127.0.0.1:3000/hooks --from-start",
}

// endless are the lines that somebody ends with Ctrl-C. None of them sends anything
// to a program, because no call comes meanwhile.
var endless = []string{
	"hooklog webhook tail webhook.orders",
	"hooklog listen webhook.orders --forward http://127.0.0.1:3000/hooks",
}

// leaves finds in a line what would reach beyond the folder and this machine: a
// path from the root, a host, a service that stays. Such a line is never run.
var leaves = regexp.MustCompile(`[ =@]/|~|\.\./|https?://|:\d{4}|\bserve\b`)

var (
	listedVerb   = regexp.MustCompile(`(?m)^  ([a-z][a-zA-Z.]*) +[A-Z]`)
	exampleBlock = regexp.MustCompile(`(?ms)^Examples:\n(.*?)(?:\n\n\S|\z)`)
	continued    = regexp.MustCompile(`\\\n\s*`)
	outputFlag   = regexp.MustCompile(`(?m)^ +-o, --output string +(.*)$`)
)

// verb is a verb with the lines of its examples, and what its help says of -o.
type verb struct {
	words    []string
	examples []string
	formats  string
	isGroup  bool
}

// verbs reads the help of a verb and of all below it.
func (sh *shell) verbs(words ...string) []verb {
	sh.t.Helper()
	help := sh.hooklog(append(slices.Clone(words), "--help")...).want(0).stdout
	v := verb{words: words}
	if found := exampleBlock.FindStringSubmatch(help); found != nil {
		for line := range strings.Lines(continued.ReplaceAllString(found[1], "")) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				v.examples = append(v.examples, line)
			}
		}
	}
	if found := outputFlag.FindStringSubmatch(help); found != nil {
		v.formats = found[1]
	}
	_, below, _ := strings.Cut(help, "\nExamples:\n")
	below, v.isGroup = strings.CutSuffix(strings.TrimSpace(below), "--help\" for more information about a command.")
	all := []verb{v}
	if !v.isGroup {
		return all
	}
	_, below, _ = strings.Cut(below, "\n\n") // behind the examples
	below, _, _ = strings.Cut(below, "\nFlags:\n")
	for _, found := range listedVerb.FindAllStringSubmatch(below, -1) {
		if found[1] != "help" {
			all = append(all, sh.verbs(append(slices.Clone(words), found[1])...)...)
		}
	}
	return all
}

// folder fills the working folder of an example with the files that it names.
func (sh *shell) folder(w world) {
	sh.t.Helper()
	sh.write("order.json", `{"order":1}`)
	sh.write("orders.yaml", ordersPipeline)
	sh.write("password.txt", adminPassword+"\n")
	sh.write("checkpoint.pub", w.publicKey+"\n")
	sh.write("receipt.json", w.receipt)
	sh.env = append(sh.env, "UUID="+w.uuid, "CORRELATION_ID="+w.correlationID)
}

// stopped makes the data folder of a service that does not run.
func stopped(t *testing.T, folder string) {
	t.Helper()
	cfg := settings.Default()
	cfg.Listen, cfg.OpsListen, cfg.DataDir = "127.0.0.1:0", "", folder
	once, err := app.Start(t.Context(), cfg, app.Deps{Log: slog.New(slog.DiscardHandler), Out: io.Discard, Now: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := once.Stop(ctx); err != nil {
		t.Fatal(err)
	}
}

func TestEveryVerbHasExamplesAndEachOfThemWorks(t *testing.T) {
	s := start(t)
	ran, left := 0, slices.Clone(elsewhere)
	for _, v := range newShell(t).verbs() {
		name := "hooklog " + strings.Join(v.words, " ")
		t.Run(name, func(t *testing.T) {
			if len(v.examples) == 0 {
				t.Fatal("the help has no example")
			}
			if !strings.Contains(strings.Join(v.examples, "\n"), name) {
				t.Errorf("no example is of %s", name)
			}
			// The examples of a group are those of its verbs.
			var lines []string
			for _, line := range v.examples {
				if i := slices.Index(elsewhere, spaces.ReplaceAllString(line, " ")); i >= 0 {
					left = slices.DeleteFunc(left, func(l string) bool { return l == elsewhere[i] })
					continue
				}
				if slices.Contains(endless, line) {
					lines = append(lines, "timeout --preserve-status --signal INT 1 "+line)
					continue
				}
				if leaves.MatchString(beforeComment(line)) {
					t.Fatalf("not run, because it would leave the folder or the machine: %s", line)
				}
				lines = append(lines, line)
			}
			if len(lines) == 0 {
				return
			}
			sh := s.asAdmin(t)
			sh.folder(s.prepare())
			if slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, "hooklog-data") }) {
				stopped(t, filepath.Join(sh.dir, "hooklog-data"))
			}
			if len(v.words) > 0 && slices.Contains([]string{"context", "logout"}, v.words[0]) {
				sh.fed(adminPassword, "login", "--user", "alice", "--context", "local").want(0)
			}
			for _, line := range lines {
				if e := sh.run(adminPassword+"\n", "bash", "-euo", "pipefail", "-c", line); e.code != 0 {
					t.Errorf("$ %s\n%s%s[%d]", line, e.stdout, e.stderr, e.code)
				}
				ran++
			}
		})
	}
	if len(left) > 0 {
		t.Errorf("no help has these lines any more: %q", left)
	}
	if ran < 60 {
		t.Errorf("only %d lines were run", ran)
	}
}

var spaces = regexp.MustCompile(` +`)

func beforeComment(line string) string {
	line, _, _ = strings.Cut(line, "  #")
	return line
}

func TestNoExampleIsRunThatWouldLeaveItsFolder(t *testing.T) {
	for _, line := range append(slices.Clone(elsewhere),
		"hooklog keys init /etc/ring", "hooklog command pipeline.put name=a body=@/etc/a", "hooklog keys init ../ring",
		"hooklog completion zsh > ~/.zfunc/_hooklog", "hooklog login --url http://hooks --user alice") {
		if !leaves.MatchString(line) {
			t.Errorf("this would be run: %s", line)
		}
	}
}
