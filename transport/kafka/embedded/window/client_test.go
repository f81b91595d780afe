package window_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

func TestAClientReadsRecordsAndHeaders(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.append(t, eventTopic, 0, 3)
	for n, record := range read(t, h.client(t, kgo.ConsumeTopics(eventTopic)), 3) {
		if got, want := string(record.Value), fmt.Sprintf("%s %d", eventTopic, n); got != want {
			t.Errorf("value %q, want %q", got, want)
		}
		if len(record.Headers) != 1 || record.Headers[0].Key != "ce_id" || string(record.Headers[0].Value) != fmt.Sprintf("id-%d", n) {
			t.Errorf("headers %v", record.Headers)
		}
	}
}

func TestAClientSeesRecordsThatComeWhileItWaits(t *testing.T) {
	t.Parallel()
	h := open(t)
	client := h.client(t, kgo.ConsumeTopics(eventTopic))
	h.append(t, eventTopic, 0, 1)
	read(t, client, 1)
	h.append(t, eventTopic, 1, 2)
	if got := read(t, client, 1)[0].Offset; got != 1 {
		t.Errorf("offset %d, want 1", got)
	}
}

func TestMetadataShowsOnlyTheVisibleTopicsAndTheWindow(t *testing.T) {
	t.Parallel()
	h := open(t)
	l := h.connectAsReader(t)

	t.Run("in the list of all topics", func(t *testing.T) {
		resp := l.ask(metadata()).(*kmsg.MetadataResponse)
		var names []string
		for _, topic := range resp.Topics {
			names = append(names, *topic.Topic)
		}
		slices.Sort(names)
		if want := []string{"svc.call", eventTopic}; !slices.Equal(names, want) {
			t.Errorf("topics %q, want %q", names, want)
		}
		if len(resp.Brokers) != 1 {
			t.Fatalf("%d brokers, want 1", len(resp.Brokers))
		}
		if got, want := fmt.Sprintf("%s:%d", resp.Brokers[0].Host, resp.Brokers[0].Port), h.window.Addr().String(); got != want {
			t.Errorf("broker at %s, want the window's %s", got, want)
		}
	})
	t.Run("when they are named, without creating any", func(t *testing.T) {
		missing := []string{hidden, "svc.event.webhook.missing", "svc.event.", "other"}
		resp := l.ask(metadata(append(missing, eventTopic)...)).(*kmsg.MetadataResponse)
		if len(resp.Topics) != len(missing)+1 {
			t.Fatalf("%d topics answered, want %d", len(resp.Topics), len(missing)+1)
		}
		for _, topic := range resp.Topics {
			want := kerr.UnknownTopicOrPartition.Code
			if *topic.Topic == eventTopic {
				want = 0
			}
			if topic.ErrorCode != want || (want != 0) != (len(topic.Partitions) == 0) {
				t.Errorf("%s: error %d, %d partitions", *topic.Topic, topic.ErrorCode, len(topic.Partitions))
			}
		}
		topics, err := kadm.NewClient(h.own).ListTopics(t.Context())
		must(t, err)
		if got := topics.Names(); len(got) != 3 {
			t.Errorf("the broker now has %q", got)
		}
	})
}

func TestAGroupGoesOnAfterItsCommittedOffset(t *testing.T) {
	t.Parallel()
	h := open(t)
	h.append(t, eventTopic, 0, 4)
	run := func(want ...int64) {
		t.Helper()
		client := h.client(t, kgo.ConsumerGroup("billing"), kgo.ConsumeTopics(eventTopic), kgo.DisableAutoCommit())
		defer client.Close()
		records := read(t, client, len(want))
		for i, record := range records {
			if record.Offset != want[i] {
				t.Errorf("offset %d, want %d", record.Offset, want[i])
			}
		}
		must(t, client.CommitRecords(t.Context(), records...))
	}
	run(0, 1)
	run(2, 3)
	h.append(t, eventTopic, 4, 5)
	run(4)
}

