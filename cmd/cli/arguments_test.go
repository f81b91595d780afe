package cli_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a service that keeps what it was asked.
func recorder(t *testing.T) *url.Values {
	t.Helper()
	var asked url.Values
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		asked = r.PostForm
		_, _ = w.Write([]byte("{}"))
	}))
	t.Cleanup(server.Close)
	t.Setenv("HOOKLOG_URL", server.URL)
	t.Setenv("HOOKLOG_TOKEN", "x")
	t.Setenv("HOOKLOG_CONTEXTS", filepath.Join(t.TempDir(), "contexts.yaml"))
	return &asked
}

func TestArgumentsBecomeParameters(t *testing.T) {
	asked := recorder(t)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte("from a file\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for word, want := range map[string]string{
		"body=a=b=":             "a=b=",
		"body=":                 "",
		"body=@" + file:         "from a file\n",
		`body:="@text"`:         "@text",
		`body:={ "a" : [1, 2]}`: `{"a":[1,2]}`,
		"body:=1.50":            "1.50",
		"body:=null":            "null",
	} {
		t.Run(word, func(t *testing.T) {
			if code, _, stderr := run(t, "command", "pipeline.run", "name=x", word); code != 0 || asked.Get("body") != want {
				t.Errorf("%d %s: sent %q, want %q", code, stderr, asked.Get("body"), want)
			}
		})
	}
	for word, want := range map[string]string{
		"roles=a,b":              "a,b",
		`roles:=["a","b"]`:       "a,b",
		"roles:=[]":              "",
		"password=@" + file:      "from a file",
		`password:="in quotes "`: "in quotes ",
	} {
		t.Run(word, func(t *testing.T) {
			name := word[:strings.IndexAny(word, ":=")]
			if code, _, stderr := run(t, "command", "user.put", "username=x", word); code != 0 || asked.Get(name) != want {
				t.Errorf("%d %s: sent %q, want %q", code, stderr, asked.Get(name), want)
			}
		})
	}
}

func TestWrongArgumentsAreNotSent(t *testing.T) {
	asked := recorder(t)
	for _, words := range [][]string{
		{"user.put", "username=x", `roles:=["a,b"]`},
		{"user.put", "username=x", `roles:={"a":1}`},
		{"user.put", "username=x", "roles:=[1]"},
		{"user.put", "username=x", "roles:=null"},
		{"user.put", "username=x", "roles:=[null]"},
		{"user.put", "username=x", "username=y"},
		{"user.put", "=x"},
		{"user.put", ":=x"},
		{"user.put"},
		{"webhook.put", "payloadType=rew"},
		{"webhook.put", "maxPayloadLength=much"},
	} {
		if code, stdout, stderr := run(t, append([]string{"command"}, words...)...); code != 2 || stdout != "" || stderr == "" {
			t.Errorf("%q: %d %q %q", words, code, stdout, stderr)
		}
	}
	if *asked != nil {
		t.Errorf("the service was asked %v", *asked)
	}
}

func TestAnEmptyVariableIsNotSentForAName(t *testing.T) {
	asked := recorder(t)
	for _, words := range [][]string{
		{"user", "show", ""},
		{"pipeline", "show", ""},
		{"policy", "put", "", "roles=a"},
		{"run", "show", ""},
	} {
		if code, stdout, stderr := run(t, words...); code != 2 || stdout != "" || !strings.Contains(stderr, "empty") {
			t.Errorf("%q: %d %q %q", words, code, stdout, stderr)
		}
	}
	t.Setenv("HOOKLOG_TOKEN", "two\nlines")
	if code, _, stderr := run(t, "webhook", "list"); code != 2 || !strings.Contains(stderr, "HOOKLOG_TOKEN") || strings.Contains(stderr, "two") {
		t.Errorf("a token of two lines: %d %s", code, stderr)
	}
	if *asked != nil {
		t.Errorf("the service was asked %v", *asked)
	}
}
