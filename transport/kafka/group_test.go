package kafka_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/record"
	"hooklog/transport/kafka"
)

const group = "hooklog-test"

var errDone = errors.New("the test is done")

// member is a member of the group that writes down what it reads, and commits
// each record that it has read.
type member struct {
	name string
	stop context.CancelCauseFunc
	done chan error

	mu   sync.Mutex
	read map[int32][]int64
	ends map[int32]int64
	held []int32 // the partitions that it has now
	came chan struct{}
}

// join makes a member; commits says whether it commits.
func join(t *testing.T, log *kafka.Log, name string, commits bool) *member {
	t.Helper()
	ctx, stop := context.WithCancelCause(t.Context())
	m := &member{
		name: name, stop: stop, done: make(chan error, 1),
		read: map[int32][]int64{}, ends: map[int32]int64{}, came: make(chan struct{}, 1),
	}
	go func() { m.done <- log.Consume(ctx, group, record.TopicCall, m.serve(commits)) }()
	t.Cleanup(m.leave)
	return m
}

func (m *member) serve(commits bool) func(context.Context, *kafka.Claim) error {
	return func(ctx context.Context, c *kafka.Claim) error {
		m.note(func() {
			m.held = append(m.held, c.Partition())
			m.ends[c.Partition()] = c.End()
		})
		defer m.note(func() {
			m.held = slices.DeleteFunc(m.held, func(p int32) bool { return p == c.Partition() })
		})
		next := int64(-1)
		for {
			records, err := c.Next(ctx)
			if err != nil {
				if next >= 0 && commits { // the last chance
					_ = c.Commit(context.WithoutCancel(ctx), next)
				}
				return err
			}
			m.note(func() {
				for i := range records {
					m.read[c.Partition()] = append(m.read[c.Partition()], records[i].Offset)
				}
			})
			next = records[len(records)-1].Offset + 1
		}
	}
}

func (m *member) note(change func()) {
	m.mu.Lock()
	change()
	m.mu.Unlock()
	select {
	case m.came <- struct{}{}:
	default:
	}
}

// until waits for a state of the member.
func (m *member) until(t *testing.T, what string, reached func() bool) {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		m.mu.Lock()
		ok := reached()
		m.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-m.came:
		case err := <-m.done:
			t.Fatalf("%s ended before it %s: %v", m.name, what, err)
		case <-timeout:
			t.Fatalf("%s never %s: it has %v and read %v", m.name, what, m.held, m.read)
		}
	}
}

func (m *member) untilRead(t *testing.T, partition int32, offsets ...int64) {
	t.Helper()
	m.until(t, fmt.Sprintf("read %v of partition %d", offsets, partition), func() bool {
		return slices.Equal(m.read[partition], offsets)
	})
}

func (m *member) untilHolds(t *testing.T, n int) {
	t.Helper()
	m.until(t, fmt.Sprintf("held %d partitions", n), func() bool { return len(m.held) == n })
}

func (m *member) leave() {
	m.stop(errDone)
	m.done <- <-m.done // for whoever asks again
}

func (w *world) appendTo(t *testing.T, partition int32, n int) {
	t.Helper()
	for range n {
		r := record.Record{Position: record.Position{Topic: record.TopicCall, Partition: partition}, Time: time.Now()}
		if _, err := w.log.AppendWait(t.Context(), &r); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) committed(t *testing.T) map[int32]int64 {
	t.Helper()
	offsets, err := w.admin.FetchOffsets(t.Context(), group)
	if err != nil {
		t.Fatal(err)
	}
	at := map[int32]int64{}
	offsets.Each(func(o kadm.OffsetResponse) { at[o.Partition] = o.At })
	return at
}

func (w *world) commit(t *testing.T, partition int32, offset int64) {
	t.Helper()
	offsets := make(kadm.Offsets)
	offsets.AddOffset(record.TopicCall, partition, offset, -1)
	if err := w.admin.CommitAllOffsets(t.Context(), group, offsets); err != nil {
		t.Fatal(err)
	}
}

func TestAMemberGoesOnAtTheCommittedOffset(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.topic(t, record.TopicCall, 2)
		w.appendTo(t, 0, 3)
		first := join(t, w.log, "the first", true)
		first.untilRead(t, 0, 0, 1, 2)
		first.untilHolds(t, 2)
		if first.ends[0] != 3 || first.ends[1] != 0 {
			t.Errorf("the log ended at %v when the partitions were given", first.ends)
		}
		w.appendTo(t, 1, 1)
		first.untilRead(t, 1, 0)
		first.leave()
		if have := w.committed(t); have[0] != 3 || have[1] != 1 {
			t.Fatalf("committed are %v", have)
		}

		w.appendTo(t, 0, 2)
		second := join(t, w.log, "the second", true)
		second.untilRead(t, 0, 3, 4)
		if second.ends[0] != 5 {
			t.Errorf("the log ended at %d when the partition was given", second.ends[0])
		}
	})
}

