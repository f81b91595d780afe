package checkpoints_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/record"
	"hooklog/transport/checkpoints"
)

// shelf is a sink in memory that can be out of order.
type shelf struct {
	mu     sync.Mutex
	notes  []string
	broken error
}

func (s *shelf) Held(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.notes) == 0 {
		return "", s.broken
	}
	return s.notes[len(s.notes)-1], s.broken
}

func (s *shelf) Put(_ context.Context, note string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.notes = append(s.notes, note)
	}
	return s.broken
}

// run lets the instance sign until the end of the test.
func run(t *testing.T, i *instance) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { i.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
}

// pass lets time go by, and all that it sets off.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestTheSchedule(t *testing.T) {
	tests := map[string]func(t *testing.T, w *world){
		"signs when the log has grown, and only then": func(t *testing.T, w *world) {
			run(t, w.instance(time.Minute, 0, nil))
			w.grow(1)
			pass(29 * time.Second)
			if n := len(w.signed()); n != 0 {
				t.Errorf("%d checkpoints before half of the interval is over", n)
			}
			pass(31 * time.Second)
			if n := len(w.signed()); n != 1 {
				t.Errorf("%d checkpoints after an interval", n)
			}
			pass(10 * time.Minute)
			if n := len(w.signed()); n != 1 {
				t.Errorf("%d checkpoints of a log that has not grown", n)
			}
			w.grow(1)
			pass(time.Minute)
			if n := len(w.signed()); n != 2 {
				t.Errorf("%d checkpoints of a log that has grown again", n)
			}
		},
		"adopts what was signed before anybody asks for a receipt": func(t *testing.T, w *world) {
			w.grow(6)
			if _, err := w.instance(0, 0, nil).Sign(t.Context()); err != nil {
				t.Fatal(err)
			}
			i := w.instance(time.Minute, 5, nil)
			run(t, i)
			synctest.Wait()
			if len(i.adopted) != 1 || i.adopted[0].Size != 6 {
				t.Errorf("adopted %+v", i.adopted)
			}
		},
		"leaves it to the instance that was first": func(t *testing.T, w *world) {
			run(t, w.instance(time.Minute, 0, nil))
			pass(10 * time.Second)
			run(t, w.instance(time.Minute, 0, nil))
			for range 60 {
				w.grow(1)
				pass(10 * time.Second)
			}
			all := w.signed()
			if n := len(all); n < 9 || n > 11 {
				t.Errorf("two instances signed %d times in ten intervals", n)
			}
			for i := range all[1:] {
				if gap := all[i+1].Time.Sub(all[i].Time); gap < 30*time.Second {
					t.Errorf("two instances signed within %s", gap)
				}
			}
		},
		"goes on when the first is gone": func(t *testing.T, w *world) {
			ctx, cancel := context.WithCancel(t.Context())
			go w.instance(time.Minute, 0, nil).Run(ctx)
			w.grow(1)
			pass(time.Minute)
			run(t, w.instance(time.Minute, 0, nil))
			cancel()
			w.grow(1)
			pass(time.Minute)
			if n := len(w.signed()); n != 2 {
				t.Errorf("%d checkpoints", n)
			}
		},
		"goes on when a clock was ahead": func(t *testing.T, w *world) {
			ahead := w.instance(0, 0, nil)
			ahead.Now = func() time.Time { return time.Now().AddDate(1, 0, 0) }
			w.grow(1)
			if _, err := ahead.Sign(t.Context()); err != nil {
				t.Fatal(err)
			}
			run(t, w.instance(time.Minute, 0, nil))
			w.grow(1)
			pass(time.Minute)
			if n := len(w.signed()); n != 2 {
				t.Errorf("%d checkpoints", n)
			}
		},
		"leaves to the sink what a log that was rolled back lacks": func(t *testing.T, w *world) {
			sink := &shelf{}
			first := w.instance(0, 0, nil)
			w.grow(3)
			if _, err := first.Sign(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.grow(3)
			lost, err := first.Sign(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sink.notes = []string{lost.Note}
			w.cut(record.TopicCall, 3)
			w.cut(record.TopicCheckpoint, 1)
			i := w.instance(time.Minute, 0, sink)
			run(t, i)
			for range 5 { // and grows again, to more than was lost
				pass(2 * time.Minute)
				if len(sink.notes) != 1 {
					t.Fatalf("the sink got %q", sink.notes[1:])
				}
				r := record.Record{Position: record.Position{Topic: record.TopicCall}, Value: []byte("another")}
				if _, err := w.AppendWait(t.Context(), &r); err != nil {
					t.Fatal(err)
				}
			}
			if says := i.lines.String(); !strings.Contains(says, "the log differs from what was signed") {
				t.Errorf("logged is %q", says)
			}
		},
		"goes on from what another run gave to the sink": func(t *testing.T, w *world) {
			sink := &shelf{}
			w.grow(3)
			before, err := w.instance(0, 0, nil).Sign(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			sink.notes = []string{before.Note}
			w.grow(3)
			run(t, w.instance(time.Minute, 0, sink))
			pass(2 * time.Minute)
			if all := w.signed(); len(all) != 2 || w.open(sink.notes[len(sink.notes)-1]).Text() != all[1].Text() {
				t.Errorf("the sink has %q", sink.notes)
			}
		},
		"tries again after the log was away": func(t *testing.T, w *world) {
			i := w.instance(time.Minute, 0, nil)
			run(t, i)
			w.grow(1)
			w.breakLog(errors.New("no broker"))
			pass(61 * time.Second)
			w.breakLog(nil)
			if !strings.Contains(i.lines.String(), "Checkpoint was not signed") {
				t.Errorf("logged is %q", i.lines)
			}
			pass(time.Minute)
			if n := len(w.signed()); n != 1 {
				t.Errorf("%d checkpoints", n)
			}
		},
		"without an interval signs only when asked, for the sink as well": func(t *testing.T, w *world) {
			sink := &shelf{}
			i := w.instance(0, 0, sink)
			run(t, i)
			w.grow(1)
			pass(24 * time.Hour)
			if n := len(w.signed()); n != 0 {
				t.Errorf("%d checkpoints", n)
			}
			signed, err := i.Sign(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if len(sink.notes) != 1 || sink.notes[0] != signed.Note {
				t.Errorf("the sink has %q", sink.notes)
			}
		},
		"gives a sink that was out of order the newest": func(t *testing.T, w *world) {
			sink := &shelf{broken: errors.New("out of order")}
			i := w.instance(time.Minute, 0, sink)
			run(t, i)
			for range 3 {
				w.grow(1)
				pass(time.Minute)
			}
			failures := i.Failures()
			if failures < 3 || !strings.Contains(i.lines.String(), "Sink did not take the checkpoint") {
				t.Errorf("%d failures, logged as %q", failures, i.lines)
			}
			sink.mu.Lock()
			sink.broken = nil
			sink.mu.Unlock()
			pass(time.Minute)
			if all := w.signed(); len(sink.notes) != 1 || w.open(sink.notes[0]).Text() != all[len(all)-1].Text() {
				t.Errorf("the sink has %q", sink.notes)
			}
			pass(10 * time.Minute)
			if len(sink.notes) != 1 || i.Failures() != failures {
				t.Errorf("the sink got what it had: %d, %d failures", len(sink.notes), i.Failures())
			}
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			synctest.Test(t, func(t *testing.T) { test(t, w) })
		})
	}
}

func TestTheFileOfASinkIsReplacedWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "checkpoint")
	sink := checkpoints.NewSink(path)
	if held, err := sink.Held(t.Context()); held != "" || err != nil {
		t.Errorf("before the first it holds %q: %v", held, err)
	}
	for _, text := range []string{"a long first checkpoint\n", "second\n"} {
		if err := sink.Put(t.Context(), text); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("the file holds %q: %v", got, err)
		}
		if held, err := sink.Held(t.Context()); held != text || err != nil {
			t.Errorf("it holds %q: %v", held, err)
		}
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	if err := checkpoints.NewSink(filepath.Join(path, "below", "a", "file")).Put(t.Context(), "x"); err == nil {
		t.Error("a file below a file was written")
	}
}

