package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// load is a closed loop: every connection sends its next request when it has the
// answer to the last one.
type load struct {
	Address     string
	Connections int
	// Requests are sent in turn, byte for byte.
	Requests         [][]byte
	WarmUp, Measured time.Duration
}

// loadBegun says that what is measured begins.
type loadBegun struct{}

// loadDone is what was measured.
type loadDone struct {
	Acknowledged, Refused int
	// Refusal is the first answer that was no 200.
	Refusal  string
	Elapsed  time.Duration
	P50, P99 time.Duration
	// CPU is the generator's own processor time.
	CPU time.Duration
}

// generateLoad is the role of the load generator. It shares the processors with
// the server, so it speaks HTTP by hand and on one thread.
func generateLoad(config []byte) error {
	runtime.GOMAXPROCS(1)
	var l load
	if err := json.Unmarshal(config, &l); err != nil {
		return err
	}
	callers := make([]*caller, l.Connections)
	for i := range callers {
		conn, err := net.Dial("tcp", l.Address)
		if err != nil {
			return err
		}
		callers[i] = &caller{load: &l, conn: conn, next: i}
	}
	var (
		phase   atomic.Int32
		running sync.WaitGroup
		failed  = make(chan error, len(callers))
	)
	for _, c := range callers {
		running.Go(func() { failed <- c.run(&phase) })
	}
	time.Sleep(l.WarmUp)
	phase.Store(measuring)
	tell(loadBegun{})
	began, cpu := time.Now(), ownCPU()
	time.Sleep(l.Measured)
	phase.Store(over)
	done := loadDone{Elapsed: time.Since(began), CPU: ownCPU() - cpu}
	running.Wait()
	for range callers {
		if err := <-failed; err != nil {
			return err
		}
	}
	done.sum(callers)
	tell(done)
	return nil
}

// The phases of a load.
const (
	_ int32 = iota // warming up
	measuring
	over
)

func (d *loadDone) sum(callers []*caller) {
	var took []time.Duration
	for _, c := range callers {
		took = append(took, c.took...)
		d.Refused += c.refused
		if d.Refusal == "" {
			d.Refusal = c.refusal
		}
	}
	d.Acknowledged = len(took)
	if len(took) > 0 {
		slices.Sort(took)
		d.P50, d.P99 = took[len(took)/2], took[len(took)*99/100]
	}
}

// caller is one connection.
type caller struct {
	load *load
	conn net.Conn
	next int // request
	buf  [8 << 10]byte

	took    []time.Duration // of the acknowledged calls
	refused int
	refusal string
}

func (c *caller) run(phase *atomic.Int32) error {
	defer func() { _ = c.conn.Close() }()
	for {
		counts := phase.Load() == measuring
		request := c.load.Requests[c.next%len(c.load.Requests)]
		c.next++
		began := time.Now()
		if _, err := c.conn.Write(request); err != nil {
			return err
		}
		answer, err := c.answer()
		if err != nil {
			return err
		}
		took := time.Since(began)
		if phase.Load() == over {
			return nil
		}
		switch {
		case !counts:
		case bytes.HasPrefix(answer, []byte("HTTP/1.1 200 ")):
			c.took = append(c.took, took)
		default:
			c.refused++
			c.refusal = string(answer)
		}
	}
}

var (
	headersEnd    = []byte("\r\n\r\n")
	contentLength = []byte("\r\nContent-Length: ")
	errAnswer     = errors.New("an answer has no length, or does not fit")
)

// answer reads one whole answer, which has a length: both servers give small
// answers.
func (c *caller) answer() ([]byte, error) {
	have, want := 0, len(c.buf)+1
	for have < want {
		if have == len(c.buf) {
			return nil, errAnswer
		}
		n, err := c.conn.Read(c.buf[have:])
		if err != nil {
			return nil, fmt.Errorf("read an answer: %w", err)
		}
		have += n
		end := bytes.Index(c.buf[:have], headersEnd)
		if end < 0 {
			continue
		}
		_, rest, found := bytes.Cut(c.buf[:end+2], contentLength)
		if !found {
			return nil, errAnswer
		}
		digits, _, _ := bytes.Cut(rest, headersEnd[:2])
		length, err := strconv.Atoi(string(digits))
		if err != nil {
			return nil, errAnswer
		}
		want = end + len(headersEnd) + length
	}
	return c.buf[:have], nil
}

// ownCPU is the processor time that this process has used so far.
func ownCPU() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used) // fails for no process of its own
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
