package embedded

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"hooklog/domain/fault"
	"hooklog/domain/record"
)

const (
	// maxEventTopics is about where making one more topic, which writes the
	// broker's whole list again, begins to hold up everything else.
	maxEventTopics = 10_000

	// topicDescriptors are held for each topic that was written to. A part of
	// the process's descriptors is kept for everything else.
	topicDescriptors    = 2
	reservedDescriptors = 2048

	// leastReserve is kept for commands however small the log may be.
	leastReserve = 16 << 20

	// fullRetry tells callers when to come back to a full log: it takes an
	// operator to make room.
	fullRetry = time.Minute
)

// guard holds the log to its size. What was admitted since the log was last
// measured counts as written.
type guard struct {
	max, reserve int64
	measured     atomic.Int64
	admitted     atomic.Int64
}

// init sets the most bytes that the log may have; 0 means a quarter of the
// memory, since the log is read into memory at each start.
func (g *guard) init(limit int64) {
	if limit == 0 {
		limit = memory() / 4
	}
	g.max = limit
	// However small the limit, half of it is for events.
	g.reserve = min(max(limit/100, leastReserve), limit/2)
}

func (g *guard) remeasure(size func() (int64, error)) error {
	before := g.admitted.Load()
	n, err := size()
	if err != nil {
		return err
	}
	g.measured.Store(n)
	g.admitted.Add(-before)
	return nil
}

func (g *guard) admit(bytes int, limit int64) error {
	if g.measured.Load()+g.admitted.Add(int64(bytes)) <= limit {
		return nil
	}
	g.admitted.Add(-int64(bytes))
	return fault.New(fault.Unavailable, "The log is full: it may have %d bytes. The operator can raise embedded-max-bytes, or move to Kafka with brokers.", g.max).After(fullRetry)
}

// Admit takes room for a record: by AdmitEvent for an event, by AdmitCommand for
// any other.
func (b *Broker) Admit(r *record.Record) error {
	size := len(r.Key) + len(r.Value)
	for i := range r.Headers {
		size += len(r.Headers[i].Key) + len(r.Headers[i].Value)
	}
	if strings.HasPrefix(r.Topic, record.EventTopicPrefix) {
		return b.AdmitEvent(size)
	}
	return b.AdmitCommand(size)
}

// AdmitEvent takes room for an event, in bytes. It is a fault of kind Unavailable when the log is full but
// for the reserve. What it admits counts as appended.
func (b *Broker) AdmitEvent(bytes int) error {
	return b.guard.admit(bytes, b.guard.max-b.guard.reserve)
}

// AdmitCommand is AdmitEvent for all that is not an event; it may use the
// reserve, so that webhooks can be deleted when the log is full for events.
func (b *Broker) AdmitCommand(bytes int) error {
	return b.guard.admit(bytes, b.guard.max)
}

// Size gives the bytes that the log has and may have.
func (b *Broker) Size() (used, limit int64) {
	return b.guard.measured.Load() + b.guard.admitted.Load(), b.guard.max
}

// EventLimit is from how many bytes on events are refused.
func (b *Broker) EventLimit() int64 { return b.guard.max - b.guard.reserve }

// memory gives the bytes of memory that this process may have.
func memory() int64 {
	var info syscall.Sysinfo_t
	total := int64(math.MaxInt64)
	if err := syscall.Sysinfo(&info); err == nil {
		total = int64(info.Totalram) * int64(info.Unit) //nolint:unconvert // the width differs by platform
	}
	// A container may have less than the machine.
	text, err := os.ReadFile("/sys/fs/cgroup/memory.max")
	if err != nil {
		return total
	}
	if most, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil {
		return min(most, total)
	}
	return total
}

// topicLimit gives how many topics this process can hold, and what sets it. Go
// itself has raised the soft limit of descriptors to the hard one.
func topicLimit() (limit int, reason string, err error) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		return 0, "", err
	}
	free := files.Cur - min(files.Cur/2, reservedDescriptors)
	if n := free / topicDescriptors; n < maxEventTopics {
		return int(n), fmt.Sprintf("the process may open %d files; raise the hard limit (ulimit -Hn, LimitNOFILE)", files.Cur), nil
	}
	return maxEventTopics, "more slow the embedded log down; move to Kafka with brokers", nil
}
