package embedded

import (
	"io"
	"net"
	"os"
	"sync"
	"time"
)

// streamBytes is how much a connection holds in one direction before its
// writer waits.
const streamBytes = 256 << 10

// conn is one end of a connection inside the process: two streams. It is for
// one reader and one writer at a time.
type conn struct{ in, out *stream }

func newConnPair() (client, server conn) {
	up, down := newStream(), newStream()
	return conn{in: down, out: up}, conn{in: up, out: down}
}

func (c conn) Read(p []byte) (int, error)         { return c.in.read(p) }
func (c conn) Write(p []byte) (int, error)        { return c.out.write(p) }
func (c conn) SetReadDeadline(t time.Time) error  { return c.in.setDeadline(&c.in.readBy, t) }
func (c conn) SetWriteDeadline(t time.Time) error { return c.out.setDeadline(&c.out.writeBy, t) }
func (conn) LocalAddr() net.Addr                  { return address }
func (conn) RemoteAddr() net.Addr                 { return address }

func (c conn) SetDeadline(t time.Time) error {
	_ = c.SetReadDeadline(t)
	return c.SetWriteDeadline(t)
}

// Close ends both directions; the other end still reads what was written.
func (c conn) Close() error {
	c.out.close()
	c.in.close()
	return nil
}

// stream is a bounded queue of bytes.
type stream struct {
	mu      sync.Mutex
	changed sync.Cond
	queue   []byte // queue[taken:] is unread
	taken   int
	closed  bool

	readBy, writeBy deadline
}

type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func newStream() *stream {
	s := &stream{}
	s.changed.L = &s.mu
	return s
}

func (s *stream) read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.taken == len(s.queue) {
		switch {
		case s.closed:
			return 0, io.EOF
		case s.readBy.passed():
			return 0, os.ErrDeadlineExceeded
		}
		s.changed.Wait()
	}
	n := copy(p, s.queue[s.taken:])
	s.taken += n
	if s.taken == len(s.queue) {
		s.queue, s.taken = s.queue[:0], 0
	}
	s.changed.Broadcast()
	return n, nil
}

func (s *stream) write(p []byte) (written int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.closed:
			return written, io.ErrClosedPipe
		case s.writeBy.passed():
			return written, os.ErrDeadlineExceeded
		case len(p) == 0:
			return written, nil
		}
		n := min(len(p), streamBytes-(len(s.queue)-s.taken))
		if n == 0 {
			s.changed.Wait()
			continue
		}
		if len(s.queue)+n > streamBytes {
			s.queue, s.taken = s.queue[:copy(s.queue, s.queue[s.taken:])], 0
		}
		s.queue = append(s.queue, p[:n]...)
		p = p[n:]
		written += n
		s.changed.Broadcast()
	}
}

// setDeadline wakes those that wait when the time has come. A timer is kept for
// the next deadline: the client sets two with every request.
func (s *stream) setDeadline(d *deadline, t time.Time) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.at = t
	switch {
	case s.closed:
		return net.ErrClosed
	case t.IsZero():
		if d.timer != nil {
			d.timer.Stop()
		}
	case d.timer == nil:
		d.timer = time.AfterFunc(time.Until(t), s.wake)
	default:
		d.timer.Reset(time.Until(t))
	}
	return nil
}

func (s *stream) wake() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed.Broadcast()
}

func (s *stream) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for _, d := range []*deadline{&s.readBy, &s.writeBy} {
		if d.timer != nil {
			d.timer.Stop()
		}
	}
	s.changed.Broadcast()
}
