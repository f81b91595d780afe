package metrics_test

import (
	"fmt"
	"testing"
	"time"

	"hooklog/transport/telemetry/metrics"
)

// BenchmarkCall is what is measured of one accepted call: its outcome, its stages
// and its two records.
func BenchmarkCall(b *testing.B) {
	m := newMetrics(b)
	measure := func(i int, keys []string) {
		m.Call(metrics.Call{
			EventKey: keys[i%len(keys)],
			Body:     40 * time.Microsecond, Event: 2 * time.Millisecond, Accepted: time.Millisecond, Whole: 4 * time.Millisecond,
		})
		m.Append("svc.event.webhook.orders", 2*time.Millisecond, nil)
		m.Append("svc.call", time.Millisecond, nil)
	}
	for _, n := range []int{1, 100, 1000} {
		keys := make([]string, n)
		for i := range keys {
			keys[i] = fmt.Sprintf("webhook.bench-%d", i)
		}
		b.Run(fmt.Sprintf("%d webhooks", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				measure(i, keys)
			}
		})
		b.Run(fmt.Sprintf("%d webhooks at once", n), func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i++ {
					measure(i, keys)
				}
			})
		})
	}
}
