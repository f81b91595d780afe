package embedded

import (
	"context"
	"net"
	"sync"
)

// address is the broker's name on its network; nothing resolves it elsewhere.
const address memoryAddr = "embedded:9092"

type memoryAddr string

func (memoryAddr) Network() string  { return "memory" }
func (a memoryAddr) String() string { return string(a) }

// network joins the one broker and its clients inside the process. Its
// connections are buffered: with unbuffered ones (net.Pipe, which the broker's
// library offers) both sides meet for every read, and an append costs a quarter
// more processor time.
type network struct {
	arrivals chan net.Conn
	closed   chan struct{}
	close    func()
}

func newNetwork() *network {
	n := &network{arrivals: make(chan net.Conn), closed: make(chan struct{})}
	n.close = sync.OnceFunc(func() { close(n.closed) })
	return n
}

// listen gives the network as the listener, whatever address is asked for.
func (n *network) listen(_, _ string) (net.Listener, error) { return n, nil }

func (n *network) dial(ctx context.Context) (net.Conn, error) {
	client, server := newConnPair()
	select {
	case n.arrivals <- server:
		return client, nil
	case <-n.closed:
		return nil, opError("dial", net.ErrClosed)
	case <-ctx.Done():
		return nil, opError("dial", ctx.Err())
	}
}

func (n *network) Accept() (net.Conn, error) {
	select {
	case conn := <-n.arrivals:
		return conn, nil
	case <-n.closed:
		return nil, opError("accept", net.ErrClosed)
	}
}

func (n *network) Close() error {
	n.close()
	return nil
}

func (n *network) Addr() net.Addr { return address }

func opError(op string, err error) error {
	return &net.OpError{Op: op, Net: address.Network(), Addr: address, Err: err}
}
