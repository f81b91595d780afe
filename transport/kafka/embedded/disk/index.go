package disk

import (
	"encoding/binary"
	"hash/crc32"
)

// An index has an entry for each batch of its segment: version, low byte of the
// checksum of what follows, leader epoch, greatest time so far, flags;
// little-endian. The broker writes it after the batch and before it confirms
// the batch. It needs nothing from it that the records do not tell, so an index
// that does not fit is written again. But one that has more entries than there
// are batches proves that batches were confirmed and are gone.
const indexEntry = 15

func appendIndex(dst []byte, latest int64) []byte {
	var e [indexEntry]byte
	e[0] = formatVersion
	binary.LittleEndian.PutUint64(e[6:], uint64(latest))
	e[1] = byte(crc32.Checksum(e[2:], castagnoli))
	return append(dst, e[:]...)
}

// goesBeyond reports that the index has an entry after that many.
func goesBeyond(index []byte, batches int) bool {
	for at := batches * indexEntry; at+indexEntry <= len(index); at += indexEntry {
		e := index[at : at+indexEntry]
		plain := binary.LittleEndian.Uint32(e[2:]) == 0 && e[14] == 0
		if e[0] == formatVersion && plain && e[1] == byte(crc32.Checksum(e[2:], castagnoli)) {
			return true
		}
	}
	return false
}
