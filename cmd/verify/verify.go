// Package verify checks a log against what was signed of it. It reads everything,
// computes the trees of svc.command, svc.call and svc.access again, and compares
// them with every signed checkpoint; since an accepted record names the digest of
// its event, it then reads the events and compares these. It believes the pinned
// public key and its own arithmetic alone: neither the service, nor its
// projections, nor what the log says of itself. It changes nothing.
//
// Events are read in the order in which they lie on their topics, never one by
// one; meanwhile the digests that the accepted records name are kept in memory, 32
// bytes for each event on the log. Checkpoints take about 80 bytes for each tree
// that grew.
package verify

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/sync/errgroup"

	"hooklog/domain/proof"
	"hooklog/domain/record"
)

const (
	// clockSlack is how far the clocks of instances and brokers may lie apart.
	clockSlack = time.Minute
	// Event partitions are read several at once, as many as make a good portion.
	portionRecords    = 100_000
	portionPartitions = 64
)

// trees are the topics whose partitions have trees.
var trees = []string{record.TopicCommand, record.TopicCall, record.TopicAccess}

// Log is the log that is checked.
type Log interface {
	// Topics gives the names of all topics.
	Topics(ctx context.Context) ([]string, error)
	// Bounds gives what the partitions of topics hold.
	Bounds(ctx context.Context, topics ...string) (map[string][]record.Bounds, error)
	// Read hands on the records within the bounds; those of one partition in order
	// and without gaps, in runs that hold during the call only. A record that cannot
	// be read ends its partition, and no other one. Several may read at once.
	Read(ctx context.Context, topics map[string][]record.Bounds, visit func([]record.Record) error) ([]Flaw, error)
}

// Flaw says that a record, which must be there, cannot be read.
type Flaw struct {
	At     record.Position
	Reason string
}

// Leaves are the hashes of records that a service has stored. Nothing is believed
// of them but what a signed root confirms.
type Leaves interface {
	Leaves(topic string, partition int32, from, to int64) ([]proof.Hash, error)
}

// Options say what the log is held against.
type Options struct {
	// Key is the pinned public key.
	Key note.Verifier
	// Outside is a signed checkpoint that was kept where who changes the log does
	// not reach; nil where there is none.
	Outside []byte
	// Leaves are nil where there are none: then a difference is known only to lie
	// between two checkpoints.
	Leaves Leaves
	// Retention is how long a topic keeps its records, 0 for ever. It comes from
	// who checks, because that of the topic can be changed by who deletes.
	Retention func(topic string) time.Duration
	Now       time.Time
	// Progress, when set, is told from time to time how many records were read.
	Progress func(done, of int64)
}

// Run checks the log. What differs is in the report; an error means that it could
// not be told.
func Run(ctx context.Context, log Log, opts Options) (Report, error) {
	r := &run{log: log, opts: opts, found: make(map[partition]Difference), claims: make(map[partition]*claims)}
	r.report.Key = opts.Key.Name()
	// Each is read up to an end that is asked for after what was written before it:
	// a checkpoint is younger than its records, and an accepted record than its event.
	for _, stage := range []func(context.Context) error{r.readCheckpoints, r.openTrees, r.openEvents, r.readTrees, r.readEvents} {
		if err := stage(ctx); err != nil {
			return Report{}, err
		}
	}
	r.conclude()
	return r.report, nil
}

// partition names one partition.
type partition struct {
	topic string
	index int32
}

func partitionOf(at record.Position) partition { return partition{at.Topic, at.Partition} }

func (p partition) at(offset int64) record.Position {
	return record.Position{Topic: p.topic, Partition: p.index, Offset: offset}
}

// run is one run of Run.
type run struct {
	log  Log
	opts Options

	heads   map[partition][]head
	largest map[partition]head          // so far
	bounds  map[partition]record.Bounds // of trees and events
	trees   []*tree

	mu     sync.Mutex
	report Report
	found  map[partition]Difference // the first of each
	claims map[partition]*claims
	done   int64
	total  int64 // 0 as long as it is not known
}

// differs notes a difference; only the first of a partition counts.
func (r *run) differs(d Difference) {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := partition{d.Topic, d.Partition}
	if known, there := r.found[p]; !there || d.Offset < known.Offset {
		r.found[p] = d
	}
}

