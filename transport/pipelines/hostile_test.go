package pipelines_test

import (
	"fmt"
	"runtime/metrics"
	"slices"
	"strings"
	"testing"
	"time"

	"hooklog/domain/fault"
	"hooklog/transport/pipelines"
)

// within runs do, prints what it took, and fails when that is beyond any doubt
// too much: the bounds are for a slow machine that others share.
func within(t *testing.T, do func()) {
	t.Helper()
	const (
		maxAllocated = 400 << 20
		maxTime      = time.Minute
	)
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	before, began := sample[0].Value.Uint64(), time.Now()
	do()
	took := time.Since(began)
	metrics.Read(sample)
	allocated := sample[0].Value.Uint64() - before
	t.Logf("allocated %.1f MiB in %v", float64(allocated)/(1<<20), took.Round(time.Millisecond))
	if allocated > maxAllocated || took > maxTime {
		t.Errorf("allocated %d bytes in %v", allocated, took)
	}
}

func TestHostileSources(t *testing.T) {
	bomb := "vars:\n  a0: &a0 [x, x, x, x, x, x, x, x, x]\n"
	for i := 1; i < 10; i++ {
		bomb += fmt.Sprintf("  a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), ", "))
	}
	step := "pipeline: [set: {value: 1}]\n"
	tests := []struct {
		name   string
		source string
		want   string
	}{
		{"an alias bomb", bomb + step, "anchors are not allowed"},
		{"ten thousand steps", "pipeline:\n" + strings.Repeat("  - log: {message: a}\n", 10_000), "502:5: there are 10000 steps; at most 500 are allowed"},
		{"a source that is too long", step + strings.Repeat("#", pipelines.MaxSource), "1:1: the source has 262172 bytes; at most 262144 are allowed"},
		{"lists in lists", step + "body: " + strings.Repeat("[", 100_000), "this is no YAML"},
		{"lists in lists that end", step + "body: " + strings.Repeat("[", 5000) + strings.Repeat("]", 5000), "this is nested deeper than 32 levels"},
		{"steps in steps", "pipeline:" + strings.Repeat(" {pipeline:", 3000) + strings.Repeat("}", 3000), "this is nested deeper than 32 levels"},
		{"blocks in blocks", step + "body:\n  " + strings.Repeat("- ", 9000) + "x", "this is nested deeper than 32 levels"},
		{"a hundred thousand values", step + "vars: {a: [" + strings.Repeat("1,", 100_000) + "1], b: '${x}'}", "undeclared reference"},
		{"a hundred thousand keys", step + "vars: {" + manyKeys(20_000) + "b: '${x}'}", "undeclared reference"},
		{"more expressions than are allowed", step + "body: '" + strings.Repeat("${1}", 50_000) + "'", "there are more than 1000 expressions"},
		{"an expression of brackets", step + "body: ${" + strings.Repeat("(", 2000) + "}", "the expression is wrong"},
		{"an expression of loops", step + "body: ${[1]" + strings.Repeat(".map(a,{'x':a})", 30) + "}", "nested deeper than 8 levels"},
		{"an expression of unclosed texts", step + "body: " + strings.Repeat("${'", 50_000), "has no end"},
		{"a regular expression that explodes", step + "body: ${'a'.matches('((a{1,100}){1,100}){1,100}')}", "the expression is wrong"},
		{"UTF-16", "\xff\xfep\x00i\x00", "1:1: the source is no UTF-8"},
		{"a tag that calls", step + "body: !!python/object/apply:os.system [ls]", "the tag !!python/object/apply:os.system is not allowed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			within(t, func() {
				_, err := pipelines.Compile([]byte(tt.source), service)
				if !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%.300v", err)
				}
			})
		})
	}
}

func manyKeys(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "a%d: 1,", i)
	}
	return b.String()
}

