// Package window is the opt-in, read-only gateway through which ordinary Kafka
// clients consume from the embedded broker. It listens on loopback, lets one
// user in (`reader`, SASL PLAIN) and passes on a short list of requests for the
// topics that are made for consumers: svc.event.* and svc.call.
//
// It is deliberately no broker and no general proxy: it never writes a record,
// never shows the other topics, never touches the consumer groups of the
// service itself, and no byte of a client reaches the broker unparsed. Whatever
// it does not know ends the connection. Only transport/kafka/embedded and cmd
// may import it.
package window

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime/debug"
	"sync"
	"syscall"

	"hooklog/domain/secret"
)

// maxConnections bounds memory and descriptors; a consumer has two or three.
const maxConnections = 64

// Config is what a Window needs; every field is required.
type Config struct {
	// Listen is host:port of a loopback address; port 0 takes a free one.
	Listen string
	// Password is that of the user `reader`.
	Password secret.Password
	// Dial opens a fresh connection to the embedded broker, which is one node.
	Dial func(ctx context.Context) (net.Conn, error)
	Log  *slog.Logger
}

// Window is a listening gateway.
type Window struct {
	listener *net.TCPListener
	password secret.Password
	dial     func(ctx context.Context) (net.Conn, error)
	log      *slog.Logger

	mu       sync.Mutex
	closed   bool
	open     map[net.Conn]struct{}
	handlers sync.WaitGroup
}

// Open listens; clients are served once Serve runs.
func Open(cfg Config) (*Window, error) {
	if cfg.Password.IsZero() {
		return nil, errors.New("the window needs a password for its reader")
	}
	addr, err := net.ResolveTCPAddr("tcp", cfg.Listen)
	if err != nil {
		return nil, fmt.Errorf("window address: %w", err)
	}
	if !addr.IP.IsLoopback() {
		return nil, fmt.Errorf("the window listens on loopback only, not on %q: use 127.0.0.1:PORT", cfg.Listen)
	}
	listener, err := net.ListenTCP("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("open window: %w", err)
	}
	return &Window{
		listener: listener,
		password: cfg.Password,
		dial:     cfg.Dial,
		log:      cfg.Log,
		open:     make(map[net.Conn]struct{}),
	}, nil
}

// Addr is where the window listens, and what it names to clients as the
// address of the broker.
func (w *Window) Addr() net.Addr { return w.listener.Addr() }

// Serve accepts clients until Close, after which it returns nil.
func (w *Window) Serve() error {
	for {
		conn, err := w.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("window: %w", err)
		}
		if !w.admit(conn) {
			_ = conn.Close()
			w.log.Warn("window refused a connection", "remote", conn.RemoteAddr().String(), "limit", maxConnections)
		}
	}
}

// Close stops listening, closes every connection and waits for their ends.
func (w *Window) Close() error {
	w.mu.Lock()
	w.closed = true
	err := w.listener.Close()
	for conn := range w.open {
		_ = conn.Close()
	}
	w.mu.Unlock()
	w.handlers.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// admit starts the handler of conn, unless the window is full or closed.
func (w *Window) admit(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || len(w.open) >= maxConnections {
		return false
	}
	w.open[conn] = struct{}{}
	w.handlers.Go(func() { w.handle(conn) })
	return true
}

// handle serves one client to its end; a panic ends this client alone.
func (w *Window) handle(conn net.Conn) {
	log := w.log.With("remote", conn.RemoteAddr().String())
	defer func() {
		if p := recover(); p != nil {
			// Its value may quote what the client sent.
			log.Error("window connection panicked", "stack", string(debug.Stack()))
		}
		w.mu.Lock()
		delete(w.open, conn)
		w.mu.Unlock()
		_ = conn.Close() // last, so that who sees the end finds a free place
	}()

	err := w.login(conn)
	if err == nil {
		err = w.relay(conn)
	}
	if !isHangUp(err) {
		log.Info("window closed a connection", "reason", err)
	}
}

// isHangUp tells a client that left, or a window that closed, from a refusal.
func isHangUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}
