package pipelines_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"hooklog/domain/fault"
	"hooklog/transport/pipelines"
)

var faultLine = regexp.MustCompile(`^([1-9][0-9]*:[1-9][0-9]*: .+|and [0-9]+ more)$`)

// FuzzCompile holds that a source is refused with places, or gives a program that
// runs to JSON or to a fault, and that neither breaks the process.
func FuzzCompile(f *testing.F) {
	for _, tt := range faultTable {
		f.Add([]byte(tt.source))
	}
	for _, seed := range []string{
		"pipeline:\n  - event.listen: {eventKey: webhook.a}\n  - convert.fromBase64: {value: '${body.payload.origin}'}\nbody: ${body}",
		"headers: {a: '${1}'}\nvars: {b: '${[1,2].map(x, x)}'}\npipeline:\n  - set: {value: 'a$${b ${body}'}\n    if: ${true}\n    output: c\n    onError: {retry: {times: 1, wait: 0}}",
		`{"pipeline":[{"set":{"value":"${{\"a\":[1.5,null]}}"}}, "convert.toJson"]}`,
		"pipeline: [set: {value: \"${'''}'''}\"}]", "pipeline: [set: {value: '${r\"\\\"}'}]", "pipeline: [set: {value: \"${1 // }\\n}\"}]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, source []byte) {
		program, err := pipelines.Compile(source, service)
		if err != nil {
			lines := strings.Split(fault.From(err).Detail, "\n")
			if !fault.Is(err, fault.Invalid) || len(lines) < 2 {
				t.Fatalf("refused without a place: %v", err)
			}
			for _, line := range lines[1:] {
				if !faultLine.MatchString(line) {
					t.Fatalf("no place: %q", line)
				}
			}
			return
		}
		in := aRun(t, `{"payload":{"origin":"aGk="}}`)
		in.Timeout /= 60
		out, err := program.Run(t.Context(), in, &steps{})
		if err == nil && !json.Valid(out.Value) {
			t.Fatalf("the value is no JSON: %q", out.Value)
		}
		if err != nil && fault.From(err).Kind == fault.Internal {
			t.Fatal(err)
		}
	})
}
