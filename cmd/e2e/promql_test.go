package e2e_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// selector is a metric in a query, with the labels it is selected by.
type selector struct {
	metric string
	labels []string
}

// query is what a PromQL expression is about.
type query struct {
	selectors []selector
	// grouped are the labels that it is grouped by.
	grouped []string
}

var (
	promToken = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|\[[^\]]*\]|[a-zA-Z_:][a-zA-Z0-9_:]*|[0-9.]+[smhd]?|=~|!~|!=|==|>=|<=|[-+*/(){},<>=]|\s+`)
	promName  = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)

	promFunctions  = []string{"sum", "count", "max", "topk", "rate", "absent", "histogram_quantile", "label_values"}
	promGroupings  = []string{"by"}
	promWords      = []string{"and", "unless", "offset"}
	promConditions = []string{"=", "!=", "=~", "!~"}
)

// parseQuery reads the part of PromQL that the dashboard and the rules use. What
// it does not know is an error, so that nothing goes unseen.
func parseQuery(text string) (q query, err error) {
	var tokens []string
	read := 0
	for _, at := range promToken.FindAllStringIndex(text, -1) {
		if at[0] != read {
			break
		}
		read = at[1]
		if token := strings.TrimSpace(text[at[0]:at[1]]); token != "" {
			tokens = append(tokens, token)
		}
	}
	if read != len(text) {
		return q, fmt.Errorf("cannot read %q", text[read:])
	}
	for len(tokens) > 0 {
		if tokens, err = q.take(tokens); err != nil {
			return q, err
		}
	}
	return q, nil
}

// take reads what the first token begins, and gives the tokens behind it.
func (q *query) take(tokens []string) ([]string, error) {
	word, rest := tokens[0], tokens[1:]
	next := ""
	if len(rest) > 0 {
		next = rest[0]
	}
	switch {
	case !promName.MatchString(word), slices.Contains(promWords, word):
		return rest, nil
	case slices.Contains(promGroupings, word):
		labels, behind, err := listed(rest, "(", ")")
		q.grouped = append(q.grouped, labels...)
		return behind, err
	case word == "label_values":
		// The last of the list is a label, not a metric.
		end := slices.Index(rest, ")")
		if end < 2 {
			return nil, fmt.Errorf("label_values without a label in %v", rest)
		}
		q.grouped = append(q.grouped, rest[end-1])
		return slices.Concat(rest[:end-1], rest[end:]), nil
	case next == "(" || next == "by":
		if !slices.Contains(promFunctions, word) {
			return nil, fmt.Errorf("unknown function %s", word)
		}
		return rest, nil
	case next == "{":
		labels, behind, err := listed(rest, "{", "}")
		q.selectors = append(q.selectors, selector{word, labels})
		return behind, err
	}
	q.selectors = append(q.selectors, selector{metric: word})
	return rest, nil
}

// listed reads names between an opening and a closing sign; within braces each
// has a condition and a text.
func listed(tokens []string, opening, closing string) (names, behind []string, err error) {
	end := slices.Index(tokens, closing)
	if len(tokens) == 0 || tokens[0] != opening || end < 0 {
		return nil, nil, fmt.Errorf("no list in %v", tokens)
	}
	within := tokens[1:end]
	for len(within) > 0 {
		names = append(names, within[0])
		if within = within[1:]; opening == "{" {
			if len(within) < 2 || !slices.Contains(promConditions, within[0]) || within[1][0] != '"' {
				return nil, nil, fmt.Errorf("no condition in %v", within)
			}
			within = within[2:]
		}
		if len(within) > 0 && within[0] != "," {
			return nil, nil, fmt.Errorf("no comma in %v", within)
		}
		within = within[min(1, len(within)):]
	}
	return names, tokens[end+1:], nil
}

func TestQueriesAreRead(t *testing.T) {
	for text, want := range map[string]string{
		`hooklog_ready == 0`: "hooklog_ready[] by []",
		`a:b:c > 0.8`:        "a:b:c[] by []",
		`rate(a{x=~"$x", y!="z"}[5m]) / sum by (i, le) (rate(b[$__rate_interval]))`: "a[x y] b[] by [i le]",
		`histogram_quantile(0.99, sum by (le) (rate(a_bucket{x="}"}[5m])))`:         "a_bucket[x] by [le]",
		`label_values(a{i=~"$i"}, w)`:                                               "a[i] by [w]",
		`label_values(a, w)`:                                                        "a[] by [w]",
	} {
		q, err := parseQuery(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		got := ""
		for _, s := range q.selectors {
			got += fmt.Sprint(s.metric, s.labels, " ")
		}
		if got += fmt.Sprint("by ", q.grouped); got != want {
			t.Errorf("%s is read as %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{`a ? b`, `quantile_over(a)`, `a{x}`, `a{x=1}`, `sum by a`, `a{x="y" z="1"}`, `"`} {
		if q, err := parseQuery(text); err == nil {
			t.Errorf("%s is read as %+v", text, q)
		}
	}
}

// check reports what the query asks for that is not known; metrics has the labels
// of each metric.
func (q query) check(metrics map[string]map[string]bool) (faults []string) {
	if len(q.selectors) == 0 {
		return []string{"asks for no metric"}
	}
	all := map[string]bool{}
	for _, s := range q.selectors {
		labels, known := metrics[s.metric]
		if !known {
			faults = append(faults, "there is no "+s.metric)
			continue
		}
		maps.Copy(all, labels)
		for _, label := range s.labels {
			if !labels[label] {
				faults = append(faults, s.metric+" has no label "+label)
			}
		}
	}
	for _, label := range q.grouped {
		if !all[label] && len(faults) == 0 {
			faults = append(faults, "nothing has the label "+label)
		}
	}
	return faults
}
