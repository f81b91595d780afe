package httpapi_test

import (
	"fmt"
	"net"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"hooklog/domain/fault"
)

var somewhere = net.IPv4(192, 0, 2, 1)

func head(contentType string, length int, token string) string {
	text := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n", receive, contentType, length)
	if token != "" {
		text += "Token: " + token + "\r\n"
	}
	return text + "\r\n"
}

func TestABodyHasToKeepComing(t *testing.T) {
	for name, c := range map[string]struct {
		rate, size int
		status     int
		after      time.Duration
	}{
		"one that stops is given up after the grace":       {rate: 1, size: 100, status: 400, after: 5 * time.Second},
		"one of half the rate is given up":                 {rate: 512, size: 100_000, status: 400, after: 8 * time.Second},
		"one that keeps the rate is taken":                 {rate: 1 << 10, size: 20 << 10, status: 200, after: 19 * time.Second},
		"one that keeps the rate for ever is given up too": {rate: 2 << 10, size: 500 << 10, status: 400, after: 2 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				caller := w.serve(t).dial(somewhere)
				defer caller.hangUp()
				began := time.Now()
				caller.trickle(head("text/plain", c.size, token), c.rate, c.size)
				answer := <-caller.answer
				if answer == nil || answer.StatusCode != c.status {
					t.Fatalf("answered %+v", answer)
				}
				if took := time.Since(began); took.Round(time.Second) != c.after {
					t.Errorf("answered after %v", took)
				}
				if answer.Close != (c.status != http.StatusOK) {
					t.Errorf("closes the connection: %t", answer.Close)
				}
			})
		})
	}
}

func TestABodyThatCameFastMayNotStandStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		caller := w.serve(t).dial(somewhere)
		defer caller.hangUp()
		began := time.Now()
		caller.send(head("text/plain", 500_000, token) + strings.Repeat("x", 499_999))
		if answer := <-caller.answer; answer == nil || answer.StatusCode != http.StatusBadRequest {
			t.Fatalf("answered %+v", answer)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("its memory was taken for %v", took)
		}
	})
}

func TestThePaceOfABodyDoesNotEndWhatFollowsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, listenedBy("slow@1"), func(w *world) { w.cfg.ResultWindow = 20 * time.Second })
		caller := w.serve(t).dial(somewhere)
		defer caller.hangUp()
		for range 2 { // the second on the same connection
			began := time.Now()
			caller.send(head("text/plain", 1, token) + "x")
			answer := <-caller.answer
			if answer == nil || answer.StatusCode != http.StatusOK || time.Since(began) != 20*time.Second {
				t.Fatalf("answered %+v after %v", answer, time.Since(began))
			}
		}
	})
}

func TestWhoIsRefusedHasNoTimeToTrickle(t *testing.T) {
	for name, request := range map[string]string{
		"an unknown token":             head("text/plain", 1000, unknown),
		"an unknown token, announcing": strings.Replace(head("text/plain", 1000, unknown), "Host", "Expect: 100-continue\r\nHost", 1),
		"a command without a user":     strings.Replace(head("text/plain", 1000, ""), "webhook.receive", "webhook.put", 1),
		"a path that is none":          strings.Replace(head("text/plain", 1000, ""), receive, "/nothing", 1),
		"a wrong method":               strings.Replace(head("text/plain", 1000, token), "POST", "PUT", 1),
		"an encoded body":              strings.Replace(head("text/plain", 1000, token), "Host", "Content-Encoding: gzip\r\nHost", 1),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, func(w *world) { w.auth = fault.New(fault.Unauthenticated, "Who?") })
				caller := w.serve(t).dial(somewhere)
				defer caller.hangUp()
				began := time.Now()
				caller.trickle(request, 1, 1000)
				answer := <-caller.answer
				if answer == nil || answer.StatusCode < 400 {
					t.Fatalf("answered %+v", answer)
				}
				if _, open := <-caller.answer; open || time.Since(began) > 2*time.Second {
					t.Errorf("the connection was open for %v", time.Since(began))
				}
			})
		})
	}
}

func TestAThousandTrickledBodiesEndByThemselves(t *testing.T) {
	const bodies = 1000
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		server := w.serve(t)
		before := inUse()
		statuses := make(chan int, bodies)
		var callers sync.WaitGroup
		began := time.Now()
		for i := range bodies {
			callers.Go(func() {
				caller := server.dial(net.IPv4(10, 0, byte(i/4/250), byte(i/4%250)))
				defer caller.hangUp()
				caller.trickle(head("application/x-www-form-urlencoded", 1<<20, ""), 1, 1<<20)
				answer := <-caller.answer
				if answer == nil {
					t.Error("a body was not answered")
					return
				}
				statuses <- answer.StatusCode
			})
		}
		time.Sleep(3 * time.Second)
		during := inUse() - before
		honest := server.dial(somewhere)
		defer honest.hangUp()
		honest.send(head("text/plain", 2, token) + "ok")
		if answer := <-honest.answer; answer == nil || answer.StatusCode != http.StatusOK {
			t.Errorf("meanwhile another was answered %+v", answer)
		}
		callers.Wait()
		took := time.Since(began)
		if took > 10*time.Second {
			t.Errorf("the last one ended after %v", took)
		}
		close(statuses)
		counts := map[int]int{}
		for status := range statuses {
			counts[status]++
		}
		if counts[http.StatusBadRequest] != bodies {
			t.Errorf("answers by status %v", counts)
		}
		// Both ends of the pipes, and their goroutines, are in it.
		if during > 100<<20 {
			t.Errorf("%d MiB were in use", during>>20)
		}
		t.Logf("%d bodies of 1 B/s: answers %v, the last after %v; %.1f MiB for both ends, %.0f KiB each", bodies, counts, took, float64(during)/(1<<20), float64(during)/bodies/(1<<10))
	})
}

// inUse is the memory of the process in bytes.
func inUse() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
