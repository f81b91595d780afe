package e2e_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

// encode gives the frame of a request.
func encode(r kmsg.Request) []byte {
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("intruder")).AppendRequest(nil, r, 1)
}

// logIn are the frames with which the reader proves who it is.
func logIn(password string) []byte {
	handshake := kmsg.NewPtrSASLHandshakeRequest()
	handshake.Version, handshake.Mechanism = 1, "PLAIN"
	authenticate := kmsg.NewPtrSASLAuthenticateRequest()
	authenticate.SASLAuthBytes = []byte("\x00reader\x00" + password)
	return append(encode(handshake), encode(authenticate)...)
}

// frame puts the length in front.
func frame(content []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(content))), content...)
}

func TestNothingThatReachesTheWindowStopsTheService(t *testing.T) {
	hidden := kmsg.NewPtrFetchRequest()
	hidden.Version = 11
	topic := kmsg.NewFetchRequestTopic()
	topic.Topic, topic.Partitions = "svc.command", []kmsg.FetchRequestTopicPartition{kmsg.NewFetchRequestTopicPartition()}
	hidden.Topics = append(hidden.Topics, topic)

	s := startEmbedded(t)
	hook := s.put("eventKey=webhook.demo")
	calls := 0
	for name, sent := range map[string][]byte{
		"another protocol":       []byte("GET / HTTP/1.1\r\nHost: here\r\n\r\n"),
		"a malformed frame":      frame(bytes.Repeat([]byte{0, 3, 0xff}, 7)),
		"an unknown API key":     frame([]byte{0x27, 0x0f, 0, 0, 0, 0, 0, 1, 0xff, 0xff}),
		"a length of 2 GiB":      {0x7f, 0xff, 0xff, 0xff, 0, 3, 0, 8},
		"a negative length":      {0xff, 0xff, 0xff, 0xff, 0, 3, 0, 8},
		"a topic that is hidden": encode(hidden),
	} {
		for who, first := range map[string][]byte{"without a log-in": nil, "from the reader": logIn(readerPassword)} {
			t.Run(name+" "+who, func(t *testing.T) {
				conn := dialWindow(t, s.app.WindowAddr(), first)
				for step := 0; first != nil && step < 2; step++ {
					if answerCode(t, conn) != 0 {
						t.Fatal("the reader is not let in")
					}
				}
				wantClosed(t, conn, sent)
				s.called(hook.UUID, asJSON, `{}`)
				calls++
			})
		}
	}
	t.Run("a wrong password", func(t *testing.T) {
		conn := dialWindow(t, s.app.WindowAddr(), logIn("guessed"))
		handshaken, authenticated := answerCode(t, conn), answerCode(t, conn)
		if handshaken != 0 || authenticated != kerr.SaslAuthenticationFailed.Code {
			t.Errorf("answered with codes %d and %d", handshaken, authenticated)
		}
		wantClosed(t, conn, nil)
	})
	t.Run("a client with a wrong password is told so", func(t *testing.T) {
		client, err := kgo.NewClient(kgo.SeedBrokers(s.app.WindowAddr().String()),
			kgo.SASL(plain.Auth{User: "reader", Pass: "guessed"}.AsMechanism()))
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close()
		if err := client.Ping(t.Context()); !errors.Is(err, kerr.SaslAuthenticationFailed) {
			t.Errorf("ping: %v", err)
		}
	})
	if events := s.events("webhook.demo"); calls == 0 || len(events) != calls {
		t.Errorf("an honest reader finds %d events of %d calls", len(events), calls)
	}
}

func dialWindow(t *testing.T, window net.Addr, first []byte) net.Conn {
	t.Helper()
	conn, err := net.Dial("tcp", window.String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Write(first); err != nil {
		t.Fatal(err)
	}
	return conn
}

// answerCode reads the answer to a request of the log-in and gives its error code.
func answerCode(t *testing.T, conn net.Conn) int16 {
	t.Helper()
	var head struct {
		Length, CorrelationID int32
		Code                  int16
	}
	if err := binary.Read(conn, binary.BigEndian, &head); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, conn, int64(head.Length)-6); err != nil {
		t.Fatal(err)
	}
	return head.Code
}

// wantClosed fails the test unless the window ends the connection at once,
// without an answer to what is sent.
func wantClosed(t *testing.T, conn net.Conn, sent []byte) {
	t.Helper()
	begin := time.Now()
	if _, err := conn.Write(sent); err != nil {
		t.Fatal(err)
	}
	answered, err := io.Copy(io.Discard, conn)
	if answered != 0 || errors.Is(err, os.ErrDeadlineExceeded) || time.Since(begin) > 5*time.Second {
		t.Errorf("%d bytes came back in %s: %v", answered, time.Since(begin), err)
	}
}
