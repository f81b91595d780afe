package outbound

import "net/netip"

// special are the ranges of IPv4 that are not the public internet, from the
// registry of special-purpose addresses, and what clouds keep for themselves.
var special = prefixes(
	"0.0.0.0/8",        // this network
	"10.0.0.0/8",       // private
	"100.64.0.0/10",    // carrier-grade NAT, with a cloud's metadata at 100.100.100.200
	"127.0.0.0/8",      // loopback
	"168.63.129.16/32", // a cloud's platform service, though it looks public
	"169.254.0.0/16",   // link-local, with the metadata of most clouds
	"172.16.0.0/12",    // private
	"192.0.0.0/24",     // protocol assignments
	"192.0.2.0/24",     // documentation
	"192.31.196.0/24",  // AS112
	"192.52.193.0/24",  // AMT
	"192.88.99.0/24",   // 6to4 relays
	"192.168.0.0/16",   // private
	"192.175.48.0/24",  // AS112
	"198.18.0.0/15",    // benchmarking
	"198.51.100.0/24",  // documentation
	"203.0.113.0/24",   // documentation
	"224.0.0.0/4",      // multicast
	"240.0.0.0/4",      // reserved, and broadcast
)

// unicast is all of IPv6 that is given out for the public internet, and special6
// what is special in it. Loopback, local, mapped and multicast addresses lie
// outside of it.
var (
	unicast  = netip.MustParsePrefix("2000::/3")
	special6 = prefixes(
		"2001::/23",         // protocol assignments, Teredo, ORCHID
		"2001:db8::/32",     // documentation
		"2002::/16",         // 6to4, which may lead to any IPv4 address
		"2620:4f:8000::/48", // AS112
		"3fff::/20",         // documentation
	)
)

// nat64 carries an IPv4 address in its last four bytes.
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

func prefixes(texts ...string) []netip.Prefix {
	all := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		all[i] = netip.MustParsePrefix(text)
	}
	return all
}

// public reports whether an address lies in the public internet.
func public(a netip.Addr) bool {
	if a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if nat64.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	if a.Is4() {
		return !within(special, a)
	}
	return unicast.Contains(a) && !within(special6, a)
}

func within(ranges []netip.Prefix, a netip.Addr) bool {
	for _, r := range ranges {
		if r.Contains(a) {
			return true
		}
	}
	return false
}
