package projectiontest

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"sync"

	"hooklog/domain/record"
	"hooklog/projections/fold"
)

// Log is a topic in memory. Besides growing it can do what a topic must not:
// lose its end or its beginning, change a record, skip offsets, or be another one.
type Log struct {
	topic string

	mu         sync.Mutex
	clusterID  string
	generation int
	portion    int
	partitions []partition
	// changed is closed and replaced at every change, for the tails that wait.
	changed chan struct{}
}

type partition struct {
	record.Bounds
	records []record.Record
}

var _ fold.Source = (*Log)(nil)

// NewLog makes an empty topic.
func NewLog(topic string, partitions int) *Log {
	return &Log{topic: topic, clusterID: "cluster", partitions: make([]partition, partitions), changed: make(chan struct{})}
}

// Append puts records at the ends of their partitions and tells where the last
// one lies.
func (l *Log) Append(records ...record.Record) (last record.Position) {
	l.change(func() {
		for _, r := range records {
			p := &l.partitions[r.Partition]
			r.Topic, r.Offset = l.topic, p.End
			p.records = append(p.records, r)
			p.End++
			last = r.Position
		}
	})
	return last
}

// Portion sets how many records a tail gives at most at once; 0 is all it has.
func (l *Log) Portion(n int) { l.change(func() { l.portion = n }) }

// Truncate removes the records from the offset on.
func (l *Log) Truncate(n int32, end int64) {
	l.change(func() {
		p := &l.partitions[n]
		p.records = slices.Clone(p.records[:p.index(end)])
		p.End = end
	})
}

// DeleteBefore removes the records before the offset, as retention does.
func (l *Log) DeleteBefore(n int32, start int64) {
	l.change(func() {
		p := &l.partitions[n]
		p.records = slices.Clone(p.records[p.index(start):])
		p.Start = start
		p.End = max(p.End, start)
	})
}

// Replace puts another record in the place of one.
func (l *Log) Replace(n int32, offset int64, r record.Record) {
	l.change(func() {
		p := &l.partitions[n]
		r.Position = record.Position{Topic: l.topic, Partition: n, Offset: offset}
		p.records = slices.Clone(p.records)
		p.records[p.index(offset)] = r
	})
}

// Skip leaves the next offset without a record.
func (l *Log) Skip(n int32) { l.change(func() { l.partitions[n].End++ }) }

// Recreate makes the topic another one of the same name with the same records.
func (l *Log) Recreate() { l.change(func() { l.generation++ }) }

// Move makes it the topic of another cluster.
func (l *Log) Move(clusterID string) { l.change(func() { l.clusterID = clusterID }) }

func (l *Log) change(what func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what()
	close(l.changed)
	l.changed = make(chan struct{})
}

// Describe implements fold.Source.
func (l *Log) Describe(ctx context.Context, topic string) (record.Topic, error) {
	bounds, err := l.Bounds(ctx, topic)
	l.mu.Lock()
	defer l.mu.Unlock()
	return record.Topic{ClusterID: l.clusterID, TopicID: fmt.Sprintf("topic-%d", l.generation), Partitions: bounds}, err
}

// Bounds implements fold.Source.
func (l *Log) Bounds(_ context.Context, topic string) ([]record.Bounds, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if topic != l.topic {
		return nil, fmt.Errorf("there is no topic %s", topic)
	}
	bounds := make([]record.Bounds, len(l.partitions))
	for i := range l.partitions {
		bounds[i] = l.partitions[i].Bounds
	}
	return bounds, nil
}

// ReadAt implements fold.Source.
func (l *Log) ReadAt(_ context.Context, at record.Position) (record.Record, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &l.partitions[at.Partition]
	if i := p.index(at.Offset); i < len(p.records) && p.records[i].Position == at {
		return p.records[i], nil
	}
	return record.Record{}, fmt.Errorf("there is no record at %s", at)
}

// Tail implements fold.Source.
func (l *Log) Tail(_ context.Context, from record.Position) (fold.Tail, error) {
	return &tail{log: l, at: from}, nil
}

type tail struct {
	log *Log
	at  record.Position
}

func (t *tail) Next(ctx context.Context) ([]record.Record, error) {
	for {
		records, changed, err := t.read()
		if err != nil || len(records) > 0 {
			return records, err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (t *tail) Close() {}

// read gives what there is, or what to wait for. Like a consumer without a reset
// policy it refuses an offset that the log does not reach.
func (t *tail) read() ([]record.Record, <-chan struct{}, error) {
	t.log.mu.Lock()
	defer t.log.mu.Unlock()
	p := &t.log.partitions[t.at.Partition]
	if t.at.Offset < p.Start || t.at.Offset > p.End {
		return nil, nil, fmt.Errorf("%s is out of range", t.at)
	}
	records := p.records[p.index(t.at.Offset):]
	if t.log.portion > 0 {
		records = records[:min(t.log.portion, len(records))]
	}
	if len(records) > 0 {
		t.at.Offset = records[len(records)-1].Offset + 1
	}
	return slices.Clone(records), t.log.changed, nil
}

// index is where the first record that is not before the offset lies.
func (p *partition) index(offset int64) int {
	return sort.Search(len(p.records), func(i int) bool { return p.records[i].Offset >= offset })
}
