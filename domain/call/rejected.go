package call

import (
	"errors"
	"net/netip"
	"time"

	"hooklog/domain/record"
)

// RejectedType is the wire name of the record that counts refused calls.
const RejectedType = "call.rejected/1"

// MaxNetworks is how many networks one rejected record tells apart.
const MaxNetworks = 64

// Rejected counts the calls that one instance refused in about a minute. It has
// counts only, so that no flood can make the log grow: a refused call belongs
// to nobody and is no part of any call's life.
type Rejected struct {
	// Instance names the process that refused; it is the record's key.
	Instance string    `json:"instance"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
	// Networks are those the calls came from, at most MaxNetworks, ordered.
	Networks []Network `json:"networks,omitempty"`
	// Rest counts the calls of all other networks.
	Rest map[string]int64 `json:"rest,omitempty"`
}

// Network is the refused calls of one network.
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

// Encode gives the rejected record for a partition.
func (r Rejected) Encode(partition int32) (record.Record, error) {
	return encode(RejectedType, r.Instance, partition, r.To, r)
}

func (r Rejected) check(key string) error {
	if r.Instance == "" || r.Instance != key {
		return errors.New("a record of refused calls must have its instance as key")
	}
	return nil
}
