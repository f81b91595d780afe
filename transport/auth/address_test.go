package auth_test

import (
	"net/netip"
	"testing"

	"hooklog/transport/auth"
)

func TestAddress(t *testing.T) {
	proxies := auth.Proxies{
		Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("fd00::/8")},
		Header:  "x-forwarded-for",
	}
	for name, c := range map[string]struct {
		peer   string
		header []string
		want   string
	}{
		"is the peer's":                                  {"192.0.2.1:1234", nil, "192.0.2.1"},
		"is the peer's, whatever it claims":              {"192.0.2.1:1234", []string{"198.51.100.9"}, "192.0.2.1"},
		"is what a trusted proxy says":                   {"10.0.0.1:1234", []string{"198.51.100.9"}, "198.51.100.9"},
		"is not what the caller told the proxy":          {"10.0.0.1:1234", []string{"203.0.113.5, 10.0.0.7, 198.51.100.9"}, "198.51.100.9"},
		"is in front of all trusted proxies":             {"10.0.0.1:1234", []string{"203.0.113.5,198.51.100.9 , 10.0.0.7,fd00::1"}, "198.51.100.9"},
		"is found across repeated headers":               {"10.0.0.1:1234", []string{"203.0.113.5, 198.51.100.9", "10.0.0.7"}, "198.51.100.9"},
		"may be a trusted proxy's own":                   {"10.0.0.1:1234", []string{"10.0.0.9, 10.0.0.7"}, "10.0.0.9"},
		"is the proxy's when it says nothing":            {"10.0.0.1:1234", nil, "10.0.0.1"},
		"is the proxy's when it says what is no address": {"10.0.0.1:1234", []string{"203.0.113.5, unknown"}, "10.0.0.1"},
		"is that of the proxy next to an empty entry":    {"10.0.0.1:1234", []string{"203.0.113.5,, 10.0.0.7"}, "10.0.0.7"},
		"may stand there with a port":                    {"10.0.0.1:1234", []string{"198.51.100.9:80"}, "198.51.100.9"},
		"may be IPv6 with a port":                        {"[fd00::2]:1234", []string{"[2001:db8::1]:80"}, "2001:db8::1"},
		"of IPv4 is the same in the form of IPv6":        {"[::ffff:10.0.0.1]:1234", []string{"::ffff:198.51.100.9"}, "198.51.100.9"},
		"of a link is written without its zone":          {"[fe80::1%eth0]:1234", nil, "fe80::1"},
		"that cannot be read is unspecified":             {"@", []string{"198.51.100.9"}, "::"},
	} {
		t.Run("the address "+name, func(t *testing.T) {
			r := request()
			r.RemoteAddr = c.peer
			for _, line := range c.header {
				r.Header.Add("X-Forwarded-For", line)
			}
			if got := proxies.Address(r).String(); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
	t.Run("a caller has the address that its proxy says", func(t *testing.T) {
		a := newAuthenticator(t, newUsers(t), proxies)
		r := basicRequest("admin", password)
		r.RemoteAddr = "10.0.0.1:1234"
		r.Header.Set("X-Forwarded-For", "198.51.100.9")
		if c, err := a.Authenticate(r); err != nil || c.Address != "198.51.100.9" {
			t.Errorf("got %+v, %v", c, err)
		}
	})
}
