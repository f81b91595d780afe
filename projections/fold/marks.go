package fold

import (
	"context"
	"sync"
)

// marks are the offsets up to which the partitions are folded, and those who
// wait for one.
type marks struct {
	mu   sync.Mutex
	next map[int32]int64
	// moved is closed and replaced when a mark moves while somebody waits.
	moved   chan struct{}
	waiting int
}

func newMarks() *marks {
	return &marks{next: make(map[int32]int64), moved: make(chan struct{})}
}

func (m *marks) set(partition int32, next int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.next[partition] = next
	if m.waiting > 0 {
		close(m.moved)
		m.moved = make(chan struct{})
	}
}

// wait returns when the partition is folded up to next, or ctx's cause.
func (m *marks) wait(ctx context.Context, partition int32, next int64) error {
	m.mu.Lock()
	m.waiting++
	defer func() {
		m.waiting--
		m.mu.Unlock()
	}()
	for m.next[partition] < next {
		moved := m.moved
		m.mu.Unlock()
		select {
		case <-moved:
			m.mu.Lock()
		case <-ctx.Done():
			m.mu.Lock()
			return context.Cause(ctx)
		}
	}
	return nil
}

// sum is the number of records that all partitions have folded.
func (m *marks) sum() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	var n int64
	for _, next := range m.next {
		n += next
	}
	return n
}
