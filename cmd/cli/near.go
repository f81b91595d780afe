package cli

import (
	"strings"
)

// near gives the names that somebody who wrote word may have meant.
func near(word string, names []string) []string {
	word = strings.ToLower(word)
	var found []string
	for _, name := range names {
		low := strings.ToLower(name)
		if strings.HasPrefix(low, word) || strings.HasPrefix(word, low) || distance(word, low) <= 1+len(word)/6 {
			found = append(found, name)
		}
	}
	return found
}

// distance is how many letters must be added, dropped or changed.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := before
			if a[i] != b[j] {
				cost++
			}
			before = row[j+1]
			row[j+1] = min(cost, row[j]+1, before+1)
		}
	}
	return row[len(b)]
}