func TestHostileRuns(t *testing.T) {
	fourMegabytes := strings.Repeat("a", 4<<20)
	deep := strings.Repeat("[", 5000) + strings.Repeat("]", 5000)
	doubled := "pipeline:\n" + strings.Repeat("  - set: {value: '${[body, body]}'}\n", 64)
	tests := []struct {
		name   string
		source string
		body   any
		want   string
	}{
		{"loops in loops", "pipeline: [set: {value: '${" + strings.Repeat("body.all(x, ", 6) + "true" + strings.Repeat(")", 6) + "}'}]", times(20, int64(1)), "takes too much work"},
		{"a text that grows in one expression", "pipeline: [set: {value: '${body + body}'}]", fourMegabytes, "the value of the expression is too large"},
		{"a text that grows among words", "pipeline: [set: {value: '${body}${body}'}]", fourMegabytes, "the text is too large"},
		{"a text that grows from step to step", "pipeline:\n" + strings.Repeat("  - set: {value: '${body + body}'}\n", 64), "aaaaaaaaaaaaaaaa", "the value of the expression is too large"},
		{"a text that grows in a loop", "pipeline: [set: {value: '${[body].map(a, a + a + a).map(a, a + a + a)}'}]", fourMegabytes, "takes too much work"},
		{"a text that is told often", "pipeline: [set: {value: '${[1,2,3,4,5,6,7,8,9].map(a, [1,2,3,4,5,6,7,8,9].map(b, body))}'}]", fourMegabytes, "the value of the expression is too large"},
		{"a list that shares its parts", doubled, int64(1), "the value of the expression is too large"},
		{"a regular expression with much to do", "pipeline: [set: {value: '${body.matches(\"(a?){400}b\")}'}]", fourMegabytes, "takes too much work"},
		{"a regular expression that the payload brings", "pipeline: [set: {value: '${\"a\".matches(body)}'}]", strings.Repeat("(a{1000})", 200), "takes too much work"},
		{"a size that is asked often", "pipeline: [set: {value: '${[1,2,3,4,5,6,7,8].all(a, body.size() > 0)}'}]", fourMegabytes, "takes too much work"},
		{"values that are compared often", "pipeline: [set: {value: '${body.all(a, body.all(b, body == body))}'}]", times(300, times(3, int64(1))), "takes too much work"},
		{"values that are looked for often", "pipeline: [set: {value: '${body.all(a, body.all(b, !(9 in body)))}'}]", times(300, int64(1)), "takes too much work"},
		{"parameters that are large together", "pipeline: [set: {value: [" + strings.TrimSuffix(strings.Repeat("'${body}',", 500), ",") + "]}]", fourMegabytes, "too large"},
		{"variables that are large together", "pipeline:\n" + manyOutputs(100), strings.Repeat("a", 1<<20), "headers, vars and body together would have more than 8388608 bytes"},
		{"headers that are large together", "headers:\n" + manyHeaders(100) + "pipeline: [set: {value: 1}]", strings.Repeat("a", 1<<20), "headers, vars and body together would have more than 8388608 bytes"},
		{"what is brought is too large", "pipeline: [set: {value: 1}]", strings.Repeat("a", 9<<20), "What the run brings: the value is too large"},
		{"what is brought is too deep", "pipeline: [set: {value: 1}]", nested(5000), "What the run brings: the value is nested too deeply"},
		{"JSON that is too deep", "pipeline: [convert.fromJson]", deep, "the result is nested too deeply"},
		{"JSON that is too deep, in an expression", "pipeline: [set: {value: '${convert.fromJson(body) == [1]}'}]", deep, "takes too much work"},
		{"a conversion that grows", "pipeline: [set: {value: '${convert.toJson([body, body, body])}'}]", strings.Repeat("a", 1<<19), "what the expression converts is too large"},
		{"conversions that are made often", "pipeline: [set: {value: '${[1,2,3,4,5,6,7,8].all(a, [1,2,3,4,5,6,7,8].all(b, size(convert.toBase64(body)) > 0))}'}]", strings.Repeat("a", 1<<19), "takes too much work"},
		{"a result that is too large", "pipeline: [log: {message: '${body}'}]", fourMegabytes, "The final body is too large."},
		{"a result that is too large as JSON", "pipeline: [log: {message: a}]", strings.Repeat("\x01", 1<<18), "The final body is too large."},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			program, in := compile(t, tt.source), aRun(t, `null`)
			in.Body = tt.body
			within(t, func() {
				_, err := program.Run(t.Context(), in, &steps{})
				if got := fault.From(err); !strings.Contains(got.Detail, tt.want) || len(got.Detail) > 500 {
					t.Errorf("%.300s", got.Detail)
				}
			})
		})
	}
}

func times(n int, v any) any { return slices.Repeat([]any{v}, n) }

func nested(depth int) any {
	var v any
	for range depth {
		v = []any{v}
	}
	return v
}

func manyOutputs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  - set: {value: '${body}'}\n    output: a%d\n", i)
	}
	return b.String()
}

func manyHeaders(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "  a%d: ${body}\n", i)
	}
	return b.String()
}

// A list of a list of a list that share their parts takes for ever to compare,
// though it has two elements.
func TestSharedPartsAreWeighedAsOftenAsTheyAreMet(t *testing.T) {
	var source strings.Builder
	source.WriteString("pipeline:\n")
	for range 17 { // the largest that is small enough to be the value of a step
		source.WriteString("  - set: {value: '${[body, body]}'}\n")
	}
	source.WriteString("  - set: {value: '${[body, body, body, body].exists(x, [x, x, x, x, x, x, x, x, x, x, x, x] == [x, x, x, x, x, x, x, x, x, x, x, 1])}'}\n")
	program := compile(t, source.String())
	within(t, func() {
		_, err := program.Run(t.Context(), aRun(t, `1`), &steps{})
		if got := fault.From(err); !strings.Contains(got.Detail, "takes too much work") {
			t.Errorf("%.300s", got.Detail)
		}
	})
}

func TestALargePayloadIsPickedAndConverted(t *testing.T) {
	in := aRun(t, `null`)
	in.Body = map[string]any{"payload": map[string]any{"origin": strings.Repeat("YWJj", 4<<20/3)}}
	source := "pipeline: [convert.fromBase64: {value: '${body.payload.origin}'}]\nbody: ${size(body)}"
	within(t, func() {
		out, err := compile(t, source).Run(t.Context(), in, &steps{})
		if string(out.Value) != fmt.Sprint(4<<20/3*3) || err != nil {
			t.Errorf("%s, %v", out.Value, err)
		}
	})
}
