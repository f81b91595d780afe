package e2e_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// exported are the metrics of a service that has done everything, with their
// labels, and with those that a scrape adds.
func exported(t *testing.T) (scrape, map[string]map[string]bool) {
	t.Helper()
	s := startEmbedded(t, measured)
	exercise(s)
	seen := s.scrape()
	metrics := map[string]map[string]bool{}
	for _, one := range seen.samples {
		if metrics[one.name] == nil {
			metrics[one.name] = map[string]bool{"instance": true}
		}
		for label := range one.labels {
			metrics[one.name][label] = true
		}
	}
	return seen, metrics
}

func TestDocumentsOfMetrics(t *testing.T) {
	if os.Getenv(brokersVariable) != "" {
		t.Skip("this run is for the brokers")
	}
	t.Parallel()
	seen, metrics := exported(t)
	t.Run("the dashboard asks for what is exported", func(t *testing.T) {
		checkQueries(t, dashboardQueries(t), metrics)
	})
	t.Run("the rules ask for what is exported, or recorded before", func(t *testing.T) {
		tests, err := os.ReadFile("../../deploy/prometheus/rules_test.yml")
		if err != nil {
			t.Fatal(err)
		}
		known := maps.Clone(metrics)
		for _, rule := range prometheusRules(t) {
			q := checkQueries(t, []string{rule.Expr}, known)[0]
			if rule.Record != "" {
				known[rule.Record] = rule.labels(q, known)
			}
			if rule.Alert != "" && (rule.Annotations["summary"] == "" || rule.Annotations["action"] == "" || rule.Labels["severity"] == "") {
				t.Errorf("%s does not say what is wrong, what to do, and how urgently", rule.Alert)
			}
			if rule.Alert != "" && !strings.Contains(string(tests), "alertname: "+rule.Alert+"\n        exp_alerts:") {
				t.Errorf("no test shows when %s fires", rule.Alert)
			}
			rule.checkTexts(t, q, known)
		}
	})
	t.Run("README lists what is exported", func(t *testing.T) {
		listed := readmeMetrics(t)
		for name, kind := range seen.types {
			if row, ok := listed[name]; strings.HasPrefix(name, "hooklog_") && !ok {
				t.Errorf("README does not list %s", name)
			} else if ok {
				row.check(t, seen, kind)
			}
		}
		for name := range listed {
			if seen.types[name] == "" {
				t.Errorf("README lists %s, which is not exported", name)
			}
		}
	})
}

func checkQueries(t *testing.T, texts []string, metrics map[string]map[string]bool) (queries []query) {
	t.Helper()
	for _, text := range texts {
		q, err := parseQuery(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, fault := range q.check(metrics) {
			t.Errorf("%s: %s", text, fault)
		}
		queries = append(queries, q)
	}
	return queries
}

func dashboardQueries(t *testing.T) (queries []string) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/grafana/hooklog.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Templating struct {
			List []struct {
				Type, Definition string
			}
		}
		Panels []struct {
			Type, Title string
			Targets     []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	for _, v := range dashboard.Templating.List {
		if v.Type == "query" {
			queries = append(queries, v.Definition)
		}
	}
	for _, panel := range dashboard.Panels {
		if panel.Type != "row" && len(panel.Targets) == 0 {
			t.Errorf("the panel %q shows nothing", panel.Title)
		}
		for _, target := range panel.Targets {
			queries = append(queries, target.Expr)
		}
	}
	if len(queries) < 40 {
		t.Errorf("the dashboard has only %d queries", len(queries))
	}
	return queries
}

type prometheusRule struct {
	Record, Alert, Expr string
	Labels, Annotations map[string]string
}

func prometheusRules(t *testing.T) (rules []prometheusRule) {
	t.Helper()
	text, err := os.ReadFile("../../deploy/prometheus/rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct{ Rules []prometheusRule }
	}
	if err := yaml.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	for _, group := range file.Groups {
		rules = append(rules, group.Rules...)
	}
	if len(rules) < 15 {
		t.Errorf("there are only %d rules", len(rules))
	}
	return rules
}

// labels are those that are left of a query: those that it groups by, or those of
// its metrics.
func (prometheusRule) labels(q query, metrics map[string]map[string]bool) map[string]bool {
	left := map[string]bool{}
	for _, label := range q.grouped {
		if label != "le" { // which becomes the quantile
			left[label] = true
		}
	}
	if len(left) == 0 {
		for _, s := range q.selectors {
			maps.Copy(left, metrics[s.metric])
		}
	}
	return left
}

var labelInText = regexp.MustCompile(`\$labels\.(\w+)`)

func (r prometheusRule) checkTexts(t *testing.T, q query, metrics map[string]map[string]bool) {
	t.Helper()
	left := r.labels(q, metrics)
	for _, text := range r.Annotations {
		for _, label := range labelInText.FindAllStringSubmatch(text, -1) {
			if !left[label[1]] {
				t.Errorf("%s speaks of the label %s, which is not there", r.Alert, label[1])
			}
		}
	}
}

// metricRow is a row of the table in README.
type metricRow struct {
	name, kind string
	labels     []string
}

var (
	metricLine = regexp.MustCompile("^\\| `(hooklog_[a-z_]+)` \\| (\\w+) \\|([^|]*)\\|")
	inTicks    = regexp.MustCompile("`([a-z_]+)`")
)

func readmeMetrics(t *testing.T) map[string]metricRow {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]metricRow{}
	for line := range strings.Lines(string(text)) {
		parts := metricLine.FindStringSubmatch(line)
		if parts == nil {
			continue
		}
		row := metricRow{name: parts[1], kind: parts[2]}
		for _, label := range inTicks.FindAllStringSubmatch(parts[3], -1) {
			row.labels = append(row.labels, label[1])
		}
		rows[row.name] = row
	}
	return rows
}

// check holds the row against what is exported.
func (r metricRow) check(t *testing.T, seen scrape, kind string) {
	t.Helper()
	if r.kind != kind {
		t.Errorf("README calls %s a %s, and it is a %s", r.name, r.kind, kind)
	}
	series := r.name
	if kind == "histogram" {
		series += "_count"
	}
	have := slices.Sorted(maps.Keys(seen.labels(series)))
	slices.Sort(r.labels)
	if !slices.Equal(have, r.labels) {
		t.Errorf("README gives %s the labels %v, and it has %v", r.name, r.labels, have)
	}
}
