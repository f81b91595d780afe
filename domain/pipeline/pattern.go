package pipeline

import (
	"regexp"
	"strings"

	"hooklog/domain/fault"
)

// MessagePrefix begins the message key of every webhook's event.
const MessagePrefix = "svc.event."

// MaxPatternLength is the number of characters of the longest topic name.
const MaxPatternLength = 249

// The wildcards of a pattern. Each stands for whole groups.
const (
	oneGroup  = "*"
	anyGroups = "#"
)

var keyPattern = regexp.MustCompile(`^([A-Za-z0-9_-]+|\*|#)(\.([A-Za-z0-9_-]+|\*|#))*$`)

// CheckPattern reports what is wrong with a pattern of keys; param names it.
func CheckPattern(param, pattern string) error {
	if len(pattern) > MaxPatternLength {
		return fault.New(fault.Invalid, "%s has %d characters; at most %d are allowed.", param, len(pattern), MaxPatternLength)
	}
	if !keyPattern.MatchString(pattern) {
		return fault.New(fault.Invalid, "%s must consist of dot-separated groups of letters, digits, hyphens and underscores; * stands for one whole group, # for any number of them.", param)
	}
	return nil
}

// Match reports whether a key fits a pattern, group by group: * stands for one
// group, # for any number of them, none too.
func Match(pattern, key string) bool { return match(groups(pattern), groups(key)) }

func groups(key string) []string { return strings.Split(key, ".") }

// match takes at most as many steps as the product of the lengths: when a group
// does not fit, only the last # that was met has to take one group more.
func match(pattern, key []string) bool {
	p, k := 0, 0
	last, taken := -1, 0 // where that # stands, and up to where it takes the key
	for k < len(key) {
		switch {
		case p < len(pattern) && pattern[p] == anyGroups:
			last, taken = p, k
			p++
		case p < len(pattern) && (pattern[p] == oneGroup || pattern[p] == key[k]):
			p++
			k++
		case last >= 0:
			taken++
			p, k = last+1, taken
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == anyGroups {
		p++
	}
	return p == len(pattern)
}

// eventPatterns are the patterns of event keys that a pipeline listens to. A
// message key that is written without the prefix matches no webhook's event,
// whatever its wildcards would fit.
func (s Source) eventPatterns() []string {
	patterns := append([]string(nil), s.EventKeys...)
	for _, key := range s.MessageKeys {
		if pattern, ok := strings.CutPrefix(key, MessagePrefix); ok {
			patterns = append(patterns, pattern)
		}
	}
	return patterns
}

func hasWildcard(pattern string) bool { return strings.ContainsAny(pattern, oneGroup+anyGroups) }
