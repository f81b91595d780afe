package record

import "hash/fnv"

// Spread chooses one of n partitions by a key, evenly. The choice is made once
// and then carried, because n may grow.
func Spread(key string, n int32) int32 {
	if n <= 1 {
		return 0
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return int32(h.Sum32() % uint32(n))
}
