package window_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"hooklog/domain/secret"
	"hooklog/transport/kafka/embedded/window"
)

const (
	password   = "correct horse"
	eventTopic = "svc.event.webhook.demo"
	hidden     = "svc.command"

	inProcess = "localhost:9092"
	patience  = 10 * time.Second
)

// house is an embedded broker with a window, as the service has them.
type house struct {
	network *kfake.VirtualNetwork
	own     *kgo.Client // the service's own, which may do everything
	window  *window.Window
}

type dialer = func(ctx context.Context) (net.Conn, error)

// open starts a house; wrap may change how the window reaches the broker.
func open(t *testing.T, wrap ...func(dialer) dialer) *house {
	t.Helper()
	h := &house{network: new(kfake.VirtualNetwork)}
	cluster, err := kfake.NewCluster(
		kfake.NumBrokers(1), kfake.Ports(9092), kfake.ListenFn(h.network.Listen),
		kfake.AllowAutoTopicCreation(), // so that only the window can be what prevents it
		kfake.SeedTopics(1, eventTopic, "svc.call", hidden),
	)
	must(t, err)
	t.Cleanup(cluster.Close)

	h.own, err = kgo.NewClient(kgo.SeedBrokers(inProcess), kgo.Dialer(h.network.DialContext))
	must(t, err)
	t.Cleanup(h.own.Close)

	dial := func(ctx context.Context) (net.Conn, error) { return h.network.DialContext(ctx, "tcp", inProcess) }
	for _, w := range wrap {
		dial = w(dial)
	}
	h.window, err = window.Open(window.Config{
		Listen:   "127.0.0.1:0",
		Password: secret.NewPassword(password),
		Dial:     dial,
		Log:      slog.New(slog.NewTextHandler(t.Output(), nil)),
	})
	must(t, err)
	served := make(chan error, 1)
	go func() { served <- h.window.Serve() }()
	t.Cleanup(func() {
		if err := h.window.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
		if err := <-served; err != nil {
			t.Errorf("Serve after Close: %v", err)
		}
	})
	return h
}

// append writes records "<topic> <n>" for n in [from, to), each with a header.
func (h *house) append(t *testing.T, topic string, from, to int) {
	t.Helper()
	for n := from; n < to; n++ {
		record := &kgo.Record{
			Topic: topic, Value: fmt.Appendf(nil, "%s %d", topic, n),
			Headers: []kgo.RecordHeader{{Key: "ce_id", Value: fmt.Appendf(nil, "id-%d", n)}},
		}
		must(t, h.own.ProduceSync(t.Context(), record).FirstErr())
	}
}

// client is an ordinary franz-go client of the window, logged in as reader.
func (h *house) client(t *testing.T, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	return h.clientWith(t, plain.Auth{User: "reader", Pass: password}, opts...)
}

func (h *house) clientWith(t *testing.T, auth plain.Auth, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append([]kgo.Opt{
		kgo.SeedBrokers(h.window.Addr().String()),
		kgo.SASL(auth.AsMechanism()),
		kgo.FetchMaxWait(100 * time.Millisecond),
		kgo.RetryTimeout(patience), kgo.RecordDeliveryTimeout(patience),
	}, opts...)...)
	must(t, err)
	t.Cleanup(client.Close)
	return client
}

// read polls until n records came.
func read(t *testing.T, client *kgo.Client, n int) []*kgo.Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var records []*kgo.Record
	for len(records) < n {
		fetches := client.PollRecords(ctx, n-len(records))
		must(t, fetches.Err())
		records = append(records, fetches.Records()...)
	}
	return records
}

// stillWorks shows that the window and the broker behind it serve an honest
// client.
func (h *house) stillWorks(t *testing.T) {
	t.Helper()
	h.append(t, "svc.call", 0, 1)
	client := h.client(t, kgo.ConsumeTopics("svc.call"))
	if got := string(read(t, client, 1)[0].Value); got != "svc.call 0" {
		t.Errorf("an honest client reads %q", got)
	}
}

// line is a connection of a client that may be dishonest.
type line struct {
	t    *testing.T
	conn net.Conn
}

