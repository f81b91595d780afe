package outbound

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"hooklog/domain/fault"
)

const defaultPort = "443"

// host is an entry of the operator's list: "api.example.com", "*.example.com"
// for all below it, either with ":8443" for another port than 443.
type host struct {
	name  string
	below bool
	port  string
}

var hostName = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$`)

func parseHost(entry string) (host, error) {
	h := host{name: strings.ToLower(entry), port: defaultPort}
	if name, port, err := net.SplitHostPort(h.name); err == nil {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 {
			return host{}, fmt.Errorf("the port of the allowed host %q must be a number from 1 to 65535", entry)
		}
		h.name, h.port = name, port
	}
	h.name, h.below = strings.CutPrefix(h.name, "*.")
	if _, err := netip.ParseAddr(h.name); err == nil && !h.below {
		return h, nil
	}
	if !hostName.MatchString(h.name) || (h.below && !strings.Contains(h.name, ".")) {
		return host{}, fmt.Errorf("the allowed host %q must be a name such as api.example.com, or *.example.com for all below it", entry)
	}
	return h, nil
}

func (h host) allows(name, port string) bool {
	if h.port != port {
		return false
	}
	if h.below {
		return strings.HasSuffix(name, "."+h.name)
	}
	return name == h.name
}

// check reads an address and holds it against the list.
func (c *Client) check(address string) (*url.URL, error) {
	if len(address) > maxURL {
		return nil, fault.New(fault.Invalid, "url has %d bytes; at most %d are allowed", len(address), maxURL)
	}
	u, err := url.Parse(address)
	if err != nil || u.Opaque != "" || u.Host == "" {
		return nil, fault.New(fault.Invalid, "url must be absolute, for example https://api.example.com/orders")
	}
	if u.User != nil {
		return nil, fault.New(fault.Invalid, "url must not hold a user; send a header")
	}
	name, port := strings.ToLower(u.Hostname()), u.Port()
	switch {
	case u.Scheme == "https" && port == "":
		port = defaultPort
	case u.Scheme == "https", u.Scheme == "http" && c.loopback && isLoopback(name):
	default:
		return nil, fault.New(fault.Invalid, "url must begin with https://")
	}
	for _, h := range c.hosts {
		if h.allows(name, port) {
			return u, nil
		}
	}
	return nil, fault.New(fault.Forbidden, "the operator does not allow http.request to call this host and port")
}

func isLoopback(name string) bool {
	a, err := netip.ParseAddr(name)
	return err == nil && a.IsLoopback()
}
