package metrics

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// lookTime bounds what a scrape asks of the log.
const lookTime = 2 * time.Second

// Projection is how a fold stands to its log.
type Projection struct {
	Name string
	// Folded and Lag are records; Parked are those that no release can decode, since
	// the start.
	Folded, Lag, Parked int64
	// Age is how long ago the fold was last known to have all that was on the log.
	Age time.Duration
}

// Store is the state of the rows.
type Store struct {
	DiskBytes, MemTableBytes, CacheBytes uint64
	CacheHits, CacheMisses, Compactions  int64
	CompactionDebtBytes                  uint64
	// ReadAmplification is how many places a read has to look at.
	ReadAmplification int
}

// Load is what the service is busy with.
type Load struct {
	HeldPolls      int64
	AwaitedResults int64
	// The budget of calls that are in memory, in bytes.
	BudgetUsed, BudgetLimit int64
	// What was handed to the log and is not confirmed.
	BufferedRecords, BufferedBytes int64
}

// Sources are what is read at each scrape.
type Sources struct {
	Projections func(ctx context.Context) []Projection
	Store       func() Store
	Load        func() Load
	// Unproven is how long what is on the log has been without a signed checkpoint; 0
	// while nothing is.
	Unproven func() time.Duration
	// SinkFailures is how often the sink did not take a checkpoint.
	SinkFailures func() int64
	// CheckpointInterval is how often one is signed; 0 means only when asked for.
	CheckpointInterval time.Duration
	// EmbeddedLog gives the bytes of the embedded log, and from how many on it takes
	// no more calls; nil with brokers elsewhere.
	EmbeddedLog func() (used, limit int64)
}

// Watch reads the sources at each scrape, until the returned function is called.
func (m *Metrics) Watch(s Sources) (stop func() error, err error) {
	w := &watcher{maker: maker{meter: m.meter}}
	readings := []metric.Callback{w.projections(s.Projections), w.store(s.Store), w.load(s.Load), w.checkpoints(s)}
	if s.EmbeddedLog != nil {
		readings = append(readings, w.embeddedLog(s.EmbeddedLog))
	}
	return w.watch(func(ctx context.Context, o metric.Observer) error {
		ctx, cancel := context.WithTimeout(ctx, lookTime)
		defer cancel()
		for _, read := range readings {
			if err := read(ctx, o); err != nil {
				return err
			}
		}
		return nil
	})
}

func (w *watcher) checkpoints(s Sources) metric.Callback {
	age := w.gauge("hooklog_checkpoint_age_seconds", "How long what is on the log has been without a signed checkpoint.")
	every := w.gauge("hooklog_checkpoint_interval_seconds", "How often a checkpoint is signed; 0 means only when asked for.")
	failures := w.counter("hooklog_checkpoint_sink_failures_total", "How often the sink did not take a checkpoint.")
	return func(_ context.Context, o metric.Observer) error {
		o.ObserveFloat64(age, s.Unproven().Seconds())
		o.ObserveFloat64(every, s.CheckpointInterval.Seconds())
		o.ObserveFloat64(failures, float64(s.SinkFailures()))
		return nil
	}
}

func (w *watcher) projections(read func(context.Context) []Projection) metric.Callback {
	folded := w.counter("hooklog_projection_folded_records_total", "Records of the log that are folded.")
	lag := w.gauge("hooklog_projection_lag_records", "Records of the log that are not folded yet.")
	age := w.gauge("hooklog_projection_age_seconds", "How long ago the projection was last known to have all that was on the log.")
	parked := w.counter("hooklog_projection_parked_records_total", "Records that were parked since the start, because no release can decode them.")
	return func(ctx context.Context, o metric.Observer) error {
		for _, p := range read(ctx) {
			name := metric.WithAttributes(attribute.String("projection", p.Name))
			o.ObserveFloat64(folded, float64(p.Folded), name)
			o.ObserveFloat64(lag, float64(p.Lag), name)
			o.ObserveFloat64(age, p.Age.Seconds(), name)
			o.ObserveFloat64(parked, float64(p.Parked), name)
		}
		return nil
	}
}

func (w *watcher) store(read func() Store) metric.Callback {
	disk := w.gauge("hooklog_store_disk_bytes", "Bytes of the projections on disk.")
	memtable := w.gauge("hooklog_store_memtable_bytes", "Bytes of the projections that are not in a table yet.")
	cache := w.gauge("hooklog_store_cache_bytes", "Bytes of the cache of the projections.")
	hits := w.counter("hooklog_store_cache_hits_total", "Blocks that the cache had.")
	misses := w.counter("hooklog_store_cache_misses_total", "Blocks that the cache had not.")
	compactions := w.counter("hooklog_store_compactions_total", "Compactions of the projections.")
	debt := w.gauge("hooklog_store_compaction_debt_bytes", "Bytes that wait to be compacted.")
	amplification := w.gauge("hooklog_store_read_amplification", "How many places a read of the projections has to look at.")
	return func(_ context.Context, o metric.Observer) error {
		s := read()
		o.ObserveFloat64(disk, float64(s.DiskBytes))
		o.ObserveFloat64(memtable, float64(s.MemTableBytes))
		o.ObserveFloat64(cache, float64(s.CacheBytes))
		o.ObserveFloat64(hits, float64(s.CacheHits))
		o.ObserveFloat64(misses, float64(s.CacheMisses))
		o.ObserveFloat64(compactions, float64(s.Compactions))
		o.ObserveFloat64(debt, float64(s.CompactionDebtBytes))
		o.ObserveFloat64(amplification, float64(s.ReadAmplification))
		return nil
	}
}

func (w *watcher) load(read func() Load) metric.Callback {
	held := w.gauge("hooklog_held_polls", "Polls that are held until their result is ready.")
	awaited := w.gauge("hooklog_awaited_results", "Results that answers to calls or held polls wait for.")
	used := w.gauge("hooklog_body_budget_used_bytes", "Bytes of calls that are in memory.")
	limit := w.gauge("hooklog_body_budget_limit_bytes", "Bytes of calls that may be in memory.")
	records := w.gauge("hooklog_kafka_buffered_records", "Records that the log has not confirmed yet.")
	bytes := w.gauge("hooklog_kafka_buffered_bytes", "Bytes of the records that the log has not confirmed yet.")
	return func(_ context.Context, o metric.Observer) error {
		l := read()
		o.ObserveFloat64(held, float64(l.HeldPolls))
		o.ObserveFloat64(awaited, float64(l.AwaitedResults))
		o.ObserveFloat64(used, float64(l.BudgetUsed))
		o.ObserveFloat64(limit, float64(l.BudgetLimit))
		o.ObserveFloat64(records, float64(l.BufferedRecords))
		o.ObserveFloat64(bytes, float64(l.BufferedBytes))
		return nil
	}
}

func (w *watcher) embeddedLog(read func() (used, limit int64)) metric.Callback {
	size := w.gauge("hooklog_embedded_log_bytes", "Bytes of the embedded log.")
	most := w.gauge("hooklog_embedded_log_limit_bytes", "From how many bytes on the embedded log takes no more calls.")
	return func(_ context.Context, o metric.Observer) error {
		used, limit := read()
		o.ObserveFloat64(size, float64(used))
		o.ObserveFloat64(most, float64(limit))
		return nil
	}
}
