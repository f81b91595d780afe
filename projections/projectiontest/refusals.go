package projectiontest

import (
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"hooklog/domain/record"
	"hooklog/projections/fold"
)

func (c Contract) refusals(t *testing.T) {
	last := c.log(t, nil).Append(c.History...)
	tests := []struct {
		name   string
		change func(*Log)
		as     func(fold.Projection) fold.Projection
		reason string
		stale  bool // else it is lost
	}{
		{
			name:   "because it ends before what was folded",
			change: func(l *Log) { l.Truncate(last.Partition, last.Offset) },
			reason: "ends at offset",
		},
		{
			name: "because it was cut and has grown past what was folded",
			change: func(l *Log) {
				l.Truncate(last.Partition, last.Offset)
				l.Append(c.other(last), c.other(last))
			},
			reason: "not the one that was folded",
		},
		{
			name:   "because the last folded record was changed",
			change: func(l *Log) { l.Replace(last.Partition, last.Offset, c.other(last)) },
			reason: "not the one that was folded",
		},
		{name: "because the topic was created anew", change: (*Log).Recreate, reason: "another"},
		{name: "because it is of another cluster", change: func(l *Log) { l.Move("elsewhere") }, reason: "another"},
		{
			name:   "because the rows have another form",
			change: func(*Log) {},
			as:     func(p fold.Projection) fold.Projection { return otherForm{p} },
			reason: "form",
			stale:  true,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			fs, log := vfs.NewMem(), c.log(t, c.History)
			before := c.fold(t, fs, log)
			tt.change(log)
			stopped, after := c.stop(t, fs, log, tt.as)
			c.check(t, stopped, tt.reason)
			if stopped.Stale != tt.stale || stopped.Lost == tt.stale {
				t.Errorf("stale %v, lost %v; only rows of another form are stale, and all else is lost", stopped.Stale, stopped.Lost)
			}
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("the rows were changed (-before +after):\n%s", diff)
			}
		})
	}
}

// other is a record that does not lie at the position.
func (c Contract) other(at record.Position) record.Record {
	r := c.History[0]
	r.Partition = at.Partition
	r.Time = r.Time.AddDate(1, 0, 0)
	return r
}

// otherForm is the projection of a release that writes other rows.
type otherForm struct{ fold.Projection }

func (o otherForm) Schema() int { return o.Projection.Schema() + 1 }

func (c Contract) check(t *testing.T, stopped *fold.Stopped, reason string) {
	t.Helper()
	if !strings.Contains(stopped.Reason, reason) || stopped.Hint == "" || stopped.At.Topic != c.History[0].Topic {
		t.Errorf("stopped with %+v, want the reason %q, a hint and the place", stopped, reason)
	}
}

// stop folds until the fold stops by itself, and gives the reason and the dump.
func (c Contract) stop(t *testing.T, fs vfs.FS, log fold.Source, as func(fold.Projection) fold.Projection) (*fold.Stopped, string) {
	t.Helper()
	s := open(t, fs)
	defer closeStore(t, s)
	p := c.make(t, s)
	if as != nil {
		p = as(p)
	}
	stopped := start(t, p, s, log).stopped()
	return stopped, Dump(t, s)
}

// beginning removes records from the start of the log: of commands none may be
// missing, of other topics those that have expired.
func (c Contract) beginning(t *testing.T) {
	p := c.History[0].Partition
	log := c.log(t, c.History)
	fs := vfs.NewMem()
	before := c.fold(t, fs, log)
	if c.History[0].Topic == record.TopicCommand {
		log.DeleteBefore(p, 1)
		for name, fs := range map[string]vfs.FS{"stops the first fold": vfs.NewMem(), "stops a fold that knows it": fs} {
			t.Run(name, func(t *testing.T) {
				stopped, after := c.stop(t, fs, log, nil)
				c.check(t, stopped, "starts at offset 1")
				if after != "" && after != before {
					t.Errorf("the rows were changed:\n%s", cmp.Diff(before, after))
				}
			})
		}
		return
	}
	expired := log.Append(c.History[0])
	log.Append(c.History[0])
	log.DeleteBefore(p, expired.Offset+1)
	t.Run("is folded from its start on", func(t *testing.T) {
		if c.fold(t, vfs.NewMem(), log) == "" {
			t.Error("nothing was folded")
		}
	})
	t.Run("is folded on at its start when it had expired behind the checkpoint", func(t *testing.T) {
		if c.fold(t, fs, log) == before {
			t.Error("nothing was folded")
		}
	})
}

func (c Contract) gap(t *testing.T) {
	fs, log := vfs.NewMem(), c.log(t, c.History)
	before := c.fold(t, fs, log)
	log.Skip(c.History[0].Partition)
	log.Append(c.History[0])
	stopped, after := c.stop(t, fs, log, nil)
	c.check(t, stopped, "continues with offset")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the rows were changed (-before +after):\n%s", diff)
	}
}
