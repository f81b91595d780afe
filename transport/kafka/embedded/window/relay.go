package window

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// idleTimeout ends a connection that says nothing; consumers speak every
	// few seconds, and reconnect.
	idleTimeout = 10 * time.Minute
	// writeTimeout ends a client that does not take its answer.
	writeTimeout = time.Minute
	// pipelined is how many requests are read ahead while one is answered, so
	// that a client that leaves during a long fetch is noticed.
	pipelined = 4
)

// relay serves a client that has logged in, over a broker connection of its
// own. Both answer in the order of the requests, so one is served at a time.
func (w *Window) relay(conn net.Conn) error {
	ctx, leave := context.WithCancelCause(context.Background())
	frames := make(chan []byte, pipelined)
	var receiver sync.WaitGroup
	receiver.Go(func() {
		defer close(frames)
		leave(receive(ctx, conn, frames))
	})
	defer func() {
		_ = conn.Close()
		leave(nil)
		receiver.Wait()
	}()

	upstream, err := w.dial(ctx)
	if err != nil {
		return fmt.Errorf("reach the embedded broker: %w", err)
	}
	defer func() { _ = upstream.Close() }()
	// A client that leaves takes its waiting request along.
	defer context.AfterFunc(ctx, func() { _ = upstream.Close() })()

	s := session{broker: upstream, advertised: w.listener.Addr().(*net.TCPAddr)}
	for frame := range frames {
		answer, refusal := s.answer(frame)
		if ctx.Err() != nil {
			break
		}
		if err := conn.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return err
		}
		if _, err := conn.Write(answer); err != nil {
			return err
		}
		if refusal != nil {
			return refusal
		}
	}
	return context.Cause(ctx)
}

// receive reads frames until the client leaves, breaks a rule of frames or
// falls silent; it says which.
func receive(ctx context.Context, conn net.Conn, frames chan<- []byte) error {
	for {
		if err := conn.SetReadDeadline(time.Now().Add(idleTimeout)); err != nil {
			return err
		}
		frame, err := readFrame(conn, maxRequest)
		if err != nil {
			return err
		}
		select {
		case frames <- frame:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// session is a logged-in client's line to the broker.
type session struct {
	broker     net.Conn
	advertised *net.TCPAddr
}

// answer gives the frame that answers a client's frame, none where there is
// nothing to say; an error ends the connection.
func (s session) answer(frame []byte) ([]byte, error) {
	req, err := parseRequest(frame)
	if err != nil {
		return nil, err
	}
	switch body := req.body.(type) {
	case *kmsg.ApiVersionsRequest:
		return req.responseFrame(apiVersions(body)), nil
	case *kmsg.ProduceRequest:
		return refuseProduce(req, body), errReadOnly
	case *kmsg.MetadataRequest:
		return s.metadata(req, body)
	case *kmsg.FindCoordinatorRequest:
		return s.findCoordinator(req, body)
	case *kmsg.OffsetFetchRequest:
		return s.offsetFetch(req, body)
	}
	if err := check(req.body); err != nil {
		return nil, err
	}
	return s.ask(req)
}

// ask passes req on and gives the broker's frame, which carries the client's
// own correlation id.
func (s session) ask(req request) ([]byte, error) {
	if _, err := s.broker.Write(req.frame()); err != nil {
		return nil, fmt.Errorf("ask the embedded broker: %w", err)
	}
	frame, err := readFrame(s.broker, maxResponse)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // a broker that hangs up is no orderly end
	}
	if err != nil {
		return nil, fmt.Errorf("answer of the embedded broker: %w", err)
	}
	if len(frame) < 2*lengthSize || int32(binary.BigEndian.Uint32(frame[lengthSize:])) != req.correlation {
		return nil, errors.New("answer of the embedded broker: not to this request")
	}
	return frame, nil
}
