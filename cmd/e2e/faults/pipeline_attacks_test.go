//go:build faults

package faults_test

import (
	"bytes"
	"fmt"
	"strings"
)

// hostileSources are refused when they are put.
var hostileSources = []struct{ name, source, want string }{
	{"an alias bomb", aliasBomb(), "anchors are not allowed"},
	{"ten thousand steps", "pipeline:\n" + strings.Repeat("- log: {message: a}\n", 10_000), "there are 10000 steps; at most 500 are allowed"},
	{"a source without end", "pipeline: [set: {value: 1}]\nbody: " + strings.Repeat("[", 100_000), "this is no YAML"},
	{"nested loops beyond count", "pipeline: [set: {value: 1}]\nbody: ${[1]" + strings.Repeat(".map(a,{'x':a})", 30) + "}", "nested deeper than 8 levels"},
	{"a regular expression that explodes", "pipeline: [set: {value: 1}]\nbody: ${'a'.matches('((a{1,100}){1,100}){1,100}')}", "the expression is wrong"},
}

func aliasBomb() string {
	bomb := "vars:\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 10; i++ {
		bomb += fmt.Sprintf("  a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	return bomb + "pipeline: [set: {value: 1}]\n"
}

// hostileRuns are stopped when they run; without an error they end well.
var hostileRuns = []struct {
	name, steps string
	payload     []byte
	want        string
}{
	{
		"loops", "  - convert.fromJson: {value: '${body.payload}'}\n  - set: {value: '${" + strings.Repeat("body.all(x, ", 6) + "true" + strings.Repeat(")", 6) + "}'}\n",
		[]byte("[" + strings.Repeat("1,", 19) + "1]"), "takes too much work",
	},
	{"grows", "  - set: {value: '${body.payload + body.payload}'}\n", largestPayload(), "the value of the expression is too large"},
	{
		"doubles", "  - set: {value: '${body.payload}'}\n" + strings.Repeat("  - set: {value: '${body + body}'}\n", 64),
		[]byte("aaaaaaaaaaaaaaaa"), "the value of the expression is too large",
	},
	{"hoards", hoards(100), bytes.Repeat([]byte{'a'}, 1<<20), "headers, vars and body together would have more than"},
	{"waits", strings.Repeat("  - wait: {seconds: 0.5}\n", 400), nil, "longer than"},
	{"answers", "  - set: {value: '${body.payload}'}\n", largestPayload(), "The final body is too large"},
	{"sends", "  - iam.run.as: {user: admin}\n  - event.send: {eventKey: hostile.loop}\n", []byte("1"), ""},
	{"quotes", "  - set: {value: '${body.payload}'}\n", []byte(expressionText), ""},
}

// expressionText is a payload that would be something else if it were evaluated.
const expressionText = "${1+1} ${body} ${vars.nothing}"

func largestPayload() []byte { return bytes.Repeat([]byte{'a'}, 4<<20) }

func hoards(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  - set: {value: '${body.payload}'}\n    output: a%d\n", i)
	}
	return b.String()
}

// loopPipeline sends two events for each that it gets.
const loopPipeline = `
pipeline:
  - event.listen: {eventKey: hostile.loop}
  - iam.run.as: {user: admin}
  - event.send: {eventKey: hostile.loop, payload: 1}
    id: first
    onError: ignore
  - event.send: {eventKey: hostile.loop, payload: 2}
`

// Each event leads to two, eight deep: so many come of one call, and the last
// generation fails.
const loopEvents, loopFailures = 1<<8 - 1, 1 << 7
