package event

import (
	"bytes"

	"hooklog/domain/secret"
)

// nilUUID stands where a token stood.
const nilUUID = "00000000-0000-0000-0000-000000000000"

// Overwrite puts the nil UUID in the place of every occurrence of the token,
// so that afterwards there is none. All other bytes stay as they are.
func Overwrite(b []byte, token secret.Token) {
	n := needleOf(token)
	n.overwrite(b)
}

// needle is the token's characters, on the stack of whoever looks for them.
type needle [secret.TokenLength]byte

// needleOf gives the nil UUID for no token: there is nothing to overwrite.
func needleOf(token secret.Token) (n needle) {
	copy(n[:], nilUUID)
	copy(n[:], token.Reveal())
	return n
}

func (n *needle) overwrite(b []byte) {
	if len(b) < len(n) || string(n[:]) == nilUUID {
		return
	}
	for from := 0; ; {
		found := bytes.Index(b[from:], n[:])
		if found < 0 {
			return
		}
		from += found
		n.overwriteChain(b, from)
		// The zeros may have completed a token that reaches into them from
		// before or goes on behind them.
		from = max(0, from-len(n)+1)
	}
}

// overwriteChain overwrites the occurrence at i and those that share
// characters with it: the end of a token can be the beginning of the next, so
// the next is looked for before this one is gone.
func (n *needle) overwriteChain(b []byte, i int) {
	for {
		next := bytes.Index(b[i+1:min(len(b), i+2*len(n)-1)], n[:])
		copy(b[i:], nilUUID)
		if next < 0 {
			return
		}
		i += 1 + next
	}
}
