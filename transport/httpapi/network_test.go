package httpapi_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"
)

// network is a server that is reached by pipes from any address, so that the
// time of a bubble counts for its connections.
type network struct {
	conns  chan net.Conn
	closed chan struct{}
}

// serve ends with the test, which must close its own ends of the pipes.
func (w *world) serve(t *testing.T) *network {
	n := &network{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := &http.Server{Handler: w.handler, ReadTimeout: 2 * time.Minute, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(n) }()
	t.Cleanup(func() {
		_ = server.Close()
		time.Sleep(time.Second) // a connection that was cut short lingers
	})
	return n
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case conn := <-n.conns:
		return conn, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *network) Close() error {
	close(n.closed)
	return nil
}

func (n *network) Addr() net.Addr { return &net.TCPAddr{} }

type connFrom struct {
	net.Conn
	from net.Addr
}

func (c connFrom) RemoteAddr() net.Addr { return c.from }

// client is one connection; its answer is read as it comes.
type client struct {
	net.Conn
	answer  chan *http.Response // closed when the connection ends
	sending sync.WaitGroup
}

func (n *network) dial(from net.IP) *client {
	near, far := net.Pipe()
	n.conns <- connFrom{far, &net.TCPAddr{IP: from, Port: 1}}
	c := &client{Conn: near, answer: make(chan *http.Response, 1)}
	go func() {
		defer close(c.answer)
		for in := bufio.NewReaderSize(near, 512); ; {
			answer, err := http.ReadResponse(in, nil)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			c.answer <- answer
		}
	}()
	return c
}

// send writes what it can: the server may close the connection.
func (c *client) send(text string) { _, _ = io.WriteString(c, text) }

// trickle sends the head at once, and then so many bytes each second, until it
// has sent all or the server had enough.
func (c *client) trickle(head string, bytes, all int) {
	c.sending.Go(func() {
		c.send(head)
		for chunk := make([]byte, bytes); all > 0; all -= bytes {
			if _, err := c.Write(chunk); err != nil {
				return
			}
			time.Sleep(time.Second)
		}
	})
}

func (c *client) hangUp() {
	_ = c.Close()
	c.sending.Wait()
}
