package auth

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the proxies in front of the service whose word counts. None by
// default: then a caller's address is that of the connection.
type Proxies struct {
	Trusted []netip.Prefix
	// Header is where they write whom a request came from: addresses separated by
	// commas, the nearest last.
	Header string
}

// Address is the network address of the caller. It is the last one in the header
// that is no trusted proxy: what stands before it was written by the caller, who
// can claim anything. An address that cannot be read is the unspecified one.
func (p Proxies) Address(r *http.Request) netip.Addr {
	remote, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.IPv6Unspecified()
	}
	peer := plain(remote.Addr())
	if !p.trusts(peer) {
		return peer
	}
	for _, line := range slices.Backward(r.Header.Values(p.Header)) {
		for rest, more := line, true; more; {
			var entry string
			entry, rest, more = cutLast(rest)
			said, ok := parseAddress(entry)
			if !ok {
				return peer // the proxy that wrote this is all that is known
			}
			if peer = said; !p.trusts(peer) {
				return peer
			}
		}
	}
	return peer
}

func (p Proxies) trusts(address netip.Addr) bool {
	return slices.ContainsFunc(p.Trusted, func(network netip.Prefix) bool { return network.Contains(address) })
}

// cutLast splits at the last comma; more says that there was one.
func cutLast(list string) (last, before string, more bool) {
	comma := strings.LastIndexByte(list, ',')
	return strings.TrimSpace(list[comma+1:]), list[:max(comma, 0)], comma >= 0
}

// parseAddress takes an address with or without a port.
func parseAddress(text string) (netip.Addr, bool) {
	address, err := netip.ParseAddr(text)
	if err != nil {
		var withPort netip.AddrPort
		withPort, err = netip.ParseAddrPort(text)
		address = withPort.Addr()
	}
	return plain(address), err == nil
}

// plain writes an IPv4 address in one way only, and drops the zone, which means
// nothing elsewhere.
func plain(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }
