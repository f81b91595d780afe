package pipelines_test

import (
	"context"
	"testing"

	"hooklog/transport/pipelines"
)

const trivial = `
pipeline:
  - event.listen: {eventKey: webhook.orders}
  - convert.fromBase64: {value: "${body.payload.origin}"}
  - convert.fromJson
body: "${body.number}"
`

func BenchmarkCompile(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := pipelines.Compile([]byte(trivial), service); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	program, in, s := compile(b, trivial), aRun(b, `{"payload":{"origin":"eyJudW1iZXIiOjd9"}}`), silent{}
	b.ReportAllocs()
	for b.Loop() {
		if out, err := program.Run(b.Context(), in, s); err != nil || string(out.Value) != "7" {
			b.Fatal(string(out.Value), err)
		}
	}
}

// silent is a service that remembers nothing.
type silent struct{ pipelines.Steps }

func (silent) Allow(context.Context, string, string) error { return nil }