func TestACommittedOffsetThatTheLogDoesNotHold(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		committed int64
		want      []int64
	}{
		"below the start goes on at the start":       {1, []int64{2, 3, 4}},
		"beyond the end begins at the start":         {9, []int64{2, 3, 4}},
		"at the start is that one":                   {2, []int64{2, 3, 4}},
		"in the middle is that one":                  {3, []int64{3, 4}},
		"that was deleted begins at the start again": {-1, []int64{2, 3, 4}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				w.topic(t, record.TopicCall, 1)
				w.appendTo(t, 0, 5)
				w.expire(t, record.TopicCall, 2)
				if c.committed >= 0 {
					w.commit(t, 0, c.committed)
				} else {
					w.commit(t, 0, 4)
					if _, err := w.admin.DeleteGroups(t.Context(), group); err != nil {
						t.Fatal(err)
					}
				}
				join(t, w.log, "the member", false).untilRead(t, 0, c.want...)
			})
		})
	}
}

func TestRecordsThatExpireBeforeTheyAreReadAreLeftOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.topic(t, record.TopicCall, 1)
		w.appendTo(t, 0, 2)
		away := w.cluster.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.Fetch}, Err: kerr.NotLeaderForPartition, Count: -1})
		m := join(t, w.log, "the member", false)
		if err := away.Wait(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
		w.expire(t, record.TopicCall, 1)
		away.Remove()
		m.untilRead(t, 0, 1)
	})
}

func TestThreeMembersShareThePartitions(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		const partitions = 6
		w.topic(t, record.TopicCall, partitions)
		for p := range int32(partitions) {
			w.appendTo(t, p, 2)
		}
		members := []*member{join(t, w.log, "the first", true)}
		members[0].untilHolds(t, partitions)
		for _, name := range []string{"the second", "the third"} {
			members = append(members, join(t, w.log, name, true))
			for _, m := range members {
				m.untilHolds(t, partitions/len(members))
			}
		}
		for p := range int32(partitions) {
			w.appendTo(t, p, 1)
		}
		for _, m := range members {
			m.until(t, "read what came last", func() bool {
				for _, p := range m.held {
					if read := m.read[p]; len(read) == 0 || read[len(read)-1] != 2 {
						return false
					}
				}
				return true
			})
		}
		members[0].leave()
		members[1].untilHolds(t, partitions/2)
		members[2].untilHolds(t, partitions/2)

		counts := map[string]int{}
		for _, m := range members {
			m.mu.Lock()
			for p, offsets := range m.read {
				for _, offset := range offsets {
					counts[fmt.Sprintf("%d@%d", p, offset)]++
				}
			}
			m.mu.Unlock()
		}
		for at, n := range counts {
			if n != 1 { // every member commits before it lets go
				t.Errorf("%s was read %d times", at, n)
			}
		}
		if len(counts) != 3*partitions {
			t.Errorf("%d records were read, want %d", len(counts), 3*partitions)
		}
	})
}

// cable is a network that can be cut: connections break, and no new one is made.
type cable struct {
	dial func(ctx context.Context, network, host string) (net.Conn, error)

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

func (c *cable) Dial(ctx context.Context, network, host string) (net.Conn, error) {
	conn, err := c.dial(ctx, network, host)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cut {
		_ = conn.Close()
		return nil, errors.New("the cable is cut")
	}
	c.conns = append(c.conns, conn)
	return conn, nil
}

func (c *cable) Cut() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = true
	for _, conn := range c.conns {
		_ = conn.Close()
	}
}

func TestThePartitionsOfAMemberThatDiedAreTakenOver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var wire cable
		w := newWorld(t, func(cfg *kafka.Config) { wire.dial = cfg.Dialer })
		w.topic(t, record.TopicCall, 1)
		w.appendTo(t, 0, 3)
		w.commit(t, 0, 1)
		doomed, err := kafka.Open(kafka.Config{
			Brokers: w.cluster.ListenAddrs(), Dialer: wire.Dial, ClientID: "doomed", Log: slog.New(slog.DiscardHandler),
		})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(doomed.Close)
		first := join(t, doomed, "the first", true)
		first.untilRead(t, 0, 1, 2)
		wire.Cut()
		second := join(t, w.log, "the second", true)
		second.untilRead(t, 0, 1, 2)
		first.leave()
		w.appendTo(t, 0, 1)
		second.untilRead(t, 0, 1, 2, 3)
		second.leave()
		if have := w.committed(t); have[0] != 4 {
			t.Errorf("committed are %v", have)
		}
	})
}

func TestWhoServesAPartitionCanEndTheMembership(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.topic(t, record.TopicCall, 1)
		broken := errors.New("broken")
		err := w.log.Consume(t.Context(), group, record.TopicCall, func(context.Context, *kafka.Claim) error { return broken })
		if !errors.Is(err, broken) {
			t.Errorf("the membership ends with %v", err)
		}
	})
}
