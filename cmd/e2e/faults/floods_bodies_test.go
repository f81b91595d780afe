//go:build faults

package faults_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"
)

// trickle sends the beginning of a large body that nothing is known of, and then
// a byte now and then until the service has enough of it. It gives the status.
func (f *flood) trickle(from net.IP, contentType string) int {
	start := time.Now()
	at, _ := url.Parse(f.p.url)
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: from}}
	conn, err := dialer.Dial("tcp", at.Host)
	if err != nil {
		f.t.Error(err)
		return 0
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: here\r\nContent-Type: %s\r\nContent-Length: 4194304\r\n\r\n{", receivePath, contentType)
	ended := make(chan struct{})
	defer func() { <-ended }()
	go func() {
		defer close(ended)
		for {
			if _, err := io.WriteString(conn, " "); err != nil {
				return
			}
			time.Sleep(500 * time.Millisecond)
		}
	}()
	answer, _ := io.ReadAll(conn)
	_ = conn.Close()
	var status int
	_, _ = fmt.Sscanf(string(answer), "HTTP/1.1 %d", &status)
	f.note(status, time.Since(start))
	return status
}

// stall sends all of a body but its last byte, and keeps its place in the budget
// until it is refused or told to end.
func (f *flood) stall(token string, body []byte, end <-chan struct{}) {
	start := time.Now()
	at, _ := url.Parse(f.p.url)
	conn, err := net.Dial("tcp", at.Host)
	if err != nil {
		f.t.Error(err)
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	answered := make(chan struct{})
	go func() {
		defer close(answered)
		answer, _ := io.ReadAll(conn)
		var status int
		_, _ = fmt.Sscanf(string(answer), "HTTP/1.1 %d", &status)
		f.note(status, time.Since(start))
	}()
	_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: here\r\nToken: %s\r\nContent-Length: %d\r\n\r\n%s", receivePath, token, len(body), body[1:])
	select {
	case <-end:
		_ = conn.Close()
		<-answered
	case <-answered:
		// It is about the budget, not about how fast bodies can be refused.
		select {
		case <-end:
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func TestTrickledBodies(t *testing.T) {
	embeddedOnly(t)
	f := newFlood(t)
	hook := f.p.put(t, "eventKey=webhook.demo").UUID
	f.beat(new(beat), hook, 100, time.Second, nil)
	before, idle := memoryOf(t, f.p.cmd.Process.Pid), f.goroutines()
	bodies := counts(250, 1000)

	over := make(chan struct{})
	var steady beat
	var beating sync.WaitGroup
	beating.Go(func() { f.beat(&steady, hook, 100, patience, over) })
	var trickling sync.WaitGroup
	kinds := []string{"application/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=b"}
	for i := range bodies {
		trickling.Go(func() { f.trickle(net.IPv4(127, 1, byte(i/250), byte(i%250+1)), kinds[i%len(kinds)]) })
	}
	trickling.Wait()
	close(over)
	beating.Wait()
	f.mu.Lock()
	slow, slowest := f.statuses[http.StatusBadRequest], f.slowest
	f.mu.Unlock()
	grown := f.peak() - before
	t.Logf("%d trickled bodies from as many addresses: %s, the last after %s; memory grew by %d MiB from %d MiB",
		bodies, f.answered(), slowest.Round(time.Millisecond), grown>>20, before>>20)
	t.Logf("beside them: %s", steady)
	if slow != bodies || slowest > 15*time.Second {
		t.Errorf("only %d of %d bodies were ended for being slow, the last after %s", slow, bodies, slowest)
	}
	if steady.taken != steady.sent || steady.sent < 100 || steady.quantile(0.99) > time.Second {
		t.Errorf("the service did not stay responsive: %s", steady)
	}
	if limit := int64(32<<20 + bodies*64<<10); grown > limit {
		t.Errorf("memory has grown by %d MiB, more than %d MiB", grown>>20, limit>>20)
	}
	f.p.http.CloseIdleConnections()
	eventually(t, "nothing is left of them", func() bool { return f.goroutines() <= idle+10 })

	t.Run("one address gets no further than four", func(t *testing.T) {
		start := time.Now()
		var trickling sync.WaitGroup
		for range bodies {
			trickling.Go(func() { f.trickle(net.IPv4(127, 0, 0, 1), kinds[0]) })
		}
		trickling.Wait()
		f.mu.Lock()
		read, many := f.statuses[http.StatusBadRequest], f.statuses[http.StatusTooManyRequests]
		f.mu.Unlock()
		t.Logf("%d trickled bodies from one address in %s: %s", bodies, since(start), f.answered())
		// Who comes when the first have ended is read in their place.
		if read+many != bodies || read > 8 {
			t.Errorf("%d bodies of one address were read", read)
		}
	})
}

// What grows when it is written as JSON is counted as it grows.
func TestFourMebibytesThatGrow(t *testing.T) {
	embeddedOnly(t)
	const size = 4 << 20
	f := newFlood(t)
	hook := f.p.put(t, "eventKey=webhook.raw", "payloadType=raw", "maxPayloadLength=4194304").UUID
	before := memoryOf(t, f.p.cmd.Process.Pid)
	send := func(contentType string, body []byte) int {
		start := time.Now()
		status, _, err := f.p.do(http.MethodPost, receivePath, bytes.NewReader(body), "token", hook, "Content-Type", contentType)
		if err != nil {
			t.Error(err)
		}
		f.note(status, time.Since(start))
		return status
	}
	repeated := func(part string) []byte { return bytes.Repeat([]byte(part), size/len(part)) }
	file := func(content []byte) []byte {
		head := "--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n"
		return append(append([]byte(head), content[:size-200]...), "\r\n--b--\r\n"...)
	}
	const multipart = "multipart/form-data; boundary=b"
	kinds := []struct {
		name, contentType string
		body              []byte
		status            int
	}{
		{"control characters as text", "text/plain", repeated("\x01"), http.StatusUnsupportedMediaType},
		{"control characters as JSON", "application/json", repeated("\x01"), http.StatusUnsupportedMediaType},
		{"control characters as a file", multipart, file(repeated("\x01")), http.StatusUnsupportedMediaType},
		{"zeros", "text/plain", repeated("\x00"), http.StatusUnsupportedMediaType},
		{"tabs, which are allowed", "text/plain", repeated("\t"), http.StatusRequestEntityTooLarge},
		{"quotes", "text/plain", repeated(`"`), http.StatusRequestEntityTooLarge},
		{"quotes that are no JSON", "application/json", repeated(`"`), http.StatusRequestEntityTooLarge},
		{"quotes in a file", multipart, file(repeated(`"`)), http.StatusRequestEntityTooLarge},
		{"a JSON string of escapes", "application/json", fmt.Appendf(nil, `"%s"`, strings.Repeat(`\u0001`, (size-2)/6)), http.StatusOK},
		{"letters", "text/plain", repeated("a"), http.StatusOK},
	}
	for _, kind := range kinds {
		if status := send(kind.contentType, kind.body); status != kind.status {
			t.Errorf("4 MiB of %s: answered %d, want %d", kind.name, status, kind.status)
		}
	}
	t.Logf("4 MiB of each kind: %s", f.answered())

	rounds := counts(2, 12)
	start := time.Now()
	var sending sync.WaitGroup
	for i := range 16 {
		sending.Go(func() {
			for n := range rounds {
				kind := kinds[(i+n)%(len(kinds)-2)] // none that is kept
				if status := send(kind.contentType, kind.body); status != kind.status && status != http.StatusServiceUnavailable {
					t.Errorf("4 MiB of %s at once: answered %d", kind.name, status)
				}
			}
		})
	}
	sending.Wait()
	grown := f.peak() - before
	t.Logf("%d × 4 MiB, 16 at a time, in %s: %s; memory grew by %d MiB from %d MiB", 16*rounds, since(start), f.answered(), grown>>20, before>>20)
	if grown > 2*(128<<20) {
		t.Errorf("memory has grown by %d MiB, more than twice the budget", grown>>20)
	}
}
