package event

import (
	"cmp"
	"slices"
	"strings"

	"hooklog/domain/secret"
)

// withheld are the headers that never reach a message: credentials, and what
// belongs to the connection and not to the call. host is set from Call.Host.
var withheld = [...]string{
	"token", "authorization", "cookie",
	"connection", "keep-alive", "proxy-authenticate", "proxy-authorization",
	"proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
	"host",
}

// field is one member of the message's headers or query.
type field struct {
	name    string
	values  []string
	sent    string // the name as sent: the order among names that become equal
	dropped bool
}

func headerFields(fields []field, c *Call, n *needle) []field {
	if c.Host != "" {
		fields = append(fields, field{name: "host", values: []string{c.Host}})
	}
	for sent, values := range c.Header {
		if name := n.cleanName(sent, strings.ToLower); !isWithheld(name) {
			fields = append(fields, field{name: name, values: slices.Clip(values), sent: sent})
		}
	}
	return dropNamed(arrange(fields, compareFold), c.Header["Connection"], n)
}

func queryFields(fields []field, query map[string][]string, n *needle) []field {
	for sent, values := range query {
		if sent != "token" && sent != "pollingRedirectEnabled" {
			name := n.cleanName(sent, strings.Clone)
			fields = append(fields, field{name: name, values: slices.Clip(values), sent: sent})
		}
	}
	return arrange(fields, strings.Compare)
}

func isWithheld(header string) bool {
	for _, name := range withheld {
		if len(name) == len(header) && strings.EqualFold(name, header) {
			return true
		}
	}
	return false
}

// cleanName gives a name as it is compared and written. A short name of
// printable ASCII can hold no token and is spared the copy; headers of that
// kind get their lower case when they are written.
func (n *needle) cleanName(s string, convert func(string) string) string {
	if len(s) < secret.TokenLength && isPrintable(s) {
		return s
	}
	b := []byte(convert(validText(s)))
	n.overwrite(b)
	return string(b)
}

// arrange sorts the fields and makes one of those whose names have become
// equal: by case, by an overwritten token, by replaced bytes.
func arrange(fields []field, compare func(a, b string) int) []field {
	slices.SortFunc(fields, func(a, b field) int {
		return cmp.Or(compare(a.name, b.name), strings.Compare(a.sent, b.sent))
	})
	kept := fields[:0]
	for _, f := range fields {
		if last := len(kept) - 1; last >= 0 && compare(kept[last].name, f.name) == 0 {
			kept[last].values = append(kept[last].values, f.values...)
			continue
		}
		kept = append(kept, f)
	}
	return kept
}

// dropNamed drops the headers that the Connection header names. It searches
// the sorted fields, so that many names and many headers do not multiply.
func dropNamed(fields []field, connection []string, n *needle) []field {
	for _, value := range connection {
		for name := range strings.SplitSeq(value, ",") {
			name = n.cleanName(strings.Trim(name, " \t"), strings.ToLower)
			i, found := slices.BinarySearchFunc(fields, name, func(f field, name string) int {
				return compareFold(f.name, name)
			})
			if found {
				fields[i].dropped = true
			}
		}
	}
	return slices.DeleteFunc(fields, func(f field) bool { return f.dropped })
}

// fieldsSize is room enough for the fields, as headers or as query.
func fieldsSize(fields []field) int {
	size := 0
	for i := range fields {
		size += textSize(fields[i].name) + len(`"":[],`)
		for _, value := range fields[i].values {
			size += textSize(value) + len(`"",`)
		}
	}
	return size
}

func (m *message) headers(fields []field) {
	m.raw(`,"headers":{`)
	for i := range fields {
		m.comma(i)
		m.raw(`"`)
		start := len(m.buf)
		m.text(fields[i].name)
		lower(m.buf[start:])
		m.raw(`":"`)
		for j, value := range fields[i].values {
			if j > 0 {
				m.raw(`, `)
			}
			m.text(value)
		}
		m.raw(`"`)
	}
	m.raw(`}`)
}

func (m *message) query(fields []field) {
	m.raw(`,"query":{`)
	for i := range fields {
		m.comma(i)
		m.raw(`"`)
		m.text(fields[i].name)
		m.raw(`":[`)
		for j, value := range fields[i].values {
			m.comma(j)
			m.raw(`"`)
			m.text(value)
			m.raw(`"`)
		}
		m.raw(`]`)
	}
	m.raw(`}`)
}

// comma separates the i-th item from the one before it.
func (m *message) comma(i int) {
	if i > 0 {
		m.raw(`,`)
	}
}
