package window_test

import (
	"context"
	"log/slog"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/secret"
	"hooklog/transport/kafka/embedded/window"
)

func TestOpenListensOnLoopbackWithAPasswordOnly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ listen, password, want string }{
		{"0.0.0.0:0", password, "loopback"},
		{":0", password, "loopback"},
		{"[::]:0", password, "loopback"},
		{"192.0.2.1:9092", password, "loopback"},
		{"127.0.0.1", password, "address"},
		{"127.0.0.1:0", "", "password"},
	} {
		w, err := window.Open(window.Config{Listen: c.listen, Password: secret.NewPassword(c.password), Log: slog.Default()})
		if err == nil {
			_ = w.Close()
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("Open on %q gives %v, want an error about %s", c.listen, err, c.want)
		}
	}
}

// TestARefusedConnectionHarmsNobody sends what must end a connection, before
// and after login, and shows each time that the connection ends unanswered and,
// at last, that window and broker go on.
func TestARefusedConnectionHarmsNobody(t *testing.T) {
	t.Parallel()
	unversioned := func(key, version int16) []byte {
		return []byte{0, 0, 0, 10, byte(key >> 8), byte(key), byte(version >> 8), byte(version), 0, 0, 0, 1, 0xff, 0xff}
	}
	always := map[string][]byte{
		"a length of 2 GiB":             {0x7f, 0xff, 0xff, 0xff, 0, 18, 0, 0},
		"a negative length":             {0xff, 0xff, 0xff, 0xff, 0, 18, 0, 0},
		"a length of nothing":           {0, 0, 0, 0},
		"a length over 1 MiB":           {0, 0x10, 0, 1, 0, 18, 0, 0},
		"a frame too short to be one":   {0, 0, 0, 1, 0},
		"garbage":                       []byte("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
		"an unknown API key":            unversioned(999, 0),
		"a negative API key":            unversioned(-1, 0),
		"a version that is too old":     unversioned(1, 3),
		"a version that is too new":     unversioned(1, 12),
		"a negative version":            unversioned(18, -1),
		"a client id beyond the frame":  {0, 0, 0, 10, 0, 18, 0, 0, 0, 0, 0, 1, 0x7f, 0xff},
		"a body that ends in the midst": frameOfLength(frameOf(metadata(eventTopic)), 24),
		"an array without end":          {0, 0, 0, 14, 0, 3, 0, 8, 0, 0, 0, 1, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff},
		"topics to be created":          frameOf(kmsg.NewPtrCreateTopicsRequest()),
		"topics to be deleted":          frameOf(kmsg.NewPtrDeleteTopicsRequest()),
		"a producer id":                 frameOf(kmsg.NewPtrInitProducerIDRequest()),
	}
	h := open(t)
	for name, sent := range always {
		t.Run(name+" before login", func(t *testing.T) {
			l := h.connect(t)
			l.write(sent)
			l.isClosed()
		})
		t.Run(name+" after login", func(t *testing.T) {
			l := h.connectAsReader(t)
			l.write(sent)
			l.isClosed()
		})
	}
	for name, req := range map[string]kmsg.Request{
		"metadata":                    metadata(),
		"a fetch":                     fetch(11, eventTopic),
		"a password before handshake": authenticate(password),
	} {
		t.Run(name+" without login", func(t *testing.T) {
			l := h.connect(t)
			l.send(req)
			l.isClosed()
		})
	}
	t.Run("half a frame", func(t *testing.T) {
		l := h.connect(t)
		l.write(frameOf(metadata(eventTopic))[:9])
		must(t, l.conn.(*net.TCPConn).CloseWrite())
		l.isClosed()
	})
	h.stillWorks(t)
}

func frameOfLength(frame []byte, length byte) []byte {
	return append([]byte{0, 0, 0, length}, frame[4:4+length]...)
}

func TestARequestBeyondTheRulesEndsTheConnection(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.append(t, hidden, 0, 1)

	session := fetch(11, eventTopic)
	session.SessionID, session.SessionEpoch = 1, 1
	twice := fetch(11, eventTopic)
	twice.Topics = append(twice.Topics, twice.Topics...)
	listOffsets := kmsg.NewPtrListOffsetsRequest()
	listOffsets.Version = 5
	listOffsets.Topics = []kmsg.ListOffsetsRequestTopic{{Topic: hidden}}
	commit := kmsg.NewPtrOffsetCommitRequest()
	commit.Version, commit.Group = 7, "g"
	commit.Topics = []kmsg.OffsetCommitRequestTopic{{Topic: hidden}}
	offsetFetch := kmsg.NewPtrOffsetFetchRequest()
	offsetFetch.Version, offsetFetch.Group = 5, "hooklog-pipelines"
	ownCommit := kmsg.NewPtrOffsetCommitRequest()
	ownCommit.Version, ownCommit.Group = 7, "hooklog-pipelines"
	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Version, sync.Group = 3, "hooklog-pipelines"
	heartbeat := kmsg.NewPtrHeartbeatRequest()
	heartbeat.Version, heartbeat.Group = 3, "hooklog-pipelines"
	leave := kmsg.NewPtrLeaveGroupRequest()
	leave.Version, leave.Group = 3, "hooklog-pipelines"
	transaction := kmsg.NewPtrFindCoordinatorRequest()
	transaction.Version, transaction.CoordinatorType = 2, 1

	for name, req := range map[string]kmsg.Request{
		"a fetch of a hidden topic":          fetch(11, hidden),
		"an old fetch of a hidden topic":     fetch(4, hidden),
		"a fetch of somebody's session":      session,
		"a fetch of a partition twice":       twice,
		"offsets of a hidden topic":          listOffsets,
		"a commit for a hidden topic":        commit,
		"a join without protocols":           join("g"),
		"a join with a protocol twice":       join("g", "range", "range"),
		"a join of the service's group":      join("hooklog-pipelines", "range"),
		"a sync of the service's group":      sync,
		"a heartbeat of the service's group": heartbeat,
		"a leave of the service's group":     leave,
		"a commit of the service's group":    ownCommit,
		"offsets of the service's group":     offsetFetch,
		"a coordinator of transactions":      transaction,
		"a second login":                     authenticate(password),
	} {
		t.Run(name, func(t *testing.T) {
			l := h.connectAsReader(t)
			l.send(req)
			l.isClosed()
		})
	}
	h.stillWorks(t)
}

func TestApiVersionsFallsBackForNewerClients(t *testing.T) {
	t.Parallel()
	l := open(t).connect(t)
	req := kmsg.NewPtrApiVersionsRequest()
	req.Version, req.ClientSoftwareName, req.ClientSoftwareVersion = 4, "test", "1"
	l.send(req)
	fallback := kmsg.NewPtrApiVersionsResponse() // version 0
	l.receive(fallback)
	if fallback.ErrorCode != kerr.UnsupportedVersion.Code || len(fallback.ApiKeys) != 1 ||
		fallback.ApiKeys[0].ApiKey != 18 || fallback.ApiKeys[0].MaxVersion != 3 {
		t.Errorf("version 4 is answered with %+v", fallback)
	}
	req.Version = 3
	resp := l.ask(req).(*kmsg.ApiVersionsResponse)
	if resp.ErrorCode != 0 || len(resp.ApiKeys) < 10 {
		t.Errorf("version 3 is answered with %+v", resp)
	}
	for _, key := range resp.ApiKeys {
		if key.ApiKey == int16(kmsg.CreateTopics) {
			t.Error("CreateTopics is advertised")
		}
	}
}

func TestAnotherMechanismIsToldWhatThereIs(t *testing.T) {
	t.Parallel()
	l := open(t).connect(t)
	resp := l.ask(handshake("SCRAM-SHA-512")).(*kmsg.SASLHandshakeResponse)
	if resp.ErrorCode != kerr.UnsupportedSaslMechanism.Code || len(resp.SupportedMechanisms) != 1 || resp.SupportedMechanisms[0] != "PLAIN" {
		t.Errorf("answered with %+v", resp)
	}
	l.isClosed()
}

func TestAConnectionWithoutLoginEndsAfterAWhile(t *testing.T) {
	t.Parallel()
	l := open(t).connect(t)
	begin := time.Now()
	l.isClosedWithin(15 * time.Second)
	if waited := time.Since(begin); waited < 9*time.Second {
		t.Errorf("closed after %s", waited)
	}
}

func TestConnectionsAreLimited(t *testing.T) {
	t.Parallel()
	h := open(t)
	ask := kmsg.NewPtrApiVersionsRequest()
	lines := make([]line, 64)
	for i := range lines {
		lines[i] = h.connect(t)
		lines[i].ask(ask)
	}
	h.connect(t).isClosed()
	for _, l := range lines[:8] { // a client has several connections
		must(t, l.conn.(*net.TCPConn).CloseWrite())
		l.isClosed() // the window has seen the end
	}
	h.stillWorks(t)
}

// watched reports what the window does with its connection to the broker.
type watched struct {
	net.Conn
	asked  chan struct{}
	closed func()
}

func (w watched) Write(p []byte) (int, error) {
	n, err := w.Conn.Write(p)
	w.asked <- struct{}{}
	return n, err
}

func (w watched) Close() error {
	w.closed()
	return w.Conn.Close()
}

func TestAClientThatLeavesDuringALongFetchTakesItsBrokerConnectionAlong(t *testing.T) {
	t.Parallel()
	asked, closed := make(chan struct{}, 1), make(chan struct{})
	h := open(t, func(dial dialer) dialer {
		return func(ctx context.Context) (net.Conn, error) {
			conn, err := dial(ctx)
			return watched{conn, asked, sync.OnceFunc(func() { close(closed) })}, err
		}
	})
	l := h.connectAsReader(t)
	long := fetch(11, eventTopic)
	long.MaxWaitMillis = 1 << 30
	l.send(long)
	<-asked
	must(t, l.conn.Close())
	select {
	case <-closed:
	case <-time.After(patience):
		t.Error("the broker connection is still open")
	}
}

func TestAPanicEndsOneConnectionOnly(t *testing.T) {
	t.Parallel()
	var once sync.Once
	h := open(t, func(dial dialer) dialer {
		return func(ctx context.Context) (net.Conn, error) {
			once.Do(func() { panic("planted") })
			return dial(ctx)
		}
	})
	h.connectAsReader(t).isClosed()
	h.stillWorks(t)
}

func TestCloseEndsConnectionsThatWait(t *testing.T) {
	t.Parallel()
	h := open(t)
	l := h.connectAsReader(t)
	long := fetch(11, eventTopic)
	long.MaxWaitMillis = 30_000
	l.send(long)
	must(t, h.window.Close())
	l.isClosed()
}
