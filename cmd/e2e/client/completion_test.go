package client_test

import (
	"net"
	"slices"
	"strings"
	"testing"
	"time"
)

// complete asks a real bash what it would complete at the end of the line. What
// the package bash-completion brings is stood in for: words are split at spaces
// alone, as the script asks for.
const complete = `
compopt() { :; } # it works only while somebody types
_get_comp_words_by_ref() {
	while [[ $1 == -n ]]; do shift 2; done
	words=($COMP_LINE); [[ $COMP_LINE == *' ' ]] && words+=('')
	cword=$((${#words[@]} - 1)); cur=${words[cword]}; prev=${words[cword-1]}
}
source <(hooklog completion bash)
COMP_LINE=$LINE; COMP_POINT=${#LINE}; COMP_TYPE=9; COMP_KEY=9
COMP_WORDS=($LINE); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
__start_hooklog
printf '%s\n' "${COMPREPLY[@]}"
`

// completions are what bash offers, without the explanations beside them.
func (sh *shell) completions(line string) []string {
	sh.t.Helper()
	own := *sh
	own.env = append(slices.Clone(sh.env), "LINE="+line)
	e := own.bash(complete)
	if e.code != 0 || e.stderr != "" {
		sh.t.Errorf("%s: %d %s", line, e.code, e.stderr)
	}
	var words []string
	for each := range strings.Lines(e.stdout) {
		word, _, _ := strings.Cut(strings.TrimSpace(each), " ")
		if word != "" {
			words = append(words, word)
		}
	}
	return words
}

func TestBashCompletesWithNamesOfTheService(t *testing.T) {
	s := start(t)
	s.prepare()
	sh := s.asAdmin(t)
	for line, want := range map[string][]string{
		"hooklog webh":                                                 {"webhook"},
		"hooklog command webhook.":                                     {"webhook.delete", "webhook.get", "webhook.list", "webhook.put", "webhook.receive"},
		"hooklog command webhook.put e":                                {"enabled=", "eventKey="},
		"hooklog command webhook.put eventKey=webhook.a max":           {"maxPayloadLength="},
		"hooklog command webhook.put eventKey=webhook.a e":             {"enabled="},
		"hooklog command webhook.put eventKey=webhook.o":               {"webhook.orders"},
		"hooklog command webhook.put payloadType=":                     {"base64", "ignore", "raw"},
		"hooklog command webhook.put enabled=":                         {"false", "true"},
		"hooklog command run.get pipeline=":                            {"greet", "orders"},
		"hooklog command user.get username=al":                         {"alice"},
		"hooklog command policy.get name=s":                            {"shop"},
		"hooklog webhook url ":                                         {"webhook.orders", "webhook.quiet"},
		"hooklog webhook tail webhook.o":                               {"webhook.orders"},
		"hooklog trace webhook.":                                       {"webhook.orders", "webhook.quiet"},
		"hooklog listen webhook.q":                                     {"webhook.quiet"},
		"hooklog audit --webhook webhook.q":                            {"webhook.quiet"},
		"hooklog audit --command checkpoint.":                          {"checkpoint.get", "checkpoint.put"},
		"hooklog audit export --user al":                               {"alice"},
		"hooklog pipeline show g":                                      {"greet"},
		"hooklog user delete al":                                       {"alice"},
		"hooklog webhook list -o ":                                     {"json", "table", "yaml"},
		"hooklog webhook create webhook.new --payload-type r":          {"raw"},
		"hooklog client put shop-app ":                                 {"newSecret=", "public="},
		"hooklog command nothing.at.all ":                              nil,
		"hooklog webhook url webhook.orders webhook.":                  nil,
		"hooklog command webhook.put nothing=":                         nil,
		"hooklog run list --status e":                                  {"error"},
		"hooklog command pipeline.put name=orders body=@nothing-there": nil,
	} {
		t.Run(line, func(t *testing.T) {
			sh := *sh
			sh.t = t
			got := sh.completions(line)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("bash offers %q, want %q", got, want)
			}
		})
	}
}

func TestCompletionIsSilentAndShortWithoutAService(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = silent.Close() }() // it accepts, and never answers
	for name, sh := range map[string]*shell{
		"nothing is known":       newShell(t),
		"nobody listens":         newShell(t, "HOOKLOG_URL=http://127.0.0.1:1", "HOOKLOG_TOKEN=x"),
		"somebody never answers": newShell(t, "HOOKLOG_URL=http://"+silent.Addr().String(), "HOOKLOG_TOKEN=x"),
	} {
		t.Run(name, func(t *testing.T) {
			sh := *sh
			sh.t = t
			begun := time.Now()
			if got := sh.completions("hooklog webhook url web"); len(got) > 0 {
				t.Errorf("bash offers %q", got)
			}
			if took := time.Since(begun); took > 20*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestTheOtherShellsGetAScript(t *testing.T) {
	for shell, word := range map[string]string{"zsh": "#compdef hooklog", "fish": "complete -c hooklog", "powershell": "Register-ArgumentCompleter"} {
		if e := newShell(t).hooklog("completion", shell).want(0); !strings.Contains(e.stdout, word) {
			t.Errorf("%s: %.200s", shell, e.stdout)
		}
	}
}
