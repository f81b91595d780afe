package traces

import (
	"encoding/binary"
	"slices"
	"time"

	"hooklog/projections/store"
)

// day counts from 1970, in UTC. All rows lie below the day on which their call was
// received, so that a day is dropped at once.
type day uint32

const hours24 = 24 * time.Hour

func dayOf(t time.Time) day { return day(max(0, t.Unix()) / int64(hours24/time.Second)) }

// daysOf is how many days it takes until all of one are older than the retention.
func daysOf(retention time.Duration) day { return day((retention + hours24 - 1) / hours24) }

// below is what all rows begin with.
var below = store.Key(name, "")

// prefix is what the rows of the day begin with.
func (d day) prefix() []byte { return d.append(make([]byte, 0, len(below)+4)) }

func (d day) append(key []byte) []byte {
	return binary.BigEndian.AppendUint32(append(key, below...), uint32(d))
}

// stored finds the days that have rows, by one look for each.
func stored(s *store.Store) (days []day, err error) {
	for after, found := []byte(nil), true; found; {
		found = false
		err = s.Scan(below, after, func(key, _ []byte) bool {
			days = append(days, day(binary.BigEndian.Uint32(key[len(below):])))
			found = true
			return false
		})
		if err != nil || !found {
			break
		}
		after = (days[len(days)-1] + 1).prefix()
	}
	return days, err
}

// horizon is the first day that is kept. Days that have not begun do not count:
// whoever wrote them had a wrong clock, and all others would be dropped for it.
func (t *Traces) horizon(days []day) day {
	begun, _ := slices.BinarySearch(days, dayOf(t.now())+1)
	if t.keep == 0 || begun == 0 {
		return 0
	}
	newest := days[begun-1]
	return newest - min(t.keep, newest)
}

// known are the days that are kept now, in order.
func (t *Traces) known() []day {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.days
}

// publish takes in the days of a batch that was committed, and pruned below its
// horizon. Where another partition has moved the horizon further meanwhile, the
// batch has brought back what that one had pruned.
func (t *Traces) publish(days []day, pruned day) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := from(t.days, pruned)
	for _, d := range days {
		all = with(all, d)
	}
	if horizon := t.horizon(all); horizon > pruned && all[0] < horizon && t.drop(horizon) == nil {
		all = from(all, horizon)
	} // what could not be dropped stays known, and goes with the next batch
	t.days = all
}

// drop removes the days before the horizon.
func (t *Traces) drop(horizon day) error {
	b := t.store.NewBatch()
	defer func() { _ = b.Close() }()
	if err := b.DeleteRange(below, horizon.prefix()); err != nil {
		return err
	}
	return b.Commit()
}

// with is the list with the day, and from the list without the days before it;
// the one that was given stays as it is.
func with(days []day, d day) []day {
	if len(days) > 0 && days[len(days)-1] == d {
		return days
	}
	i, known := slices.BinarySearch(days, d)
	if known {
		return days
	}
	return slices.Concat(days[:i], []day{d}, days[i:])
}

func from(days []day, first day) []day {
	i, _ := slices.BinarySearch(days, first)
	return days[i:]
}
