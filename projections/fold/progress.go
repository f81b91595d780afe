package fold

import (
	"context"
	"time"
)

// settleTime is how long a look waits for a fold that is about to reach the end:
// while calls come, records are always on their way.
const settleTime = 250 * time.Millisecond

// Progress is how a fold stands to its log.
type Progress struct {
	Name string
	// Folded and Lag are records, of all partitions; Parked are those since the start.
	Folded, Lag, Parked int64
	// Age is how long ago the fold was last known to have all that was on the log.
	// It grows while the log cannot be asked.
	Age time.Duration
}

// Progress looks at the end of the log. Where that fails, the lag is the one to
// the end that was seen last.
func (r *Runner) Progress(ctx context.Context) Progress {
	asked := time.Since(r.made)
	if bounds, err := r.source.Bounds(ctx, r.projection.Topic()); err == nil {
		var end int64
		for _, b := range bounds {
			end += b.End
		}
		r.end.Store(end)
		settling, cancel := context.WithTimeout(ctx, settleTime)
		defer cancel()
		if r.reach(settling, bounds) == nil {
			r.confirmed.Store(int64(asked))
		}
	}
	folded := r.marks.sum()
	return Progress{
		Name: r.Name(), Folded: folded, Lag: max(0, r.end.Load()-folded), Parked: r.Parked(),
		Age: time.Since(r.made) - time.Duration(r.confirmed.Load()),
	}
}
