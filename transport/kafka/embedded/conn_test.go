package embedded_test

import (
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/transport/kafka/embedded"
)

// dial opens a bare connection to a fresh broker.
func dial(t *testing.T) (net.Conn, *embedded.Broker) {
	t.Helper()
	broker, err := embedded.Open(embedded.Config{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	conn, err := broker.DialContext(t.Context(), "tcp", broker.Addrs()[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn, broker
}

// versions is an ApiVersions request as it stands on the wire.
func versions() []byte {
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName = "test"
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).AppendRequest(nil, req, 7)
}

func TestAConnectionCarriesRequestsAndAnswers(t *testing.T) {
	t.Parallel()
	conn, _ := dial(t)
	request := versions()
	for range 3 {
		for i := range request { // in the smallest pieces
			if _, err := conn.Write(request[i : i+1]); err != nil {
				t.Fatal(err)
			}
		}
		var size [4]byte
		if _, err := io.ReadFull(conn, size[:]); err != nil {
			t.Fatal(err)
		}
		answer := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(conn, answer); err != nil {
			t.Fatal(err)
		}
		if corr := binary.BigEndian.Uint32(answer); corr != 7 {
			t.Errorf("the answer is to request %d", corr)
		}
	}
}

func TestAReadWaitsUntilItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		conn, _ := dial(t)
		for range 2 { // a deadline can be set anew
			started := time.Now()
			_ = conn.SetDeadline(started.Add(time.Second))
			_, err := conn.Read(make([]byte, 1))
			var timeout net.Error
			if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &timeout) || !timeout.Timeout() {
				t.Errorf("error %v", err)
			}
			if waited := time.Since(started); waited != time.Second {
				t.Errorf("it waited %s", waited)
			}
		}
		_ = conn.SetReadDeadline(time.Now().Add(-time.Second))
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a deadline in the past: %v", err)
		}
		_ = conn.SetDeadline(time.Time{})
		_, _ = conn.Write(versions())
		if _, err := conn.Read(make([]byte, 1)); err != nil {
			t.Errorf("without a deadline: %v", err)
		}
	})
}

func TestAWriteThatNobodyReadsWaitsUntilItsDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		// The broker stops reading requests while an answer waits to be read,
		// so that answers fill one direction and requests the other.
		conn, _ := dial(t)
		started := time.Now()
		_ = conn.SetWriteDeadline(started.Add(time.Second))
		var err error
		for request := versions(); err == nil; {
			_, err = conn.Write(request)
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if waited := time.Since(started); waited != time.Second {
			t.Errorf("it waited %s", waited)
		}
	})
}

func TestAClosedConnectionEndsBothSides(t *testing.T) {
	t.Parallel()
	conn, broker := dial(t)
	other, err := broker.DialContext(t.Context(), "", "")
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error, 1)
	go func() {
		_, err := conn.Read(make([]byte, 1))
		waiting <- err
	}()
	_ = conn.Close()
	if err := <-waiting; !errors.Is(err, io.EOF) {
		t.Errorf("a read that waits ends with %v", err)
	}
	if _, err := conn.Write([]byte{1}); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("a write ends with %v", err)
	}

	broker.Close()
	if _, err := other.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("after the broker has gone, a read ends with %v", err)
	}
	if _, err := broker.DialContext(t.Context(), "", ""); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after the broker has gone, a dial ends with %v", err)
	}
	_ = other.Close()
}
