package httpapi_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"hooklog/domain/fault"
	"hooklog/transport/commands"
)

const export = "/api/v3/command/audit.export"

// serving answers commands with the lines, over a real connection.
func serving(t *testing.T, lines commands.Lines) (*world, string) {
	t.Helper()
	w := newWorld(t)
	w.commands.answer = lines
	server := httptest.NewServer(w.api.Handler())
	t.Cleanup(server.Close)
	return w, server.URL + export
}

func ask(t *testing.T, url string) *http.Response {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth("ada", "secret")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	return resp
}

func TestLinesAreStreamed(t *testing.T) {
	const lines = 20_000
	reached := make(chan struct{})
	w, url := serving(t, func(yield func(any, error) bool) {
		for i := range lines {
			if i == lines/2 {
				<-reached // the first half must have been sent by then
			}
			if !yield(map[string]any{"text": "<a & b>"}, nil) {
				return
			}
		}
	})
	resp := ask(t, url)
	if kind := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || kind != "application/x-ndjson" {
		t.Fatalf("%s, %s", resp.Status, kind)
	}
	n := 0
	for scan := bufio.NewScanner(resp.Body); scan.Scan(); n++ {
		if scan.Text() != `{"text":"<a & b>"}` {
			t.Fatalf("line %d is %s", n, scan.Text())
		}
		if n == lines/4 {
			close(reached)
		}
	}
	if n != lines {
		t.Errorf("%d lines", n)
	}
	t.Run("and none is an answer as well", func(t *testing.T) {
		w.commands.answer = commands.Lines(func(func(any, error) bool) {})
		resp := ask(t, url)
		if body, err := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || len(body) != 0 || err != nil {
			t.Errorf("%s, %q, %v", resp.Status, body, err)
		}
	})
}

func TestLinesThatFail(t *testing.T) {
	t.Run("before the first one are a problem", func(t *testing.T) {
		w := newWorld(t)
		w.commands.answer = commands.Lines(func(yield func(any, error) bool) { yield(nil, fault.New(fault.Unavailable, "Not now.")) })
		wantProblem(t, w.get(export), fault.Unavailable)
	})
	t.Run("in the middle break the connection off", func(t *testing.T) {
		w, url := serving(t, func(yield func(any, error) bool) {
			for range 10_000 {
				if !yield("a line", nil) {
					return
				}
			}
			yield(nil, errors.New("the store is gone"))
		})
		body, err := io.ReadAll(ask(t, url).Body)
		if err == nil || len(body) == 0 {
			t.Errorf("%d bytes end with %v", len(body), err)
		}
		if !strings.Contains(w.log.String(), "the store is gone") {
			t.Errorf("logged %s", w.log.String())
		}
	})
}

func TestLinesEndWhenTheirReaderLeaves(t *testing.T) {
	ended := make(chan struct{})
	_, url := serving(t, func(yield func(any, error) bool) {
		defer close(ended)
		for yield(strings.Repeat("x", 1000), nil) {
		}
	})
	resp := ask(t, url)
	if _, err := io.ReadFull(resp.Body, make([]byte, 1000)); err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	<-ended
}
