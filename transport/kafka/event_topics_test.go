package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/kafka"
)

var eventSpec = kafka.TopicSpec{Partitions: 1, Replication: 1}

func TestConcurrentCallersCreateATopicOnceAndSeveralTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		topics := kafka.NewEventTopics(w.log, eventSpec)
		var creations [][]string
		first, held := make(chan struct{}, 1), make(chan struct{})
		w.cluster.ControlKey(int16(kmsg.CreateTopics), func(r kmsg.Request) (kmsg.Response, error, bool) {
			var names []string
			for _, topic := range r.(*kmsg.CreateTopicsRequest).Topics {
				names = append(names, topic.Topic)
			}
			creations = append(creations, names)
			if len(creations) == 1 {
				first <- struct{}{}
				w.cluster.SleepControl(func() { <-held })
			}
			return nil, nil, false
		})

		var callers sync.WaitGroup
		ensure := func(key string) {
			callers.Go(func() {
				if err := topics.Ensure(t.Context(), record.EventTopic(key)); err != nil {
					t.Error(err)
				}
			})
		}
		ensure("webhook.first")
		<-first // the first round is under way: all others wait for the second
		for i := range 60 {
			ensure(fmt.Sprintf("webhook.n%d", i%6))
		}
		synctest.Wait()
		close(held)
		callers.Wait()
		if len(creations) != 2 || len(creations[0]) != 1 || len(creations[1]) != 6 {
			t.Errorf("the broker was asked for %v", creations)
		}

		w.cluster.Close() // a known topic needs no broker
		if err := topics.Ensure(t.Context(), record.EventTopic("webhook.n3")); err != nil {
			t.Error(err)
		}
	})
}

func TestAnEventDoesNotWaitForTopicsThatAreMadeAhead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const ahead, most = 300, 16
		w := newWorld(t)
		topics := kafka.NewEventTopics(w.log, eventSpec)
		var creations [][]string
		first, held := make(chan struct{}, 1), make(chan struct{})
		w.cluster.ControlKey(int16(kmsg.CreateTopics), func(r kmsg.Request) (kmsg.Response, error, bool) {
			w.cluster.KeepControl()
			var names []string
			for _, topic := range r.(*kmsg.CreateTopicsRequest).Topics {
				names = append(names, topic.Topic)
			}
			creations = append(creations, names)
			if len(creations) == 1 {
				first <- struct{}{}
				w.cluster.SleepControl(func() { <-held })
			}
			return nil, nil, false
		})
		var callers sync.WaitGroup
		ensure := func(topic string) {
			callers.Go(func() {
				if err := topics.Ensure(t.Context(), topic); err != nil {
					t.Error(err)
				}
			})
		}
		ensure(record.EventTopic("webhook.first"))
		<-first // all others wait
		for i := range ahead {
			ensure(record.EventTopic(fmt.Sprintf("webhook.n%d", i)))
		}
		synctest.Wait()
		callers.Go(func() {
			r := record.Record{Position: record.Position{Topic: record.EventTopic(fmt.Sprintf("webhook.n%d", ahead-1))}}
			if _, err := topics.AppendHeld(t.Context(), &r, func() {}); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		close(held)
		callers.Wait()
		made := 0
		for _, names := range creations {
			made += len(names)
			if len(names) > most {
				t.Errorf("%d topics are made at once", len(names))
			}
		}
		if made != 1+ahead || len(creations[1]) != 1 {
			t.Errorf("%d topics were made; the second time %d", made, len(creations[1]))
		}
	})
}

func TestATopicThatDriftedRefusesUntilItIsMended(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if _, err := w.admin.CreateTopic(t.Context(), 1, 1, nil, event); err != nil {
		t.Fatal(err)
	}
	topics := kafka.NewEventTopics(w.log, eventSpec)
	err := topics.Ensure(t.Context(), event)
	var drift *kafka.DriftError
	if !fault.Is(err, fault.Unavailable) || !errors.As(err, &drift) {
		t.Fatalf("error %v", err)
	}
	if err := topics.Ensure(t.Context(), record.EventTopic("webhook.other")); err != nil {
		t.Errorf("another webhook is refused too: %v", err)
	}
	var mend []kadm.AlterConfig
	for key, value := range map[string]string{"retention.ms": "-1", "max.message.bytes": "10485760"} {
		mend = append(mend, kadm.AlterConfig{Op: kadm.SetConfig, Name: key, Value: &value})
	}
	if _, err := w.admin.AlterTopicConfigs(t.Context(), mend, event); err != nil {
		t.Fatal(err)
	}
	if err := topics.Ensure(t.Context(), event); err != nil {
		t.Errorf("after it was mended: %v", err)
	}
}

func TestADeletedTopicFailsOneEventAndIsMadeAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		topics := kafka.NewEventTopics(w.log, eventSpec)
		r := record.Record{Position: record.Position{Topic: event}}
		for range 2 {
			if _, err := topics.AppendHeld(t.Context(), &r, func() {}); err != nil {
				t.Fatal(err)
			}
		}
		w.deleteTopic(t, event)
		started := time.Now()
		if _, err := topics.AppendHeld(t.Context(), &r, func() {}); !fault.Is(err, fault.Unavailable) || !kafka.MissesTopic(err) {
			t.Errorf("error %v", err)
		}
		if waited := time.Since(started); waited > 5*time.Second {
			t.Errorf("it took %s to find out", waited)
		}
		at, err := topics.AppendHeld(t.Context(), &r, func() {})
		if err != nil || at != position(event, 0, 0) {
			t.Errorf("the next event is at %s: %v", at, err)
		}
	})
}

func TestEnsureEndsWithItsCaller(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		topics := kafka.NewEventTopics(w.log, eventSpec)
		held := make(chan struct{})
		w.cluster.ControlKey(int16(kmsg.CreateTopics), func(kmsg.Request) (kmsg.Response, error, bool) {
			w.cluster.SleepControl(func() { <-held })
			return nil, nil, false
		})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		released := 0
		_, err := topics.AppendHeld(ctx, &record.Record{Position: record.Position{Topic: event}}, func() { released++ })
		if !fault.Is(err, fault.Unavailable) || !errors.Is(err, context.DeadlineExceeded) || released != 1 {
			t.Errorf("error %v, released %d times", err, released)
		}
		close(held)
		if err := topics.Ensure(t.Context(), event); err != nil {
			t.Errorf("once the broker answers: %v", err)
		}
	})
}
