package pipelines_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/fault"
	"hooklog/transport/pipelines"
)

var faultTable = []struct {
	name   string
	source string
	want   []string
}{
	{"an empty source", "", []string{"1:1: the source is empty"}},
	{"nothing but a comment", "# soon\n", []string{"1:1: the source is empty"}},
	{"a source that is no mapping", "- set\n", []string{"1:1: a pipeline must be a mapping"}},
	{"no YAML", "pipeline:\n  - set: {value: 1\n", []string{
		"2:1: this is no YAML: did not find expected ',' or '}'",
	}},
	{"two documents", "pipeline: [set: {value: 1}]\n---\npipeline: []\n", []string{
		"2:1: there is more than one document",
	}},
	{"no steps", "vars: {a: 1}", []string{
		"1:1: pipeline is missing: the list of steps",
	}},
	{"an empty list of steps", "pipeline: []", []string{
		"1:11: pipeline must be a list of steps",
	}},
	{"a word of the top that is unknown", "pipeline:\n  - set: {value: 1}\nname: x\nBody: 2", []string{
		`3:1: "name" is unknown here; there are headers, vars, pipeline and body`,
		`4:1: "Body" is unknown here; there are headers, vars, pipeline and body`,
	}},
	{"a key twice", "pipeline:\n  - set: {value: 1}\nvars:\n  a: 1\n  a: 2\n", []string{
		`5:3: "a" is given twice`,
	}},
	{"a key twice in a parameter", "pipeline:\n  - set: {value: {a: 1, a: 2}}\n", []string{
		`2:25: "a" is given twice`,
	}},
	{"a parameter twice", "pipeline:\n  - webhook.put:\n      payloadType: raw\n      payloadHandling: raw\n", []string{
		`4:7: "payloadType" is given twice`,
	}},
	{"an alias", "vars: {a: &x 1, b: *x}\npipeline: [set: {value: 1}]", []string{
		"1:11: anchors are not allowed",
		"1:20: aliases are not allowed",
	}},
	{"an unknown alias", "vars: {b: *x}\npipeline: [set: {value: 1}]", []string{
		"1:11: aliases are not allowed",
	}},
	{"a merge", "vars: {<<: {b: 1}}\npipeline: [set: {value: 1}]", []string{
		"1:8: merges (<<) are not allowed",
	}},
	{"a tag", "vars: {a: !!binary aGk=, b: !x 1}\npipeline: [set: {value: 1}]", []string{
		"1:11: the tag !!binary is not allowed",
		"1:29: the tag !x is not allowed",
	}},
	{"a key that is no text", "vars: {7: 1}\npipeline: [set: {value: {? [a] : 1, true: 2}}]", []string{
		"1:8: a key must be a text; write it in quotes",
		"2:28: a key must be a text; write it in quotes",
		"2:37: a key must be a text; write it in quotes",
	}},
	{"the name of a variable", "vars: {a-b: 1}\npipeline: [set: {value: 1}]", []string{
		"1:8: a variable is named by a letter and up to 63 letters, digits and underscores",
	}},
	{"a header that is no text", "headers: {a: 7, b: [x]}\npipeline: [set: {value: 1}]", []string{
		"1:14: a header must be a text",
		"1:20: a header must be a text",
	}},
	{"a step of another kind", "pipeline: [[set], 7]", []string{
		"1:12: a step must be the name of a command, or a mapping with one",
		`1:19: there is no step "7"`,
	}},
	{"a step without command", "pipeline:\n  - id: a\n    output: b\n", []string{
		"2:5: the step has no command",
	}},
	{"a step with two commands", "pipeline:\n  - set: {value: 1}\n    log: {message: a}\n", []string{
		`3:5: a step has one command; "log" is none of its options (id, if, output, onError)`,
	}},
	{"an unknown command, with its parameters", "pipeline:\n  - webhok.put: {a: \"${nope}\"}\n  - other", []string{
		`2:5: there is no step "webhok.put"`,
		"2:24: the expression is wrong: undeclared reference to 'nope'",
		`3:5: there is no step "other"`,
	}},
	{"an unknown parameter", "pipeline:\n  - webhook.put: {eventkey: webhook.a}\n", []string{
		`2:19: webhook.put has no parameter "eventkey"`,
	}},
	{"a parameter that is missing", "pipeline:\n  - webhook.delete\n  - webhook.delete: {}\n  - set:\n", []string{
		"2:5: webhook.delete needs the parameter uuid",
		"3:5: webhook.delete needs the parameter uuid",
		"4:5: set needs the parameter value",
	}},
	{"parameters that are no mapping", "pipeline:\n  - webhook.delete: 7\n", []string{
		"2:21: the parameters of webhook.delete must be a mapping",
	}},
	{"wrong types", "pipeline:\n  - webhook.put: {eventKey: 7, maxPayloadLength: \"7\", enabled: 1}\n  - event.send: {eventKey: [], extra: 1, share: x}\n  - webhook.put: {maxPayloadLength: 7.5, uuid: null}\n", []string{
		"2:29: eventKey must be a text",
		"2:50: maxPayloadLength must be a whole number",
		"2:64: enabled must be true or false",
		"3:28: eventKey must be a text",
		"3:39: extra must be an object",
		"3:49: share must be a number",
		"4:37: maxPayloadLength must be a whole number",
		"4:48: uuid must be a text",
	}},
	{"wrong types of expressions", "pipeline:\n  - webhook.put: {eventKey: \"${1+1}\", maxPayloadLength: \"${'a'}\", enabled: \"x${true}\"}\n  - event.send: {eventKey: \"${[1]}\", extra: [\"${1}\"], share: {a: \"${1}\"}}\n", []string{
		"2:32: eventKey must be a text",
		"2:60: maxPayloadLength must be a whole number",
		"2:76: enabled must be true or false",
		"3:31: eventKey must be a text",
		"3:45: extra must be an object",
		"3:62: share must be a number",
	}},
	{"a value outside of its list", "pipeline:\n  - webhook.put: {payloadType: Raw}\n", []string{
		"2:32: payloadType must be one of raw, base64, ignore",
	}},
	{"an expression in place of a literal", "pipeline:\n  - event.listen: {eventKey: \"webhook.${vars.x}\"}\n  - iam.run.as: {user: \"${vars.who}\"}\n", []string{
		"2:30: eventKey must stand here as it is, without ${…}",
		"3:24: user must stand here as it is, without ${…}",
	}},
	{"a pattern that is none", "pipeline:\n  - event.listen: {eventKey: webhook..a}\n", []string{
		"2:30: eventKey must consist of dot-separated groups of letters, digits, hyphens and underscores; * stands for one whole group, # for any number of them.",
	}},
	{"a user without name", "pipeline:\n  - iam.run.as: {user: ''}\n", []string{
		"2:24: user must not be empty",
	}},
	{"a listener that is not the first", "pipeline:\n  - log: {message: a}\n  - event.listen: {eventKey: webhook.a}\n  - message.receive: {key: svc.event.webhook.a}\n", []string{
		"3:5: event.listen must be the first step",
		"4:5: message.receive must be the first step",
	}},
	{"a listener with options", "pipeline:\n  - event.listen: {eventKey: webhook.a}\n    if: ${true}\n    output: a\n    onError: ignore\n", []string{
		"3:9: event.listen has no such option: it says what starts the pipeline",
		"4:13: event.listen has no result; the body goes on as it is",
		"5:14: event.listen has no such option: it says what starts the pipeline",
	}},
	{"an output of what has no result", "pipeline:\n  - log: {message: a}\n    output: a\n", []string{
		"3:13: log has no result; the body goes on as it is",
	}},
	{"ids", "pipeline:\n  - set: {value: 1}\n    id: a\n  - set: {value: 1}\n    id: a\n  - set: {value: 1}\n    id: 7\n", []string{
		"5:9: the id a is given twice",
		"7:9: id must be a letter and up to 63 letters, digits and underscores",
	}},
	{"conditions", "pipeline:\n  - log: {message: a}\n    if: body.x\n  - log: {message: a}\n    if: ${1}\n  - log: {message: a}\n    if: a${true}\n", []string{
		"3:9: if must be true or false",
		"5:11: if must be true or false",
		"7:9: if must be true or false",
	}},
	{"an onError that is unknown", "pipeline:\n  - log: {message: a}\n    onError: retry\n  - log: {message: a}\n    onError: {again: 1}\n", []string{
		"3:14: onError must be throw, ignore or {retry: {times: …, wait: …}}",
		"5:14: onError must be throw, ignore or {retry: {times: …, wait: …}}",
	}},
	{"a retry beyond its limits", "pipeline:\n  - log: {message: a}\n    onError: {retry: {times: 11, wait: 61}}\n  - log: {message: a}\n    onError: {retry: {times: 0, wait: -1, pause: 1}}\n  - log: {message: a}\n    onError: {retry: {wait: x}}\n", []string{
		"3:30: times must be a whole number from 1 to 10",
		"3:40: wait must be a number of seconds from 0 to 60",
		"5:30: times must be a whole number from 1 to 10",
		"5:39: wait must be a number of seconds from 0 to 60",
		`5:43: "pause" is unknown here; there are times and wait`,
		"7:22: retry needs times",
		"7:29: wait must be a number of seconds from 0 to 60",
	}},
	{"an expression without end", "pipeline:\n  - set: {value: \"a ${body.x\"}\n  - set: {value: \"${'}\"}\n", []string{
		"2:21: this ${ has no end; write $${ for the characters themselves",
		"3:19: this ${ has no end; write $${ for the characters themselves",
	}},
	{"an expression that does not parse", "pipeline:\n  - set: {value: \"sum ${1 + }\"}\n", []string{
		"2:29: the expression is wrong: Syntax error: mismatched input '<EOF>'",
	}},
	{"an expression with an unknown name", "pipeline:\n  - set:\n      value: \"ü ${ body.x + nope }\"\n", []string{
		"3:29: the expression is wrong: undeclared reference to 'nope'",
	}},
	{"an expression in a block", "pipeline:\n  - set:\n      value: |\n        a\n        ${nope}\n", []string{
		"3:14: the expression is wrong: undeclared reference to 'nope'",
	}},
	{"an expression with an unknown function", "body: ${exec('x')}\npipeline: [set: {value: '${body.x.foo()}'}]", []string{
		"1:13: the expression is wrong: undeclared reference to 'exec'",
		"2:38: the expression is wrong: undeclared reference to 'foo'",
	}},
	{"an expression of wrong types", "body: ${1 + 'a'}\npipeline: [set: {value: 1}]", []string{
		"1:11: the expression is wrong: found no matching overload for '_+_' applied to '(int, string)'",
	}},
	{"an expression that makes a message", "body: ${google.protobuf.Value{}}\npipeline: [set: {value: 1}]", []string{
		"1:9: the expression makes a message; only texts, numbers, lists and maps can be made",
	}},
	{"an expression that is too long", "body: ${" + strings.Repeat(" ", 4097) + "}\npipeline: [set: {value: 1}]", []string{
		"1:9: the expression has 4097 bytes; at most 4096 are allowed",
	}},
	{"numbers of other kinds", "vars: {a: 0x1f, b: 010, c: 1_000, d: 99999999999999999999, e: .nan, f: -.inf}\npipeline: [set: {value: 1}]", []string{
		"1:11: write the number with decimal digits and within 64 bits, or in quotes",
		"1:20: write the number with decimal digits and within 64 bits, or in quotes",
		"1:28: write the number with decimal digits and within 64 bits, or in quotes",
		"1:63: the number is none that JSON has",
		"1:72: the number is none that JSON has",
	}},
	{"invalid UTF-8", "pipeline: [set: {value: \"\xff\"}]", []string{
		"1:1: the source is no UTF-8",
	}},
	{"a NUL", "pipeline: [set: {value: \"\x00\"}]", []string{
		"1:1: the source holds a character that is not allowed (NUL)",
	}},
	{"JSON with a fault", `{"pipeline": [{"set": {"value": 1}}], "vars": {"a": }`, []string{
		"2:1: this is no YAML: did not find expected ',' or '}'",
	}},
}

