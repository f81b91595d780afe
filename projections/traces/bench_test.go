package traces_test

import (
	"testing"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/results"
	"hooklog/projections/runs"
)

// BenchmarkFold is the work for an accepted call, without the runner's: of the
// other views of svc.call, and of all.
func BenchmarkFold(b *testing.B) {
	const batch = 1000
	for _, without := range []bool{true, false} {
		name := "with traces"
		if without {
			name = "without traces"
		}
		b.Run(name, func(b *testing.B) {
			s := projectiontest.OpenStore(b)
			views := []fold.View[any]{results.New(s), runs.New(s), open(b, s, 0)}
			if without {
				views = views[:2]
			}
			p := fold.Decoding("calls", record.TopicCall, call.Decode, views...)
			folded := 0
			b.ReportAllocs()
			for b.Loop() {
				b.StopTimer()
				records := make([]record.Record, batch)
				for k := range records {
					records[k] = accepted(folded + k)
					records[k].Offset = int64(folded + k)
				}
				b.StartTimer()
				rows := &fold.Batch{Batch: s.NewBatch()}
				if _, err := p.Fold(rows, records); err != nil {
					b.Fatal(err)
				}
				if err := rows.Commit(); err != nil {
					b.Fatal(err)
				}
				_ = rows.Close()
				folded += batch
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(folded), "ns/record")
		})
	}
}