// read reads partitions, takes for a difference what cannot be read, and reports
// whether there was any.
func (r *run) read(ctx context.Context, parts []partition, visit func([]record.Record) error) (flawed bool, err error) {
	topics := make(map[string][]record.Bounds)
	for _, p := range parts {
		if grown := int(p.index) + 1 - len(topics[p.topic]); grown > 0 {
			topics[p.topic] = append(topics[p.topic], make([]record.Bounds, grown)...)
		}
		topics[p.topic][p.index] = r.bounds[p]
	}
	flaws, err := r.log.Read(ctx, topics, func(records []record.Record) error {
		r.progress(len(records))
		return visit(records)
	})
	for _, flaw := range flaws {
		r.differs(differenceAt(flaw.At, "it cannot be read: %s", flaw.Reason))
	}
	return len(flaws) > 0, err
}

func (r *run) progress(n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done += int64(n)
	if r.opts.Progress != nil && r.total > 0 {
		r.opts.Progress(r.done, r.total)
	}
}

func (r *run) openTrees(ctx context.Context) error {
	there, err := r.log.Topics(ctx)
	if err != nil {
		return err
	}
	var names []string
	for _, topic := range trees {
		if slices.Contains(there, topic) {
			names = append(names, topic)
		}
	}
	if err := r.open(ctx, names); err != nil {
		return err
	}
	for p := range r.heads {
		if _, there := r.bounds[p]; !there {
			r.bounds[p] = record.Bounds{} // and all of it is missing
		}
	}
	for _, p := range slices.SortedFunc(maps.Keys(r.bounds), byPlace) {
		t, err := r.newTree(ctx, p)
		if err != nil {
			return err
		}
		r.trees = append(r.trees, t)
	}
	return nil
}

func (r *run) openEvents(ctx context.Context) error {
	there, err := r.log.Topics(ctx)
	if err != nil {
		return err
	}
	err = r.open(ctx, slices.DeleteFunc(there, func(topic string) bool {
		return !strings.HasPrefix(topic, record.EventTopicPrefix)
	}))
	r.total = r.done
	for _, b := range r.bounds {
		r.total += b.End - b.Start
	}
	return err
}

func (r *run) open(ctx context.Context, topics []string) error {
	if r.bounds == nil {
		r.bounds = make(map[partition]record.Bounds)
	}
	all, err := r.log.Bounds(ctx, topics...)
	for topic, bounds := range all {
		for i, b := range bounds {
			r.bounds[partition{topic, int32(i)}] = b
		}
	}
	return err
}

func (r *run) readTrees(ctx context.Context) error {
	return atOnce(ctx, slices.Values(r.trees), func(ctx context.Context, t *tree) error {
		return t.check(ctx)
	})
}

func (r *run) readEvents(ctx context.Context) error {
	var parts []partition
	for _, p := range slices.SortedFunc(maps.Keys(r.bounds), byPlace) {
		if strings.HasPrefix(p.topic, record.EventTopicPrefix) {
			parts = append(parts, p)
		}
	}
	return atOnce(ctx, r.portions(parts), func(ctx context.Context, portion []partition) error {
		return r.checkEvents(ctx, portion)
	})
}

// portions cuts the partitions into such as are read together.
func (r *run) portions(parts []partition) func(yield func([]partition) bool) {
	return func(yield func([]partition) bool) {
		for len(parts) > 0 {
			n, records := 0, int64(0)
			for n < len(parts) && n < portionPartitions && records < portionRecords {
				records += r.bounds[parts[n]].End - r.bounds[parts[n]].Start
				n++
			}
			if !yield(parts[:n]) {
				return
			}
			parts = parts[n:]
		}
	}
}

// atOnce does the work for several items at a time.
func atOnce[T any](ctx context.Context, items func(yield func(T) bool), work func(context.Context, T) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for item := range items {
		group.Go(func() error { return work(ctx, item) })
	}
	return group.Wait()
}

// byPlace orders partitions as reports show them: what has trees comes first.
func byPlace(a, b partition) int {
	return cmp.Or(cmp.Compare(rank(a.topic), rank(b.topic)), cmp.Compare(a.topic, b.topic), cmp.Compare(a.index, b.index))
}

func rank(topic string) int {
	if i := slices.Index(trees, topic); i >= 0 {
		return i
	}
	return len(trees)
}
