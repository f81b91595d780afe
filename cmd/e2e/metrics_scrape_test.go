package e2e_test

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// sample is one series of a scrape.
type sample struct {
	name   string
	labels map[string]string
	value  float64
}

// scrape is what /metrics answers.
type scrape struct {
	t       *testing.T
	samples []sample
	// types are those of the metrics, by their names: counter, gauge, histogram.
	types map[string]string
}

var (
	sampleLine = regexp.MustCompile(`^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$`)
	labelPair  = regexp.MustCompile(`([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"(?:,|$)`)
	typeLine   = regexp.MustCompile(`^# TYPE (\S+) (\S+)$`)
)

// scrape asks the ops listener for the metrics.
func (s *service) scrape() scrape {
	s.t.Helper()
	return parseScrape(s.t, s.send(http.MethodGet, "http://"+s.app.OpsAddr().String()+"/metrics", nil).want(http.StatusOK).body)
}

func parseScrape(t *testing.T, text []byte) scrape {
	t.Helper()
	all := scrape{t: t, types: map[string]string{}}
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if kind := typeLine.FindStringSubmatch(line); kind != nil {
			all.types[kind[1]] = kind[2]
		}
		if strings.HasPrefix(line, "#") {
			continue
		}
		parts := sampleLine.FindStringSubmatch(line)
		if parts == nil {
			t.Fatalf("no line of a scrape: %s", line)
		}
		value, err := strconv.ParseFloat(parts[3], 64)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		one := sample{name: parts[1], labels: map[string]string{}, value: value}
		for _, pair := range labelPair.FindAllStringSubmatch(parts[2], -1) {
			one.labels[pair[1]] = pair[2]
		}
		all.samples = append(all.samples, one)
	}
	return all
}

// sum adds the series of a metric that have the labels, given as key=value.
func (s scrape) sum(name string, labels ...string) (sum float64) {
	for _, one := range s.samples {
		if one.name == name && one.has(labels) {
			sum += one.value
		}
	}
	return sum
}

func (s sample) has(labels []string) bool {
	for _, label := range labels {
		key, value, _ := strings.Cut(label, "=")
		if got, ok := s.labels[key]; !ok || got != value {
			return false
		}
	}
	return true
}

// want fails the test unless the sum is the value.
func (s scrape) want(value float64, name string, labels ...string) {
	s.t.Helper()
	if got := s.sum(name, labels...); got != value {
		s.t.Errorf("%s%v is %v, want %v", name, labels, got, value)
	}
}

// wantSome fails the test unless the sum is above 0.
func (s scrape) wantSome(name string, labels ...string) {
	s.t.Helper()
	if s.sum(name, labels...) <= 0 {
		s.t.Errorf("%s%v is not above 0", name, labels)
	}
}

// labels are those that the series of a metric have; nil means that there are no
// such series.
func (s scrape) labels(name string) map[string]bool {
	var all map[string]bool
	for _, one := range s.samples {
		if one.name != name {
			continue
		}
		if all == nil {
			all = map[string]bool{}
		}
		for label := range one.labels {
			all[label] = true
		}
	}
	return all
}
