package kafka_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/kafka"
)

// holdProduce lets appends reach the broker and wait there until release.
func (w *world) holdProduce(t *testing.T) (arrived <-chan struct{}, release func()) {
	t.Helper()
	reached, held := make(chan struct{}, 1), make(chan struct{})
	w.cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		w.cluster.DropControl()
		reached <- struct{}{}
		w.cluster.SleepControl(func() { <-held })
		return nil, nil, false
	})
	return reached, func() { close(held) }
}

func TestAnAppendWhoseCallerGaveUpStillLands(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.topic(t, record.TopicCommand, 1)
		_, release := w.holdProduce(t)

		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
		defer cancel()
		started := time.Now()
		var released atomic.Int32
		late := record.Record{Position: record.Position{Topic: record.TopicCommand}, Value: []byte("late")}
		_, err := w.log.AppendHeld(ctx, &late, func() { released.Add(1) })
		if !fault.Is(err, fault.Unavailable) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		if waited := time.Since(started); waited != 2*time.Second {
			t.Errorf("it waited %s", waited)
		}
		if released.Load() != 0 {
			t.Error("its bytes were released while the broker had not answered")
		}

		release()
		tail := w.tail(t, position(record.TopicCommand, 0, 0))
		if have := read(t.Context(), t, tail, 1); string(have[0].Value) != "late" {
			t.Errorf("the log has %q", have[0].Value)
		}
		synctest.Wait()
		if n := released.Load(); n != 1 {
			t.Errorf("its bytes were released %d times", n)
		}
	})
}

func TestAFullBufferRefusesAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, func(cfg *kafka.Config) { cfg.BufferBytes = 1 << 20 })
		w.topic(t, event, 1)
		w.append(t, event, 1)
		arrived, release := w.holdProduce(t)

		big := record.Record{Position: record.Position{Topic: event}, Value: make([]byte, 800<<10)}
		first := make(chan error, 1)
		w.log.Append(&big, func(_ record.Position, err error) { first <- err })
		<-arrived
		started := time.Now()
		_, err := w.log.AppendWait(t.Context(), &big)
		if !fault.Is(err, fault.Unavailable) || !errors.Is(err, kgo.ErrMaxBuffered) {
			t.Errorf("error %v", err)
		}
		if waited := time.Since(started); waited != 0 {
			t.Errorf("it waited %s", waited)
		}

		release()
		if err := <-first; err != nil {
			t.Error(err)
		}
		if _, err := w.log.AppendWait(t.Context(), &big); err != nil {
			t.Errorf("there is room again: %v", err)
		}
	})
}

func TestARecordThatFitsNoBatchIsTooLarge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.topic(t, event, 1)
	_, err := w.log.AppendWait(t.Context(), &record.Record{
		Position: record.Position{Topic: event}, Value: make([]byte, 10<<20),
	})
	if !fault.Is(err, fault.TooLarge) {
		t.Errorf("error %v", err)
	}
}

func TestARecordKeepsItsOwnTimeHoweverOld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.topic(t, event, 1)
	old := time.UnixMilli(1).UTC()
	at, err := w.log.AppendWait(t.Context(), &record.Record{Position: record.Position{Topic: event}, Time: old})
	if err != nil {
		t.Fatal(err)
	}
	have, err := w.log.ReadAt(t.Context(), at)
	if err != nil || !have.Time.Equal(old) {
		t.Errorf("time %s: %v", have.Time, err)
	}
}

func TestARecordThatCannotBeSentFailsInTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.topic(t, event, 1)
		w.cluster.Close()
		started := time.Now()
		_, err := w.log.AppendWait(t.Context(), &record.Record{Position: record.Position{Topic: event}})
		if !fault.Is(err, fault.Unavailable) {
			t.Errorf("error %v", err)
		}
		if waited := time.Since(started); waited > time.Minute {
			t.Errorf("it took %s", waited)
		}
	})
}

func TestFlushWaitsForEveryAppend(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.topic(t, event, 1)
	settled := 0 // by the client's goroutine, one after the other
	for range 100 {
		w.log.Append(&record.Record{Position: record.Position{Topic: event}}, func(_ record.Position, err error) {
			if err == nil {
				settled++
			}
		})
	}
	if err := w.log.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if settled != 100 {
		t.Errorf("%d of 100 were settled", settled)
	}
}

func TestALogNeedsBrokers(t *testing.T) {
	t.Parallel()
	if _, err := kafka.Open(kafka.Config{}); err == nil {
		t.Error("no brokers, and no error")
	}
}

func TestAppendsAreObservedWhenTheyAreSettled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type seen struct {
			topic string
			took  time.Duration
			err   error
		}
		observed := make(chan seen, 2)
		var connects atomic.Int32
		w := newWorld(t, func(cfg *kafka.Config) {
			cfg.Observe = func(topic string, took time.Duration, err error) { observed <- seen{topic, took, err} }
			cfg.Hooks = []kgo.Hook{connectHook(func() { connects.Add(1) })}
			cfg.Admit = func(r *record.Record) error {
				if r.Topic == record.TopicCall {
					return errors.New("the log is full")
				}
				return nil
			}
		})
		w.topic(t, record.TopicCommand, 1)
		arrived, release := w.holdProduce(t)
		go func() {
			<-arrived
			time.Sleep(2 * time.Second)
			release()
		}()
		for _, topic := range []string{record.TopicCommand, record.TopicCall} {
			_, err := w.log.AppendWait(t.Context(), &record.Record{Position: record.Position{Topic: topic}, Value: []byte("x")})
			got := <-observed
			if got.topic != topic || !errors.Is(err, got.err) && got.err != nil || (topic == record.TopicCall) != (got.err != nil) {
				t.Errorf("observed %+v of an append that gave %v", got, err)
			}
			if topic == record.TopicCommand && got.took < 2*time.Second {
				t.Errorf("it took %s", got.took)
			}
		}
		if connects.Load() == 0 {
			t.Error("the hook saw no connection")
		}
		if records, bytes := w.log.Buffered(); records != 0 || bytes != 0 {
			t.Errorf("%d records and %d bytes are not settled", records, bytes)
		}
	})
}

type connectHook func()

func (h connectHook) OnBrokerConnect(kgo.BrokerMetadata, time.Duration, net.Conn, error) { h() }