func (h *house) connect(t *testing.T) line {
	t.Helper()
	conn, err := net.Dial("tcp", h.window.Addr().String())
	must(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	must(t, conn.SetDeadline(time.Now().Add(patience)))
	return line{t, conn}
}

// connectAsReader is a line that has logged in.
func (h *house) connectAsReader(t *testing.T) line {
	t.Helper()
	l := h.connect(t)
	if resp := l.ask(handshake("PLAIN")).(*kmsg.SASLHandshakeResponse); resp.ErrorCode != 0 {
		t.Fatalf("handshake: error %d", resp.ErrorCode)
	}
	if resp := l.ask(authenticate(password)).(*kmsg.SASLAuthenticateResponse); resp.ErrorCode != 0 {
		t.Fatalf("authenticate: error %d", resp.ErrorCode)
	}
	return l
}

func (l line) write(p []byte) {
	l.t.Helper()
	_, err := l.conn.Write(p)
	must(l.t, err)
}

func (l line) send(req kmsg.Request) {
	l.t.Helper()
	l.write(frameOf(req))
}

// ask sends req and reads its answer.
func (l line) ask(req kmsg.Request) kmsg.Response {
	l.t.Helper()
	l.send(req)
	resp := req.ResponseKind()
	l.receive(resp)
	return resp
}

// receive reads a frame into resp, whose version says how.
func (l line) receive(resp kmsg.Response) {
	l.t.Helper()
	var head [8]byte
	_, err := io.ReadFull(l.conn, head[:])
	must(l.t, err)
	if got := binary.BigEndian.Uint32(head[4:]); got != correlation {
		l.t.Fatalf("correlation id %d, want %d", got, correlation)
	}
	body := make([]byte, binary.BigEndian.Uint32(head[:])-4)
	_, err = io.ReadFull(l.conn, body)
	must(l.t, err)
	must(l.t, resp.ReadFrom(body))
}

// isClosed waits for the end of the connection, with nothing said before. It is
// less patient than the window is with a client that does not log in.
func (l line) isClosed() {
	l.t.Helper()
	l.isClosedWithin(5 * time.Second)
}

func (l line) isClosedWithin(d time.Duration) {
	l.t.Helper()
	must(l.t, l.conn.SetDeadline(time.Now().Add(d)))
	said, err := io.ReadAll(l.conn)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		l.t.Fatal("the connection is still open")
	}
	if len(said) > 0 {
		l.t.Fatalf("answered with %x", said)
	}
}

const correlation = 77

func frameOf(req kmsg.Request) []byte {
	return kmsg.NewRequestFormatter(kmsg.FormatterClientID("test")).AppendRequest(nil, req, correlation)
}

func handshake(mechanism string) kmsg.Request {
	req := kmsg.NewPtrSASLHandshakeRequest()
	req.Version, req.Mechanism = 1, mechanism
	return req
}

func authenticate(password string) kmsg.Request {
	req := kmsg.NewPtrSASLAuthenticateRequest()
	req.Version, req.SASLAuthBytes = 1, []byte("\x00reader\x00"+password)
	return req
}

func fetch(version int16, topic string) *kmsg.FetchRequest {
	partition := kmsg.NewFetchRequestTopicPartition()
	partition.PartitionMaxBytes = 1 << 20
	asked := kmsg.NewFetchRequestTopic()
	asked.Topic = topic
	asked.Partitions = append(asked.Partitions, partition)
	req := kmsg.NewPtrFetchRequest()
	req.Version, req.MaxBytes, req.MinBytes = version, 1<<20, 1
	req.Topics = append(req.Topics, asked)
	return req
}

func metadata(topics ...string) *kmsg.MetadataRequest {
	req := kmsg.NewPtrMetadataRequest()
	req.Version, req.AllowAutoTopicCreation = 8, true
	for _, name := range topics {
		topic := kmsg.NewMetadataRequestTopic()
		topic.Topic = kmsg.StringPtr(name)
		req.Topics = append(req.Topics, topic)
	}
	return req
}

func join(group string, protocols ...string) *kmsg.JoinGroupRequest {
	req := kmsg.NewPtrJoinGroupRequest()
	req.Version, req.Group, req.ProtocolType = 3, group, "consumer"
	req.SessionTimeoutMillis, req.RebalanceTimeoutMillis = 10_000, 10_000
	for _, name := range protocols {
		protocol := kmsg.NewJoinGroupRequestProtocol()
		protocol.Name = name
		req.Protocols = append(req.Protocols, protocol)
	}
	return req
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
