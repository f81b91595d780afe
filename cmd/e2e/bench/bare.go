package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"hooklog/domain/access"
	"hooklog/domain/call"
	"hooklog/domain/catalog"
	"hooklog/domain/event"
	"hooklog/domain/record"
	"hooklog/domain/registry"
	"hooklog/domain/secret"
	"hooklog/domain/webhook"
	"hooklog/transport/kafka"
	"hooklog/transport/kafka/embedded"
)

// logAt says which log a server has.
type logAt struct {
	Dir  string
	Sync bool
	// Brokers is empty for an embedded log.
	Brokers []string
}

// On Kafka, events and calls have as many partitions as hooklog gives them by
// default, and as many copies as the brokers allow, up to its default.
const kafkaPartitions = 6

func (at logAt) partitions() int32 {
	if len(at.Brokers) == 0 {
		return 1
	}
	return kafkaPartitions
}

func (at logAt) copies() int { return max(1, min(3, len(at.Brokers))) }

// open gives the log with the very client options that hooklog has.
func (at logAt) open() (_ *kafka.Log, closeAll func(), err error) {
	quiet := slog.New(slog.DiscardHandler)
	if len(at.Brokers) > 0 {
		log, err := kafka.Open(kafka.Config{Brokers: at.Brokers, Compress: true, ClientID: "bare", Log: quiet})
		return log, log.Close, err
	}
	broker, err := embedded.Open(embedded.Config{Dir: at.Dir, Sync: at.Sync, Log: quiet})
	if err != nil {
		return nil, nil, err
	}
	log, err := kafka.Open(kafka.Config{Brokers: broker.Addrs(), Dialer: broker.DialContext, ClientID: "bare", Log: quiet})
	return log, func() { log.Close(); broker.Close() }, err
}

// bareConfig is for the role of the bare handler.
type bareConfig struct {
	Log logAt
	// Command makes it append one record like a command, not two like a call.
	Command bool
}

// ready says that a server serves, and what its start took.
type ready struct {
	Address, Ops string
	Took, CPU    time.Duration
}

// The bare handler's topics are not hooklog's: on Kafka they are beside them.
const (
	bareEventKey = "webhook.bare"
	bareTopic    = "svc.bare"
)

// serveBare is the role of the floor: a handler that reads the body, makes the
// appends one after the other and answers. It checks nothing, its bytes are
// fixed, and nobody reads its log.
func serveBare(config []byte) error {
	var cfg bareConfig
	if err := json.Unmarshal(config, &cfg); err != nil {
		return err
	}
	log, closeAll, err := cfg.Log.open()
	if err != nil {
		return err
	}
	defer closeAll()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	b := bare{log: log, partitions: cfg.Log.partitions(), answer: sampleAnswer()}
	if cfg.Command {
		b.records, err = commandRecords()
	} else {
		b.records, err = callRecords(listener.Addr().String())
	}
	if err != nil {
		return err
	}
	for _, r := range b.records {
		spec := kafka.TopicSpec{Name: r.Topic, Partitions: b.partitions, Replication: int16(cfg.Log.copies())}
		if _, err := log.EnsureTopic(context.Background(), spec); err != nil {
			return err
		}
	}
	server := &http.Server{Handler: &b, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		untilParentEnds()
		_ = server.Close() // nobody calls any more
	}()
	tell(ready{Address: listener.Addr().String()})
	_ = server.Serve(listener) // ends with close
	return nil
}

type bare struct {
	log        *kafka.Log
	partitions int32
	records    []record.Record
	calls      atomic.Uint32
	answer     []byte
}

func (b *bare) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if _, err := io.ReadAll(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	partition := int32(b.calls.Add(1) % uint32(b.partitions))
	for _, one := range b.records { // each a copy
		one.Time, one.Partition = time.Now(), partition
		if _, err := b.log.AppendWait(r.Context(), &one); err != nil {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(b.answer)
}

const (
	sampleID    = "8d3f8f0e-5b52-4a6a-9c5e-1f0e7a4b9c21"
	sampleTrace = "4b9c21:abcdefghij"
	sampleLast6 = "4b9c21"
)

// callRecords are the event and the accepted record as hooklog makes them of
// the same request.
func callRecords(address string) ([]record.Record, error) {
	r, err := http.ReadRequest(bufio.NewReader(bytes.NewReader(receiveRequest(address, sampleID))))
	if err != nil {
		return nil, err
	}
	token, err := secret.ParseToken(sampleID)
	if err != nil {
		return nil, err
	}
	now := time.Now().UTC().Truncate(time.Millisecond)
	c := event.Call{
		EventKey: bareEventKey, TraceID: sampleTrace, CorrelationID: uuid.NewString(), Received: now,
		Method: r.Method, ContentType: r.Header.Get("Content-Type"), Host: r.Host, Header: r.Header,
		PayloadType: webhook.Base64, Body: []byte(body),
	}
	value, err := event.Encode(&c, token)
	if err != nil {
		return nil, err
	}
	ev := record.Record{
		Position: record.Position{Topic: record.EventTopic(bareEventKey)},
		Headers: event.Headers(&c, event.Meta{
			BaseURL: "http://" + address, Last6: sampleLast6,
			Traceparent: "00-" + strings.Repeat("0", 32) + "-" + strings.Repeat("0", 16) + "-00",
		}),
		Value: value,
	}
	at := record.Position{Topic: ev.Topic, Offset: 100_000}
	accepted, err := call.Accepted{
		CorrelationID: c.CorrelationID, TraceID: sampleTrace, EventKey: bareEventKey, Last6: sampleLast6, Received: now,
		Method: r.Method, Size: len(body), Address: "127.0.0.1",
		Event: call.EventAt(at, record.ContentDigest(ev.Headers, ev.Value)),
	}.Encode(0)
	accepted.Topic = bareTopic
	return []record.Record{ev, accepted}, err
}

// commandRecords is one record like that of a webhook.put.
func commandRecords() ([]record.Record, error) {
	length := 1
	params, err := json.Marshal(webhook.Put{MaxPayloadLength: &length})
	if err != nil {
		return nil, err
	}
	command, err := registry.Command{
		ID: sampleID, Name: catalog.WebhookPut, Fingerprint: strings.Repeat("0", 64), Params: params,
		Principal: adminName, Roles: []string{access.RoleAdministrator}, Address: "127.0.0.1", Time: time.Now(),
	}.Encode()
	command.Topic = bareTopic
	return []record.Record{command}, err
}

func sampleAnswer() []byte {
	return call.Result{
		CorrelationID: sampleID, TraceID: sampleTrace, Status: call.OK, Value: call.TraceInformation(sampleTrace),
	}.AppendJSON(nil)
}
