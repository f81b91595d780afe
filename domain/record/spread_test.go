package record_test

import (
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"hooklog/domain/record"
)

func TestSpread(t *testing.T) {
	t.Run("it chooses one that exists, and the same each time", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			key, n := rapid.String().Draw(t, "key"), rapid.Int32().Draw(t, "partitions")
			p := record.Spread(key, n)
			if p < 0 || p >= max(n, 1) {
				t.Fatalf("partition %d of %d", p, n)
			}
			if again := record.Spread(key, n); again != p {
				t.Fatalf("partition %d, then %d", p, again)
			}
		})
	})
	t.Run("it spreads evenly", func(t *testing.T) {
		const partitions, each = 6, 1000
		var counts [partitions]int
		for i := range partitions * each {
			counts[record.Spread("call-"+strconv.Itoa(i), partitions)]++
		}
		for p, n := range counts {
			if n < each*8/10 || n > each*12/10 {
				t.Errorf("partition %d has %d of %d keys", p, n, partitions*each)
			}
		}
	})
}
