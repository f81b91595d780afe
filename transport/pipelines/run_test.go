package pipelines_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/pipelines"
)

func TestResults(t *testing.T) {
	tests := []struct {
		name   string
		source string
		body   string
		want   string
	}{
		{"the body goes through what passes it on", "pipeline: [event.listen: {eventKey: a}, log: {message: x}, wait: {seconds: 0}, iam.run.as: {user: u}]", `{"a":1}`, `{"a":1}`},
		{"a result is the body of the next step", "pipeline: [set: {value: 1}, set: {value: '${body + 1}'}]", `null`, `2`},
		{"an output leaves the body as it is", "pipeline:\n  - set: {value: 7}\n    output: seven\n  - set: {value: ['${vars.seven}', '${body}']}", `"b"`, `[7,"b"]`},
		{"the body at the end is the result", "pipeline: [set: {value: 1}]\nbody: {sum: '${body + 1}'}", `null`, `{"sum":2}`},
		{"also when it is null", "pipeline: [set: {value: 1}]\nbody: null", `null`, `null`},
		{"a whole expression keeps its type", "pipeline: [set: {value: ['${1}', '${1.5}', '${true}', '${null}', '${\"a\"}', '${[1]}', '${{\"a\": 1}}']}]", `null`, `[1,1.5,true,null,"a",[1],{"a":1}]`},
		{"among words it becomes text", "pipeline: [set: {value: 'a ${1} ${1.5} ${true} ${null} ${\"b\"} ${[1]} ${{\"a\": \"<\"}}'}]", `null`, `"a 1 1.5 true null b [1] {\"a\":\"<\"}"`},
		{"two expressions are a text", "pipeline: [set: {value: '${1}${2}'}]", `null`, `"12"`},
		{"an outer space makes a text", "pipeline: [set: {value: '${1} '}]", `null`, `"1 "`},
		{"an escaped one stands for itself", "pipeline: [set: {value: ['$${body}', 'a $${b} ${1}', '$', '$$', '{}', '$${']}]", `null`, `["${body}","a ${b} 1","$","$$","{}","${"]`},
		{"braces and quotes inside", `pipeline: [set: {value: "${ {'}': '{', \"b\": r'\\'}['}'] + '''}''' } // ${body}"}]`, `1`, `"{} // 1"`},
		{"what comes in is never looked through", "pipeline: [set: {value: '${body.text}'}, set: {value: '${body} ${body}'}]", `{"text":"${1+1} $${x}"}`, `"${1+1} $${x} ${1+1} $${x}"`},
		{"a key is no template", "pipeline: [set: {value: {'${body}': 1}}]", `1`, `{"${body}":1}`},
		{"numbers stay as they are written", "pipeline: [set: {value: {all: '${body}', part: '${body.list}'}}]", `{"list":[1.10,12345678901234567890123,1e2]}`, `{"all":{"list":[1.10,12345678901234567890123,1e2]},"part":[1.10,12345678901234567890123,1e2]}`},
		{"and are numbers to compute with", "pipeline: [set: {value: ['${body[0] + 1}', '${body[0] == 2.0}', '${body[1] * 2.0}', '${body[2]}', '${body[0] < body[1]}']}]", `[2,2.5,18446744073709551615]`, `[3,true,5,18446744073709551615,true]`},
		{"texts are not escaped without need", "pipeline: [set: {value: '<a&b>${body}'}]", `"\u003c"`, `"<a&b><"`},
		{"a date is a text", "pipeline: [set: {value: 2026-03-02}]", `null`, `"2026-03-02"`},
		{"times are texts", "pipeline: [set: {value: ['${timestamp(body)}', '${duration(\"90s\")}']}]", `"2026-03-02T08:00:00Z"`, `["2026-03-02T08:00:00Z","90s"]`},
		{"a step is left out when its condition does not hold", "pipeline:\n  - set: {value: 1}\n    if: ${body > 5}\n  - set: {value: '${body + 1}'}\n    if: ${body < 5}\n  - set: {value: 0}\n    if: false", `4`, `5`},
		{"headers and vars of the source", "headers: {Tenant: '${headers.Tenant}-2', tenant: lower}\nvars: {a: '${headers.tenant}', b: '${vars.a}!', c: {d: [1]}}\npipeline: [set: {value: ['${headers.Tenant}', '${headers[\"tenant\"]}', '${vars.b}', '${vars.c.d[0]}', '${vars.given}']}]", `null`, `["north-2","lower","lower!",1,"by the run"]`},
		{"header keys are case-sensitive", "pipeline: [set: {value: ['${\"tenant\" in headers}', '${\"Tenant\" in headers}', '${has(headers.TENANT)}']}]", `null`, `[false,true,false]`},
		{"the source says over the run", "headers: {Tenant: south}\nvars: {given: by the source}\npipeline: [set: {value: '${headers.Tenant} ${vars.given}'}]", `null`, `"south by the source"`},
		{"lists are worked on", "pipeline: [set: {value: '${body.filter(x, x.n > 1).map(x, {\"id\": x.n})}'}]", `[{"n":1},{"n":2},{"n":3}]`, `[{"id":2},{"id":3}]`},
		{"lists are put together", "pipeline: [set: {value: '${body + [3] + body}'}]", `[1.0]`, `[1,3,1]`},
		{"a list that is worked on is compared with its parts", "pipeline: [set: {value: ['${body == [1, {\"a\": [2]}]}', '${body != [1]}', '${1 in body}', '${\"a\" in body[1]}', '${3 in body}']}]", `[1,{"a":[2]}]`, `[true,true,true,true,false]`},
		{"base64 to text", "pipeline: [convert.fromBase64: {value: '${body.payload.origin}'}]", `{"payload":{"origin":"aMO8IQ=="}}`, `"hü!"`},
		{"base64 to bytes, and back", "pipeline:\n  - convert.fromBase64\n    \n  - set: {value: ['${body}', '${size(body)}', '${convert.toBase64(body)}', 'x${body}']}", `"/wA="`, `["/wA=",2,"/wA=","x/wA="]`},
		{"to base64", "pipeline: [convert.toBase64: {value: '${body}'}]", `"hü!"`, `"aMO8IQ=="`},
		{"from JSON", "pipeline: [convert.fromJson]", `"{\"a\":[1.50]}"`, `{"a":[1.50]}`},
		{"to JSON", "pipeline: [convert.toJson: {value: {a: '${body}'}}]", `"<"`, `"{\"a\":\"<\"}"`},
		{"conversions in an expression", "pipeline: [set: {value: '${convert.fromJson(convert.fromBase64(body)).a + 1}'}]", `"eyJhIjoxfQ=="`, `2`},
		{"and back", "pipeline: [set: {value: '${convert.toBase64(convert.toJson(body))}'}]", `{"a":1}`, `"eyJhIjoxfQ=="`},
		{"a command gives its result", "pipeline: [webhook.put: {eventKey: '${body}', payloadHandling: raw, maxPayloadLength: '${5}', enabled: true}]", `"webhook.a"`, `{"enabled":true,"eventKey":"webhook.a","maxPayloadLength":5,"payloadType":"raw"}`},
		{"JSON is YAML", `{"pipeline": [{"set": {"value": {"a": "${body}"}}, "if": true}], "body": "${body.a}"}`, `7`, `7`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, err := compile(t, tt.source).Run(t.Context(), aRun(t, tt.body), &steps{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, string(out.Value)); diff != "" {
				t.Errorf("value differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFailures(t *testing.T) {
	tests := []struct {
		name   string
		source string
		want   string
		kind   fault.Kind
	}{
		{"a key that is not there", "pipeline:\n  - log: {message: a}\n  - set: {value: '${body.missing}'}\n    id: second", "Step second (set) at 3:5: 3:21: the expression fails: there is no missing", fault.Invalid},
		{"a key that the payload names is not told", "pipeline: [set: {value: '${vars[body.secret]}'}]", "Step 1 (set) at 1:12: 1:28: the expression fails: there is no such key", fault.Invalid},
		{"a value is not told", "pipeline: [set: {value: '${int(body.secret)}'}]", "Step 1 (set) at 1:12: 1:28: the expression fails", fault.Invalid},
		{"an operation that there is not", "pipeline: [set: {value: '${body.secret + 1}'}]", "Step 1 (set) at 1:12: 1:28: the expression fails: no such overload", fault.Invalid},
		{"a division by zero", "pipeline: [set: {value: '${body.n / 0}'}]", "Step 1 (set) at 1:12: 1:28: the expression fails: division by zero", fault.Invalid},
		{"a parameter of the wrong type", "pipeline: [webhook.put: {eventKey: '${body.n}'}]", "Step 1 (webhook.put) at 1:12: eventKey must be a text", fault.Invalid},
		{"a parameter outside of its list", "pipeline: [webhook.put: {payloadType: '${body.secret}'}]", "Step 1 (webhook.put) at 1:12: payloadType must be one of raw, base64, ignore", fault.Invalid},
		{"a condition that is none", "pipeline:\n  - log: {message: a}\n    if: ${body.n}", "Step 1 (log) at 2:5: if must be true or false", fault.Invalid},
		{"a header that is no text", "headers: {A: '${body.n}'}\npipeline: [log: {message: a}]", "The header A at 1:14: the value is no text", fault.Invalid},
		{"a variable that cannot be made", "vars: {a: '${vars.b}', b: 1}\npipeline: [log: {message: a}]", "The variable a at 1:11: 1:14: the expression fails: there is no b", fault.Invalid},
		{"a body at the end that cannot be made", "pipeline: [log: {message: a}]\nbody: ${body.missing}", "The body at the end: 2:9: the expression fails: there is no missing", fault.Invalid},
		{"no base64", "pipeline: [convert.fromBase64: {value: '${body.secret}'}]", "Step 1 (convert.fromBase64) at 1:12: value is no base64", fault.Invalid},
		{"no JSON", "pipeline: [convert.fromJson: {value: '${body.secret}'}]", "Step 1 (convert.fromJson) at 1:12: value is no JSON", fault.Invalid},
		{"no text", "pipeline: [convert.fromBase64]", "Step 1 (convert.fromBase64) at 1:12: value is no text", fault.Invalid},
		{"no JSON in an expression", "pipeline: [set: {value: '${convert.fromJson(body.secret)}'}]", "Step 1 (set) at 1:12: 1:28: what the expression converts is no JSON", fault.Invalid},
		{"a wait that goes back", "pipeline: [wait: {seconds: -1}]", "Step 1 (wait) at 1:12: seconds must not be negative", fault.Invalid},
		{"a command that is refused", "pipeline: [webhook.delete: {uuid: a}]", "Step 1 (webhook.delete) at 1:12: anonymousUser may not run webhook.delete.", fault.Forbidden},
		{"a value that has no JSON", "pipeline: [set: {value: '${type(1)}'}]", "Step 1 (set) at 1:12: 1:28: the value of the expression has no form in JSON", fault.Invalid},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &steps{forbids: map[string]bool{"webhook.delete": true}}
			out, err := compile(t, tt.source).Run(t.Context(), aRun(t, `{"secret":"hunter2","n":1}`), s)
			if got := fault.From(err); got.Kind != tt.kind || got.Detail != tt.want {
				t.Errorf("%v %q\nwant %v %q", got.Kind, got.Detail, tt.kind, tt.want)
			}
			for _, record := range out.Steps {
				if strings.Contains(record.Error, "hunter2") {
					t.Errorf("the record shows the payload: %s", record.Error)
				}
			}
		})
	}
}

func TestTheTextOfAnUnknownErrorIsNotShown(t *testing.T) {
	s := &steps{do: func(context.Context, pipelines.StepCall) (any, error) {
		return nil, errors.New("broker-7 says hunter2")
	}}
	out, err := compile(t, "pipeline: [webhook.put]").Run(t.Context(), aRun(t, `null`), s)
	if detail := fault.From(err).Detail; strings.Contains(detail, "hunter2") || strings.Contains(out.Steps[0].Error, "hunter2") {
		t.Errorf("%q, %q", detail, out.Steps[0].Error)
	}
	if !strings.Contains(err.Error(), "hunter2") {
		t.Errorf("the operator does not see the cause: %v", err)
	}
}

func TestAResultMayBeAStructAndHidesItsSecrets(t *testing.T) {
	s := &steps{do: func(context.Context, pipelines.StepCall) (any, error) {
		return struct {
			Key   string          `json:"key"`
			Token secret.Password `json:"token"`
			List  []int           `json:"list"`
		}{"a", secret.NewPassword("hunter2"), []int{1}}, nil
	}}
	out, err := compile(t, "pipeline: [webhook.put]\nbody: ${[body.key, body.token, body.list[0] + 1]}").Run(t.Context(), aRun(t, `null`), s)
	if got := string(out.Value); got != `["a","[redacted]",2]` || err != nil {
		t.Errorf("%s, %v", got, err)
	}
}

func TestLogging(t *testing.T) {
	var lines bytes.Buffer
	in := aRun(t, `"payload"`)
	in.Log = slog.New(slog.NewTextHandler(&lines, nil))
	source := "pipeline: [log: {message: 'count ${1 + 1}'}, log: {message: {a: 1}}, log: {message: " + strings.Repeat("ü", 2000) + "}]"
	if _, err := compile(t, source).Run(t.Context(), in, &steps{}); err != nil {
		t.Fatal(err)
	}
	got := strings.Split(lines.String(), "\n")
	for i, want := range []string{
		`msg="pipeline log" message="count 2" path=1 user=anonymousUser`,
		`msg="pipeline log" message="{\"a\":1}" path=2 user=anonymousUser`,
		`message=` + strings.Repeat("ü", 512) + "… path=3",
	} {
		if !strings.Contains(got[i], want) {
			t.Errorf("line %d is %s, want %s", i+1, got[i], want)
		}
	}
	if strings.Contains(lines.String(), "payload") {
		t.Error("the body was logged by itself")
	}
}

func TestAProgramRunsManyTimesAtOnce(t *testing.T) {
	program := compile(t, "vars: {a: '${body.n}'}\npipeline: [set: {value: '${[vars.a, body.n].map(x, x + 1)}'}]")
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for range 20 {
				// Others are compiled meanwhile.
				if _, err := pipelines.Compile([]byte("pipeline: [set: {value: '${body.all(x, x == 1)}'}]"), service); err != nil {
					t.Error(err)
				}
				out, err := program.Run(t.Context(), aRun(t, fmt.Sprintf(`{"n":%d}`, n)), &steps{})
				if want := fmt.Sprintf("[%d,%d]", n+1, n+1); string(out.Value) != want || err != nil {
					t.Errorf("%s, %v, want %s", out.Value, err, want)
				}
			}
		})
	}
	all.Wait()
}
