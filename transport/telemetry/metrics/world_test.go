package metrics_test

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hooklog/transport/telemetry/metrics"
)

var errStarting = errors.New("the service is starting")

func newMetrics(t testing.TB) *metrics.Metrics {
	t.Helper()
	m, err := metrics.New(metrics.Config{
		Version: "v1.2.3", Ready: func() error { return errStarting }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// series is what a scrape shows: the value of each series by its text.
type series map[string]string

func scrape(t testing.TB, m *metrics.Metrics) series {
	t.Helper()
	rec := httptest.NewRecorder()
	m.Handler().ServeHTTP(rec, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if rec.Code != http.StatusOK {
		t.Fatalf("scrape: %d %s", rec.Code, rec.Body)
	}
	all := series{}
	for line := range strings.Lines(rec.Body.String()) {
		if end := strings.LastIndexByte(line, ' '); !strings.HasPrefix(line, "#") {
			all[line[:end]] = strings.TrimSpace(line[end:])
		}
	}
	return all
}

// want checks series given as text and value in turn; an empty value means that
// there is none.
func (s series) want(t testing.TB, pairs ...string) {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := s[pairs[i]]; got != pairs[i+1] {
			t.Errorf("%s is %q, want %q", pairs[i], got, pairs[i+1])
		}
	}
}

// of counts the series of a metric.
func (s series) of(metric string) (n int) {
	for name := range s {
		if strings.HasPrefix(name, metric+"{") {
			n++
		}
	}
	return n
}
