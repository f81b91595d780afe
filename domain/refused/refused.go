// Package refused is the counts of what an instance refused, by the networks that
// it came from. There are counts only, so that no flood can make the log grow.
// What was refused, and on which topic the counts go, others say.
package refused

import (
	"net/netip"
	"time"
)

// MaxNetworks is how many networks are told apart.
const MaxNetworks = 64

// Counts are those of one instance in about a minute.
type Counts struct {
	// Instance names the process that refused; it is the record's key.
	Instance string    `json:"instance"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	// Networks are at most MaxNetworks, ordered.
	Networks []Network `json:"networks,omitempty"`
	// Rest is the counts of all other networks.
	Rest map[string]int64 `json:"rest,omitempty"`
}

// Network is the counts of one network.
type Network struct {
	// Prefix is the network in the form of NetworkOf.
	Prefix netip.Prefix `json:"prefix"`
	// Reasons counts by the names of the fault kinds.
	Reasons map[string]int64 `json:"reasons"`
}

// NetworkOf is the network that an address is counted under: /24 of IPv4, /48 of
// IPv6.
func NetworkOf(address netip.Addr) netip.Prefix {
	bits := 48
	if address.Is4() {
		bits = 24
	}
	network, _ := address.Prefix(bits) // fails for no valid address
	return network
}