// The texts are what authors read: each says where, and what to do.
func TestFaultsNameTheirPlace(t *testing.T) {
	for _, tt := range faultTable {
		t.Run(tt.name, func(t *testing.T) {
			_, err := pipelines.Compile([]byte(tt.source), service)
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("err %v", err)
			}
			got := strings.Split(err.Error(), "\n")[1:]
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("faults differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestNoMoreThanTwentyFaultsAreTold(t *testing.T) {
	_, err := pipelines.Compile([]byte("pipeline:\n"+strings.Repeat("  - nope\n", 23)), service)
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != 22 || lines[21] != "and 3 more" {
		t.Errorf("%d lines, the last is %q", len(lines), lines[len(lines)-1])
	}
}

func TestAFaultRepeatsLittleOfTheSource(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	for _, source := range []string{
		"pipeline: [" + long + "]", long + ": 1", "pipeline: [set: {" + long + ": 1}]", "body: ${" + long[:4000] + "}\npipeline: [set: {value: 1}]",
		"pipeline: [set: {value: !" + long + " 1}]", "pipeline: [set: {value: *" + long + "}]",
	} {
		if _, err := pipelines.Compile([]byte(source), service); len(err.Error()) > 600 {
			t.Errorf("the fault of %.30s… has %d bytes", source, len(err.Error()))
		}
	}
}

func TestWhatTheFoldMustKnow(t *testing.T) {
	tests := []struct {
		name   string
		source string
		events []string
		keys   []string
		users  []string
	}{
		{"a listener of events", "pipeline: [event.listen: {eventKey: 'webhook.*'}, iam.run.as: {user: stock}]", []string{"webhook.*"}, nil, []string{"stock"}},
		{"a listener of messages", "pipeline: [message.receive: {key: 'svc.event.#'}]", nil, []string{"svc.event.#"}, nil},
		{"no listener", "pipeline: [log: {message: a}]", nil, nil, nil},
		{"two users, each once", "pipeline: [iam.run.as: {user: b}, iam.run.as: {user: 'a:b'}, iam.run.as: {user: b}]", nil, nil, []string{"b", "a:b"}},
		{"in JSON", `{"pipeline":[{"event.listen":{"eventKey":"webhook.a"}},"convert.fromJson"]}`, []string{"webhook.a"}, nil, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := compile(t, tt.source)
			want, got := [][]string{tt.events, tt.keys, tt.users}, [][]string{p.EventKeys, p.MessageKeys, p.RunAs}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTheLanguageListsItsCommands(t *testing.T) {
	var names []string
	for _, c := range pipelines.Language() {
		names = append(names, c.Name)
	}
	want := "convert.fromBase64 convert.fromJson convert.toBase64 convert.toJson event.listen iam.run.as log message.receive set wait"
	if got := strings.Join(names, " "); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
