package output_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"hooklog/cmd/cli/output"
)

// shown gives what an answer looks like, and what is told beside it.
func shown(t *testing.T, format, answer string, columns ...string) (data, told string) {
	t.Helper()
	var out, errs bytes.Buffer
	p := output.Printer{Out: &out, Err: &errs, Format: format, Color: output.Never}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	if err := p.Value(json.RawMessage(answer), columns...); err != nil {
		t.Fatal(err)
	}
	return out.String(), errs.String()
}

func TestTables(t *testing.T) {
	for name, tc := range map[string]struct {
		answer     string
		columns    []string
		want, told string
	}{
		"a list has a row for each entry, and columns in the order of appearance": {
			answer: `[{"eventKey":"a","n":1},{"eventKey":"longer ü","enabled":true}]`,
			want:   "EVENT KEY  N  ENABLED\na          1  -\nlonger ü   -  true\n",
		},
		"chosen columns come in their order": {
			answer: `{"items":[{"a":1,"b":[1,"x"],"c":{"d":2}}]}`, columns: []string{"c", "b"},
			want: "C      B\n{d=2}  1,x\n",
		},
		"a page that is not the last says so": {
			answer: `{"items":[{"a":1}],"next":"abc"}`,
			want:   "A\n1\n", told: "hooklog: there are more: cursor=abc\n",
		},
		"an empty list is told beside the data":   {answer: `[]`, told: "hooklog: there are none\n"},
		"a list of plain values has no head":      {answer: `["a","b"]`, want: "a\nb\n"},
		"one record stands upright":               {answer: `{"a":1,"bc":null,"d":[]}`, want: "a   1\nbc  -\nd   -\n"},
		"one record with chosen columns":          {answer: `{"a":1,"b":2}`, columns: []string{"b", "last6"}, want: "b  2\n"},
		"a plain value stands alone":              {answer: `"text"`, want: "text\n"},
		"numbers keep their digits":               {answer: `{"n":12345678901234567890.10}`, want: "n  12345678901234567890.10\n"},
		"tokens are not in lists, their end is":   {answer: `[{"uuid":"0f0f0f0f-0f0f-4f0f-8f0f-0f0f0fabcdef","webhookUrl":"http://x?token=y","secret":"z"}]`, want: "LAST6\nabcdef\n"},
		"what could steer a terminal is visible":  {answer: `{"error":"\u001b[2J\u009bX\u202e\nnext\tcol"}`, want: `error  \u001b[2J\u009bX\u202e\nnext col` + "\n"},
		"what could steer it in a name, too":      {answer: `{"v":{"\u001b[2J":1}}`, want: `v  {\u001b[2J=1}` + "\n"},
		"and in that of a member":                 {answer: `{"\u001b[2J":1}`, want: `\u001b[2J  1` + "\n"},
		"and in that of a column":                 {answer: `[{"\u001b[2J":1}]`, want: `\u001b[2 J` + "\n1\n"},
		"a single record of a command shows all":  {answer: `{"uuid":"0f","secret":"z"}`, want: "uuid    0f\nsecret  z\n"},
		"rows that are no records do not disturb": {answer: `[1,{"a":2}]`, want: "A\n-\n2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			data, told := shown(t, output.Table, tc.answer, tc.columns...)
			if data != tc.want || told != tc.told {
				t.Errorf("\n%s%s\nwant\n%s%s", data, told, tc.want, tc.told)
			}
		})
	}
}

func TestJSONIsTheAnswerAsItCame(t *testing.T) {
	if data, _ := shown(t, output.JSON, `{"b":1.50,"a":"<&>","c":[]}`); data != "{\n  \"b\": 1.50,\n  \"a\": \"<&>\",\n  \"c\": []\n}\n" {
		t.Errorf("%s", data)
	}
}

func TestYAMLMeansTheSameAsTheJSON(t *testing.T) {
	data, _ := shown(t, output.YAML, `{"b":1.50,"a":"true","n":"123456","m":"one\ntwo\n","e":"\ud83d\ude00","z":null,"l":[1,"*"]}`)
	want := "b: 1.50\na: \"true\"\nn: \"123456\"\nm: |\n  one\n  two\ne: \"\\U0001F600\"\nz: null\nl:\n  - 1\n  - '*'\n"
	if data != want {
		t.Errorf("\n%s\nwant\n%s", data, want)
	}
}

func TestColoursShowHowThingsEnded(t *testing.T) {
	var out bytes.Buffer
	p := output.Printer{Out: &out, Err: &out, Format: output.Table, Color: output.Always}
	if err := p.Value(json.RawMessage(`[{"status":"ok"},{"status":"error"},{"status":"processing"}]`)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"\x1b[32mok\x1b[0m", "\x1b[31merror\x1b[0m", "\x1b[33mprocessing\x1b[0m"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q has no %q", out.String(), want)
		}
	}
}

func TestUnknownFormatsAreRefused(t *testing.T) {
	for _, p := range []output.Printer{{Format: "xml", Color: output.Auto}, {Color: "sometimes"}} {
		if p.Check() == nil {
			t.Errorf("%s, %s was taken", p.Format, p.Color)
		}
	}
}
