package telemetry_test

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/transport/telemetry"
)

// calls makes n spans.
func calls(tracer *telemetry.Tracer, n int) {
	for range n {
		span := tracer.Receive(request(""), path, time.Now(), orders)
		span.Answered(http.StatusOK, nil)
	}
}

func TestSpansAreExported(t *testing.T) {
	t.Run("when a batch is full", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			tracer, collected := recording(t, every)
			calls(tracer, 25)
			synctest.Wait()
			if !slices.Equal(collected.batches(), []int{10, 10}) {
				t.Errorf("batches of %v", collected.batches())
			}
			tracer.Close()
			if !slices.Equal(collected.batches(), []int{10, 10, 5}) {
				t.Errorf("in the end batches of %v", collected.batches())
			}
		})
	})
	t.Run("after a while", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			tracer, collected := recording(t, every)
			calls(tracer, 3)
			time.Sleep(every.Delay - 1)
			synctest.Wait()
			if len(collected.batches()) > 0 {
				t.Errorf("too early: batches of %v", collected.batches())
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if !slices.Equal(collected.batches(), []int{3}) {
				t.Errorf("batches of %v", collected.batches())
			}
			tracer.Close()
		})
	})
}

func TestNobodyWaitsForACollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracer, collected := recording(t, every)
		answer := make(chan struct{})
		collected.before = func() error { <-answer; return nil }
		calls(tracer, every.QueueSize+50)
		close(answer)
		synctest.Wait()
		calls(tracer, 5) // there is room again
		tracer.Close()
		if got := len(collected.spans); got != every.QueueSize+5 {
			t.Errorf("%d spans were exported, want what the queue holds and 5 more", got)
		}
	})
}

func TestAnExportThatFailsIsNoEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tracer, collected := recording(t, every)
		failing := errors.New("away")
		collected.before = func() error { defer func() { failing = nil }(); return failing }
		calls(tracer, every.BatchSize)
		synctest.Wait()
		calls(tracer, every.BatchSize)
		synctest.Wait()
		if !slices.Equal(collected.batches(), []int{every.BatchSize}) {
			t.Errorf("batches of %v", collected.batches())
		}
		tracer.Close()
	})
}

func TestAShareOfTheTracesIsRecorded(t *testing.T) {
	half := telemetry.Config{Share: 0.5, QueueSize: 1 << 15, BatchSize: 1 << 10, Delay: time.Hour, Timeout: time.Minute}
	tracer, collected := recording(t, half)
	const n = 4000
	calls(tracer, n)
	tracer.Close()
	if got := len(collected.spans); got < n*4/10 || got > n*6/10 {
		t.Errorf("%d of %d traces were recorded", got, n)
	}
}

func TestAStopDoesNotWaitForACollectorThatHangs(t *testing.T) {
	for name, before := range map[string]time.Duration{"at once": 0, "in the middle of an export": time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tracer, collected := recording(t, every)
				collected.hangs = true
				calls(tracer, every.QueueSize)
				time.Sleep(before)
				began := time.Now()
				tracer.Close()
				if took := time.Since(began); took > 6*time.Second {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

func TestWhatComesDuringAnExportWaitsForOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		steady := every
		steady.Delay = time.Second
		tracer, collected := recording(t, steady)
		collected.before = func() error { time.Sleep(10 * time.Millisecond); return nil }
		for range 1000 { // for five seconds
			calls(tracer, 1)
			time.Sleep(5 * time.Millisecond)
		}
		tracer.Close()
		if n := len(collected.batches()); n > 1000/steady.BatchSize+10 {
			t.Errorf("1000 spans were exported in %d batches", n)
		}
	})
}

func TestEveryLostSpanIsLogged(t *testing.T) {
	lines := func(end func(*telemetry.Tracer)) string {
		var log bytes.Buffer
		collected := &collector{before: func() error { return errors.New("away") }}
		short := every
		short.Delay = time.Second
		tracer := telemetry.New(short, collected, nil, slog.New(slog.NewTextHandler(&log, nil)))
		for range 3 { // within the while that a line is silent for
			calls(tracer, every.BatchSize)
			synctest.Wait()
		}
		end(tracer)
		synctest.Wait()
		text := log.String()
		tracer.Close()
		return text
	}
	for name, end := range map[string]func(*telemetry.Tracer){
		"when the service stops": (*telemetry.Tracer).Close,
		"after a while":          func(*telemetry.Tracer) { time.Sleep(time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				text := lines(end)
				if !strings.Contains(text, "count=10 ") || !strings.Contains(text, "count=20 ") {
					t.Errorf("of 30 lost spans the log says:\n%s", text)
				}
			})
		})
	}
}
