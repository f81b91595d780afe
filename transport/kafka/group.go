package kafka

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/domain/record"
)

// GroupPipelines is the group that runs pipelines, over svc.call. The names of the
// service's own groups begin with hooklog-; the embedded broker's window keeps
// others out of them.
const GroupPipelines = "hooklog-pipelines"

const (
	// sessionTimeout is how long the partitions of a member that died are missed.
	sessionTimeout    = 10 * time.Second
	heartbeatInterval = time.Second
	// rebalanceTimeout is how long a member may take to let go of a partition.
	rebalanceTimeout = 20 * time.Second
	// leaveTimeout bounds how long an ending member waits for brokers that are away.
	leaveTimeout = 3 * time.Second
)

// member is this process in a group.
type member struct {
	log          *Log
	group, topic string
	serve        func(context.Context, *Claim) error
	client       *kgo.Client
	admin        *kadm.Client

	mu      sync.Mutex
	serving map[int32]*serving
	running sync.WaitGroup
}

// serving is what goes on for a partition.
type serving struct {
	stop context.CancelFunc
	done chan struct{}
	// lost says that commits come too late.
	lost bool
}

// Consume is a member of the group, which shares the partitions of the topic, as
// long as ctx lasts. serve is called for each partition that this member is given,
// in a goroutine of its own; its context ends when the partition goes to another
// member, which gets it when serve has returned: until then serve may commit. An
// error of serve ends the membership.
//
// The group only says who serves what: records are read by a tail for each
// partition, whose rules about what is doubtful hold here as well. Without a
// committed offset, or with one that the log has not reached, reading begins at
// the start of the log.
func (l *Log) Consume(ctx context.Context, group, topic string, serve func(context.Context, *Claim) error) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	m := &member{log: l, group: group, topic: topic, serve: serve, serving: make(map[int32]*serving)}
	given := make(chan struct{}) // the callbacks need the client, which is made with them
	var err error
	m.client, err = kgo.NewClient(append(
		l.cfg.options(),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic),
		kgo.DisableAutoCommit(),
		kgo.SessionTimeout(sessionTimeout),
		kgo.HeartbeatInterval(heartbeatInterval),
		kgo.RebalanceTimeout(rebalanceTimeout),
		kgo.OnPartitionsAssigned(func(_ context.Context, _ *kgo.Client, added map[string][]int32) {
			<-given
			m.begin(ctx, added[topic], fail)
		}),
		kgo.OnPartitionsRevoked(func(_ context.Context, _ *kgo.Client, revoked map[string][]int32) {
			m.end(revoked[topic], false)
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, lost map[string][]int32) {
			m.end(lost[topic], true)
		}),
	)...)
	if err != nil {
		return err
	}
	m.client.PauseFetchTopics(topic) // the tails read
	m.admin = kadm.NewClient(m.client)
	close(given)
	m.wait(ctx)
	m.leave()
	return context.Cause(ctx)
}

// wait takes in what the client has to say, which it logs itself and tries again.
func (m *member) wait(ctx context.Context) {
	for ctx.Err() == nil {
		m.client.PollFetches(ctx)
		_ = pause(ctx, retryPause)
	}
}

// leave ends what is served before it leaves the group, so that all of it can be
// committed.
func (m *member) leave() {
	m.mu.Lock()
	all := slices.Collect(maps.Keys(m.serving))
	m.mu.Unlock()
	m.end(all, false)
	ctx, cancel := context.WithTimeout(context.Background(), leaveTimeout)
	defer cancel()
	_ = m.client.LeaveGroupContext(ctx) // otherwise the session times out
	m.client.Close()
	m.running.Wait()
}

func (m *member) begin(ctx context.Context, partitions []int32, fail context.CancelCauseFunc) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, partition := range partitions {
		claimed, stop := context.WithCancel(ctx)
		s := &serving{stop: stop, done: make(chan struct{})}
		m.serving[partition] = s
		m.running.Go(func() {
			defer close(s.done)
			defer stop()
			if err := m.claim(claimed, partition); err != nil && claimed.Err() == nil {
				fail(err)
			}
		})
	}
}

// end returns when the partitions are not served any more.
func (m *member) end(partitions []int32, lost bool) {
	m.mu.Lock()
	ending := make(map[int32]*serving, len(partitions))
	for _, partition := range partitions {
		if s := m.serving[partition]; s != nil {
			s.lost = lost
			s.stop()
			ending[partition] = s
		}
	}
	m.mu.Unlock()
	for partition, s := range ending {
		<-s.done
		m.mu.Lock()
		delete(m.serving, partition)
		m.mu.Unlock()
	}
}

func (m *member) claim(ctx context.Context, partition int32) error {
	at, end, err := m.position(ctx, partition)
	if err != nil {
		return err
	}
	tail, err := m.log.Tail(ctx, at)
	if err != nil {
		return err
	}
	c := &Claim{member: m, partition: partition, end: end, tail: tail}
	defer func() { c.tail.Close() }()
	return m.serve(ctx, c)
}

// position is where to begin, and the end of the log, as soon as the brokers tell.
func (m *member) position(ctx context.Context, partition int32) (at record.Position, end int64, err error) {
	for {
		at, end, err = m.lookUp(ctx, partition)
		if err == nil || MissesTopic(err) {
			return at, end, err
		}
		m.log.cfg.Log.Warn("Committed offset is not known", "group", m.group, "partition", partition, "error", err)
		if err := pause(ctx, sessionTimeout/10); err != nil {
			return at, end, err
		}
	}
}

func (m *member) lookUp(ctx context.Context, partition int32) (record.Position, int64, error) {
	at := record.Position{Topic: m.topic, Partition: partition}
	offsets, err := m.admin.FetchOffsetsForTopics(ctx, m.group, m.topic)
	if err != nil {
		return at, 0, err
	}
	committed, known := offsets.Lookup(m.topic, partition)
	if known && committed.Err != nil {
		return at, 0, committed.Err
	}
	all, err := m.log.Bounds(ctx, m.topic)
	if err != nil {
		return at, 0, err
	}
	if int(partition) >= len(all) {
		return at, 0, &MissingTopicError{Topic: m.topic}
	}
	bounds := all[partition]
	at.Offset = bounds.Start
	switch {
	case !known || committed.At < 0:
	case committed.At > bounds.End:
		m.log.cfg.Log.Warn("Committed offset is beyond the end of the log; reading begins at its start",
			"group", m.group, "partition", partition, "committed", committed.At, "end", bounds.End)
	default:
		at.Offset = max(bounds.Start, committed.At)
	}
	return at, bounds.End, nil
}
