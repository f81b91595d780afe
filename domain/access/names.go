package access

import (
	"regexp"
	"strings"
	"unicode"

	"hooklog/domain/fault"
)

const (
	maxName  = 100
	maxLabel = 255
	// maxList bounds the lists of users and rules, which are read as a whole.
	maxList = 100
)

// Names have no colon, which only principals of an outside issuer have.
var (
	namePattern    = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._@+-]*$`)
	patternPattern = regexp.MustCompile(`^(\*|[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*(\.\*)?)$`)
)

// IsOutside reports a principal of an outside issuer.
func IsOutside(principal string) bool { return strings.Contains(principal, ":") }

// Named is how a command names a user, a client or a rule.
type Named struct {
	Name string `json:"name"`
}

// Check reports what is wrong with the name, whatever is stored.
func (n Named) Check() error { return checkName("The name", n.Name) }

// checkName holds what operators name to a form that is safe everywhere.
func checkName(what, name string) error {
	if len(name) > maxName || !namePattern.MatchString(name) {
		return fault.New(fault.Invalid, "%s must be 1 to %d letters, digits and . _ @ + -, beginning with a letter or digit.", what, maxName)
	}
	return nil
}

// checkLabel is for roles and principals, which an outside issuer may name.
func checkLabel(what, label string) error {
	hidden := strings.ContainsFunc(label, func(r rune) bool { return !unicode.IsPrint(r) || r == ',' })
	if label == "" || len(label) > maxLabel || hidden || strings.TrimSpace(label) != label {
		return fault.New(fault.Invalid, "%s must have 1 to %d printable bytes each, without commas and outer spaces.", what, maxLabel)
	}
	return nil
}

func checkPattern(what, pattern string) error {
	if len(pattern) > maxLabel || !patternPattern.MatchString(pattern) {
		return fault.New(fault.Invalid, "%s must each be a name, a name with .* at its end for all below it, or * for all.", what)
	}
	return nil
}

func checkAll(what string, list []string, check func(what, entry string) error) error {
	if len(list) > maxList {
		return fault.New(fault.Invalid, "%s has %d entries; at most %d are allowed.", what, len(list), maxList)
	}
	for _, entry := range list {
		if err := check(what, entry); err != nil {
			return err
		}
	}
	return nil
}