func TestANewGroupHasNothingCommitted(t *testing.T) {
	t.Parallel()
	h := open(t)
	l := h.connectAsReader(t)
	for version := int16(1); version <= 5; version++ {
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Version, req.Group = version, "unheard-of"
		topic := kmsg.NewOffsetFetchRequestTopic()
		topic.Topic, topic.Partitions = eventTopic, []int32{0}
		req.Topics = append(req.Topics, topic)
		resp := l.ask(req).(*kmsg.OffsetFetchResponse)
		if resp.ErrorCode != 0 || len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 || resp.Topics[0].Partitions[0].Offset != -1 {
			t.Errorf("version %d: %+v", version, resp)
		}
	}
}

func TestAGroupOfTheServiceIsRefused(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, group := range []string{"hooklog-pipelines", "svc.x"} {
		client := h.client(t, kgo.ConsumerGroup(group), kgo.ConsumeTopics(eventTopic))
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		err := client.PollFetches(ctx).Err()
		cancel()
		if !errors.Is(err, kerr.GroupAuthorizationFailed) {
			t.Errorf("polling as %s gives %v, want %v", group, err, kerr.GroupAuthorizationFailed)
		}
	}
}

func TestAWrongPasswordIsTold(t *testing.T) {
	t.Parallel()
	h := open(t)
	for name, auth := range map[string]plain.Auth{
		"a wrong password":        {User: "reader", Pass: password + "r"},
		"the start of a password": {User: "reader", Pass: password[:4]},
		"another user":            {User: "admin", Pass: password},
		"acting for another":      {Zid: "admin", User: "reader", Pass: password},
	} {
		t.Run(name, func(t *testing.T) {
			client := h.clientWith(t, auth)
			if err := client.Ping(t.Context()); !errors.Is(err, kerr.SaslAuthenticationFailed) {
				t.Errorf("Ping gives %v, want %v", err, kerr.SaslAuthenticationFailed)
			}
		})
	}
	h.stillWorks(t)
}

func TestProducingIsRefusedAndWritesNothing(t *testing.T) {
	t.Parallel()
	h := open(t)
	for _, topic := range []string{eventTopic, "svc.call", hidden} {
		for _, acks := range []int16{-1, 0} {
			t.Run(fmt.Sprintf("to %s with acks %d", topic, acks), func(t *testing.T) {
				partition := kmsg.NewProduceRequestTopicPartition()
				to := kmsg.NewProduceRequestTopic()
				to.Topic = topic
				to.Partitions = append(to.Partitions, partition)
				req := kmsg.NewPtrProduceRequest()
				req.Version, req.Acks, req.TimeoutMillis = 3, acks, 1000
				req.Topics = append(req.Topics, to)

				l := h.connectAsReader(t)
				l.send(req)
				if acks != 0 {
					resp := req.ResponseKind().(*kmsg.ProduceResponse)
					l.receive(resp)
					if got := resp.Topics[0].Partitions[0].ErrorCode; got != kerr.TopicAuthorizationFailed.Code {
						t.Errorf("error %d, want %v", got, kerr.TopicAuthorizationFailed)
					}
				}
				l.isClosed()
			})
		}
	}
	t.Run("from an ordinary client", func(t *testing.T) {
		client := h.client(t, kgo.DisableIdempotentWrite())
		record := &kgo.Record{Topic: eventTopic, Value: []byte("intruder")}
		if err := client.ProduceSync(t.Context(), record).FirstErr(); !errors.Is(err, kerr.TopicAuthorizationFailed) {
			t.Errorf("producing gives %v, want %v", err, kerr.TopicAuthorizationFailed)
		}
	})
	ends, err := kadm.NewClient(h.own).ListEndOffsets(t.Context())
	must(t, err)
	if len(ends.Offsets()) != 3 {
		t.Fatalf("end offsets of %d topics, want 3", len(ends.Offsets()))
	}
	ends.Each(func(end kadm.ListedOffset) {
		if end.Offset != 0 {
			t.Errorf("%s ends at %d: something was written", end.Topic, end.Offset)
		}
	})
}
