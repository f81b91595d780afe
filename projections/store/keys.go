package store

import "encoding/binary"

// Key joins parts into a key, each ended by a zero byte but the last, so that no
// key of one kind begins with a key of another. Parts but the last must not
// contain a zero byte.
func Key(parts ...string) []byte {
	n := len(parts)
	for _, p := range parts {
		n += len(p)
	}
	k := make([]byte, 0, n)
	for i, p := range parts {
		if i > 0 {
			k = append(k, 0)
		}
		k = append(k, p...)
	}
	return k
}

// Ordered is a number as a key part that sorts like the number.
func Ordered(n uint64) string {
	return string(binary.BigEndian.AppendUint64(nil, n))
}
