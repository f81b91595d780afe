package record

import (
	"crypto/sha256"
	"encoding/binary"
)

// Digest is a SHA-256.
type Digest [sha256.Size]byte

// Leaf is the unambiguous encoding of a whole record: every part behind its
// length. It is what proofs are made of and must never change.
func Leaf(r *Record) []byte {
	b := make([]byte, 0, 64+len(r.Topic)+len(r.Key)+len(r.Value)+64*len(r.Headers))
	b = appendString(b, r.Topic)
	b = binary.BigEndian.AppendUint32(b, uint32(r.Partition))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Offset))
	b = binary.BigEndian.AppendUint64(b, uint64(r.Time.UnixMilli()))
	b = appendBytes(b, r.Key)
	return appendContent(b, r.Headers, r.Value)
}

// LeafDigest is the SHA-256 of the record's Leaf.
func LeafDigest(r *Record) Digest { return sha256.Sum256(Leaf(r)) }

// ContentDigest is the SHA-256 of headers and value alone: what an accepted
// record says of its event, whose position was not known when it was encoded.
func ContentDigest(headers []Header, value []byte) Digest {
	h := sha256.New()
	var scratch [512]byte
	_, _ = h.Write(appendHeaders(scratch[:0], headers))
	var n [8]byte
	binary.BigEndian.PutUint64(n[:], uint64(len(value)))
	_, _ = h.Write(n[:])
	_, _ = h.Write(value)
	return Digest(h.Sum(nil))
}

func appendContent(b []byte, headers []Header, value []byte) []byte {
	return appendBytes(appendHeaders(b, headers), value)
}

func appendHeaders(b []byte, headers []Header) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(headers)))
	for i := range headers {
		b = appendString(b, headers[i].Key)
		b = appendBytes(b, headers[i].Value)
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
}

func appendBytes(b, s []byte) []byte {
	return append(binary.BigEndian.AppendUint64(b, uint64(len(s))), s...)
}
