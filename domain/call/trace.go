package call

// RandomIDLength is the number of characters of a trace id behind the colon, and
// of random bytes that NewTraceID wants: one for each character.
const RandomIDLength = 10

const base32Lower = "abcdefghijklmnopqrstuvwxyz234567"

// NewTraceID makes <last6>:<random_id> of bytes from a cryptographic source.
func NewTraceID(last6 string, random [RandomIDLength]byte) string {
	b := make([]byte, 0, len(last6)+1+RandomIDLength)
	b = append(append(b, last6...), ':')
	for _, r := range random {
		b = append(b, base32Lower[r&31])
	}
	return string(b)
}
