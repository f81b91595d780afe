package runs_test

import (
	"testing"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/runs"
)

// BenchmarkFold is the projection's own work, without the runner's.
func BenchmarkFold(b *testing.B) {
	const batch = 1000
	for name, records := range map[string]func(n int) []record.Record{
		"accepted":               func(n int) []record.Record { return []record.Record{accepted(n)} },
		"accepted with listener": func(n int) []record.Record { return []record.Record{accepted(n, "a@1")} },
		"accepted and completed": func(n int) []record.Record {
			return []record.Record{accepted(n, "a@1"), completed(n, "a@1", 1, call.OK)}
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := projectiontest.OpenStore(b)
			r := projection(runs.New(s))
			folded := 0
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				b.StopTimer()
				var portion []record.Record
				for k := range batch {
					portion = append(portion, records(n*batch+k)...)
				}
				b.StartTimer()
				rows := &fold.Batch{Batch: s.NewBatch()}
				if _, err := r.Fold(rows, portion); err != nil {
					b.Fatal(err)
				}
				if err := rows.Commit(); err != nil {
					b.Fatal(err)
				}
				_ = rows.Close()
				folded += len(portion)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(folded), "ns/record")
		})
	}
}
