package outbound

import (
	"net/http"
	"slices"
	"strings"

	"hooklog/domain/fault"
)

const (
	maxHeaders     = 64
	maxHeaderBytes = 16 << 10
)

// kept are the headers that belong to the connection, or say where a request
// goes and how long it is: the client sets them, nobody else.
var kept = []string{
	"Connection", "Content-Length", "Expect", "Host", "Http2-Settings", "Keep-Alive",
	"Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// checkHeader gives the headers to send.
func checkHeader(given map[string]string) (http.Header, error) {
	header := http.Header{"User-Agent": {"hooklog"}}
	if len(given) > maxHeaders {
		return nil, fault.New(fault.Invalid, "there are %d headers; at most %d are allowed", len(given), maxHeaders)
	}
	size := 0
	for name, value := range given {
		size += len(name) + len(value)
		key := http.CanonicalHeaderKey(name)
		switch {
		case size > maxHeaderBytes:
			return nil, fault.New(fault.Invalid, "the headers have more than %d bytes", maxHeaderBytes)
		case name == "" || strings.ContainsFunc(name, notInName):
			return nil, fault.New(fault.Invalid, "the name of a header must be letters, digits and hyphens")
		case slices.Contains(kept, key) || strings.HasPrefix(key, "Proxy-"):
			return nil, fault.New(fault.Invalid, "the header %s cannot be set", key)
		case strings.ContainsFunc(value, notInValue):
			return nil, fault.New(fault.Invalid, "the header %s must be plain text on one line", key)
		}
		header[key] = []string{value}
	}
	return header, nil
}

func notInName(r rune) bool {
	return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_", r)
}

func notInValue(r rune) bool { return r < ' ' && r != '\t' || r > '~' }