func TestTheURLOfASinkGetsAPut(t *testing.T) {
	var got []string
	status := http.StatusCreated
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		got = append(got, r.Method+" "+r.URL.Path+" "+r.Header.Get("Content-Type")+" "+string(body))
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(status)
	}))
	defer server.Close()
	sink := checkpoints.NewSink(server.URL + "/checkpoint?signature=secret")
	if err := sink.Put(t.Context(), "text"); err != nil {
		t.Fatal(err)
	}
	if len(got) != 1 || got[0] != "PUT /checkpoint text/plain; charset=utf-8 text" {
		t.Errorf("it got %q", got)
	}
	for name, other := range map[string]int{"a redirect": http.StatusTemporaryRedirect, "a refusal": http.StatusForbidden, "a failure": http.StatusInternalServerError} {
		t.Run(name+" is a failure", func(t *testing.T) {
			status, got = other, nil
			if err := sink.Put(t.Context(), "text"); err == nil || len(got) != 1 {
				t.Errorf("%v after %q", err, got)
			}
		})
	}
	t.Run("an error does not tell the URL", func(t *testing.T) {
		server.Close()
		if err := sink.Put(t.Context(), "text"); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("failed with %v", err)
		}
	})
}

func TestTheURLOfASinkIsAskedWhatItHolds(t *testing.T) {
	status := http.StatusOK
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(status)
		_, _ = io.WriteString(w, r.Method+" "+r.URL.Path)
	}))
	defer server.Close()
	sink := checkpoints.NewSink(server.URL + "/checkpoint?signature=secret")
	if held, err := sink.Held(t.Context()); held != "GET /checkpoint" || err != nil {
		t.Errorf("it holds %q: %v", held, err)
	}
	for name, other := range map[string]int{"nothing": http.StatusNotFound, "what only may be written": http.StatusForbidden, "what takes PUT alone": http.StatusMethodNotAllowed} {
		t.Run(name+" is not told", func(t *testing.T) {
			status = other
			if held, err := sink.Held(t.Context()); held != "" || err != nil {
				t.Errorf("it holds %q: %v", held, err)
			}
		})
	}
	t.Run("a failure is one, because it may hold more", func(t *testing.T) {
		status = http.StatusBadGateway
		if held, err := sink.Held(t.Context()); err == nil {
			t.Errorf("it holds %q", held)
		}
	})
	t.Run("an error does not tell the URL", func(t *testing.T) {
		server.Close()
		if _, err := sink.Held(t.Context()); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("failed with %v", err)
		}
	})
}

func TestNoSink(t *testing.T) {
	if sink := checkpoints.NewSink(""); sink != nil {
		t.Errorf("there is a sink %v", sink)
	}
}
