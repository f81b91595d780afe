package outbound_test

import (
	"net/netip"
	"testing"

	"hooklog/transport/pipelines/outbound"
)

func TestOnlyTheInternetIsPublic(t *testing.T) {
	for _, text := range []string{
		"1.1.1.1", "8.8.8.8", "93.184.216.34", "100.63.255.255", "100.128.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.1", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"2606:4700:4700::1111", "2a00:1450:4001::1", "2001:200::1", "2003::1", "::ffff:8.8.8.8", "64:ff9b::8.8.8.8",
	} {
		if !outbound.Public(netip.MustParseAddr(text)) {
			t.Errorf("%s is refused", text)
		}
	}
	for name, texts := range map[string][]string{
		"unspecified":     {"0.0.0.0", "0.1.2.3", "::", "::ffff:0.0.0.0"},
		"loopback":        {"127.0.0.1", "127.255.255.255", "::1", "::ffff:127.0.0.1"},
		"private":         {"10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "::ffff:10.0.0.1"},
		"unique local":    {"fc00::1", "fd12:3456::1"},
		"link-local":      {"169.254.0.1", "fe80::1", "fe80::1%eth0", "febf::1"},
		"site-local":      {"fec0::1"},
		"cloud metadata":  {"169.254.169.254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "::ffff:169.254.169.254"},
		"carrier NAT":     {"100.64.0.1", "100.127.255.255"},
		"multicast":       {"224.0.0.1", "239.255.255.255", "ff02::1", "ff0e::1"},
		"reserved":        {"240.0.0.1", "255.255.255.255"},
		"documentation":   {"192.0.2.1", "198.51.100.1", "203.0.113.1", "2001:db8::1", "3fff::1"},
		"benchmarking":    {"198.18.0.1", "198.19.255.255", "2001:2::1"},
		"protocol":        {"192.0.0.1", "192.88.99.1", "2001::1", "100::1", "5f00::1"},
		"NAT64":           {"64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::169.254.169.254", "64:ff9b:1::8.8.8.8", "64:ff9b:1::1"},
		"6to4":            {"2002:7f00:1::1", "2002:0808:0808::1"},
		"Teredo":          {"2001:0:4136:e378::1"},
		"IPv4-compatible": {"::127.0.0.1", "::8.8.8.8"},
		"IPv4-translated": {"::ffff:0:127.0.0.1"},
		"never given out": {"4000::1", "1::1", "e000::1"},
		"with a zone":     {"2606:4700:4700::1111%eth0"},
	} {
		for _, text := range texts {
			if outbound.Public(netip.MustParseAddr(text)) {
				t.Errorf("%s (%s) is public", text, name)
			}
		}
	}
	if outbound.Public(netip.Addr{}) {
		t.Error("no address is public")
	}
}
