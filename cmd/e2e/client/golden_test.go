package client_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// differing are the things that differ from run to run, with a sign for each.
var differing = []struct {
	pattern *regexp.Regexp
	sign    string
}{
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "<url>"},
	{regexp.MustCompile(`127\.0\.0\.1:\d+`), "<host>"},
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "<id>"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z`), "<time>"},
	{regexp.MustCompile(`\b[0-9a-f]{6}:[a-z2-7]{10}\b`), "<trace>"},
	{regexp.MustCompile(`(last6"?: ?|last6 |webhook\.\S+ +)"?[0-9a-f]{6}\b"?`), "$1<last6>"},
	{regexp.MustCompile(`(version"?:? +)\d+`), "$1<n>"},
	{regexp.MustCompile(`(offset"?[:=] ?)\d+`), "$1<n>"},
	{regexp.MustCompile(`(svc\.[a-z]+ {2,}0 +)\d+`), "$1<n>"},
	{regexp.MustCompile(`(more: cursor=|next"?: "?)[A-Za-z0-9_=-]+`), "$1<cursor>"},
	{regexp.MustCompile(`\d+(\.\d)? ms`), "<n> ms"},
	{regexp.MustCompile(`(milliseconds"?: ?|begun"?: 0,?\s+"?size"?: |begun=0 size=)\d+`), "$1<n>"},
	{regexp.MustCompile(`hooklog-[0-9a-f]{8}`), "hooklog-<log>"},
	{regexp.MustCompile(`(svc\.[a-z]+ 0) \d+([ ,][A-Za-z0-9+/]{43}=)+`), "$1 <tree>"},
	{regexp.MustCompile(`[A-Za-z0-9+/_-]{43,}=*`), "<hash>"},
}

// bar is how long something took; its column is as wide as those before it leave.
var bar = regexp.MustCompile(`(?m)( ms| -) +(=+|\|)$`)

// gap is what stands between columns; its width depends on what differs.
var gap = regexp.MustCompile(` {2,}`)

// transcript is a run as the golden files have it.
func (sh *shell) transcript(words ...string) string {
	sh.t.Helper()
	e := sh.hooklog(words...)
	for line := range strings.Lines(e.stderr) {
		if !strings.HasPrefix(line, "hooklog: ") {
			sh.t.Errorf("%q: the standard error has %q", words, line)
		}
	}
	if strings.HasPrefix(e.stdout, "hooklog: ") || e.code != 0 && e.stdout != "" {
		sh.t.Errorf("%q: the standard output has %q", words, e.stdout)
	}
	return told(words, e)
}

// told is a run that has ended, without what differs from run to run.
func told(words []string, e ended) string {
	shown := fmt.Sprintf("$ hooklog %s\n%s%s[%d]\n\n", strings.Join(words, " "), e.stdout, e.stderr, e.code)
	for _, d := range differing {
		shown = d.pattern.ReplaceAllString(shown, d.sign)
	}
	if slices.Contains(words, "table") {
		shown = bar.ReplaceAllString(shown, "$1  <bar>")
		shown = gap.ReplaceAllString(shown, "  ")
	}
	return shown
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".golden")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs\n got:\n%s\nwant:\n%s", path, got, want)
	}
}

func TestRefusalsWrongUsageAndSilenceAreToldInOneLineEach(t *testing.T) {
	s := start(t)
	s.prepare()
	sh := s.asAdmin(t)
	sh.write("wrong.yaml", "pipeline:\n  - nothing.known\n")
	var b strings.Builder
	for _, words := range [][]string{
		{"command", "webhook.put", "evntKey=webhook.a"},
		{"command", "webhook.put", "nothing=1"},
		{"command", "webhook.put", "0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f=1"},
		{"command", "webhook.put", "eventKey"},
		{"command", "webhook.put", "enabled:=yes", "eventKey=webhook.a"},
		{"command", "webhook.put", "enabled=yes", "eventKey=webhook.a"},
		{"command", "webhook.put", "eventKey=@missing"},
		{"command", "webhook.delete"},
		{"command", "webhook.pt"},
		{"command", "webhook.put", "eventKey=webhook.orders"},
		{"command", "webhook.put", "eventKey=Webhook"},
		{"command", "webhook.get", "uuid=0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f"},
		{"webhook", "url", "webhook.order"},
		{"webhook", "list", "-o", "xml"},
		{"webhook", "list", "--context", "nowhere"},
		{"pipeline", "show", "nothing"},
		{"pipeline", "check", "-f", "wrong.yaml"},
		{"pipeline", "apply", "-f", "wrong.yaml"},
		{"result", "get", "0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f"},
		{"result", "wait", "0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f"},
		{"command", "webhook.receive", "token=0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f"},
		{"user", "put", "bob"},
		{"user", "delete", "admin"},
	} {
		b.WriteString(sh.transcript(words...))
	}
	b.WriteString(s.asNobody(t).transcript("webhook", "list"))
	wrong := newShell(t, "HOOKLOG_URL="+s.url, "HOOKLOG_USER=nobody", "HOOKLOG_PASSWORD=wrong")
	b.WriteString(wrong.transcript("webhook", "list"))
	half := newShell(t, "HOOKLOG_URL="+s.url, "HOOKLOG_PASSWORD=wrong")
	b.WriteString(half.transcript("webhook", "list"))
	b.WriteString(newShell(t, "HOOKLOG_URL="+s.url).transcript("webhook", "list"))
	b.WriteString(newShell(t).transcript("webhook", "list"))
	golden(t, "refusals", b.String())
}
