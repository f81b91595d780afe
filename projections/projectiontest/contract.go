// Package projectiontest is the contract of every projection, as a suite that
// each one's tests run, and a log in memory to fold from. It is for tests only
// and knows no projection.
package projectiontest

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"hooklog/domain/record"
	"hooklog/projections/fold"
	"hooklog/projections/store"
)

// Contract is a projection that is to be tested.
type Contract struct {
	// New opens the projection over a store.
	New func(*store.Store) (fold.Projection, error)
	// History is a representative log of the projection's topic, with repeated
	// and contradicting records. Each record names its partition.
	History []record.Record
	// DecodesNothing says that the projection takes every record as it is, and so
	// parks none.
	DecodesNothing bool
	// TellsOfParked says that the projection has rows of its own about records that
	// cannot be decoded.
	TellsOfParked bool
}

// Run holds the projection to what is promised of every one.
func Run(t *testing.T, c Contract) {
	t.Run("folding a log twice gives the same rows", c.replay)
	t.Run("how the log is cut into batches changes no row", c.batching)
	t.Run("a restart after any record changes no row", c.restart)
	t.Run("a crash leaves what a beginning of the log gives, and changes no row in the end", c.crash)
	if !c.DecodesNothing {
		t.Run("a record that cannot be decoded is parked and the fold goes on", c.parks)
	}
	t.Run("a record for newer readers stops the fold in front of it", c.newerReaders)
	t.Run("nobody is told of a record before it is committed", c.tellsAfterCommit)
	t.Run("a log that is not the one that was folded is refused", c.refusals)
	t.Run("a log without its beginning", c.beginning)
	t.Run("a gap in the offsets stops the fold", c.gap)
}

func (c Contract) replay(t *testing.T) {
	log := c.log(t, c.marred())
	once, twice := c.fold(t, vfs.NewMem(), log), c.fold(t, vfs.NewMem(), log)
	if diff := cmp.Diff(once, twice); diff != "" {
		t.Errorf("rows differ (-once +twice):\n%s", diff)
	}
	if rows := slices.DeleteFunc(strings.Split(once, "\n"), isBookkeeping); len(rows) < 2 {
		t.Errorf("the history gives only %d rows, which proves nothing", len(rows))
	}
}

func (c Contract) batching(t *testing.T) {
	log := c.log(t, c.marred())
	all := c.fold(t, vfs.NewMem(), log)
	for _, n := range []int{1, 2, 7} {
		t.Run(fmt.Sprintf("of %d", n), func(t *testing.T) {
			log.Portion(n)
			if diff := cmp.Diff(all, c.fold(t, vfs.NewMem(), log)); diff != "" {
				t.Errorf("rows differ (-one batch +batches of %d):\n%s", n, diff)
			}
		})
	}
}

func (c Contract) restart(t *testing.T) {
	history := c.marred()
	whole := c.fold(t, vfs.NewMem(), c.log(t, history))
	fs, log := vfs.NewMem(), c.log(t, nil)
	var last string
	for _, r := range history {
		log.Append(r)
		last = c.fold(t, fs, log)
	}
	if diff := cmp.Diff(whole, last); diff != "" {
		t.Errorf("rows differ (-at once +with restarts):\n%s", diff)
	}
}

// crash takes the file system as it may be after a crash, with most but not all
// of what was not synced, once behind every few records, and goes on from there.
// The history is repeated, because Pebble writes what is not synced only in
// blocks of 32 KiB.
func (c Contract) crash(t *testing.T) {
	const records, crashes = 300, 20
	history := slices.Repeat(c.marred(), 1+records/len(c.marred()))[:records]
	fs, log := vfs.NewCrashableMem(), c.log(t, nil)
	s := open(t, fs)
	f := start(t, c.make(t, s), s, log)
	states := []string{Dump(t, s)} // after so many records
	crashed := map[int]*vfs.MemFS{}
	for i, r := range history {
		f.reach(log.Append(r))
		states = append(states, Dump(t, s))
		if n := i + 1; n%(records/crashes) == 0 {
			rng := rand.New(rand.NewPCG(uint64(n), 0)) //nolint:gosec // a crash is no secret
			crashed[n] = fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 95, RNG: rng})
		}
	}
	f.end()
	closeStore(t, s)

	partly := 0
	for n, fs := range crashed {
		s := open(t, fs)
		left := slices.Index(states[:n+1], Dump(t, s))
		closeStore(t, s)
		switch {
		case left < 0:
			t.Errorf("the crash after %d records left what no beginning of the log gives", n)
		case left > 0 && left < n:
			partly++
		}
		if diff := cmp.Diff(states[records], c.fold(t, fs, log)); diff != "" {
			t.Errorf("rows differ after the crash after %d records (-never crashed +crashed):\n%s", n, diff)
		}
	}
	if partly < crashes/4 {
		t.Errorf("only %d of %d crashes kept some and lost some: the test has lost its point", partly, crashes)
	}
}

// fold folds the whole log into the store on the file system, and gives its dump.
func (c Contract) fold(t *testing.T, fs vfs.FS, log fold.Source) string {
	t.Helper()
	s := open(t, fs)
	f := start(t, c.make(t, s), s, log)
	f.catchUp()
	f.end()
	defer closeStore(t, s)
	return Dump(t, s)
}

func (c Contract) make(t *testing.T, s *store.Store) fold.Projection {
	t.Helper()
	p, err := c.New(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// log is the projection's topic with the records.
func (c Contract) log(t *testing.T, records []record.Record) *Log {
	t.Helper()
	if len(c.History) < 4 {
		t.Fatal("a history of fewer than four records shows nothing")
	}
	partitions := 1
	for _, r := range c.History {
		partitions = max(partitions, int(r.Partition)+1)
	}
	log := NewLog(c.History[0].Topic, partitions)
	log.Append(records...)
	return log
}

// marred is the history with records in its middle that cannot be decoded.
func (c Contract) marred() []record.Record {
	return slices.Insert(slices.Clone(c.History), c.middle(), c.undecodable()...)
}

func (c Contract) middle() int { return len(c.History) / 2 }

// undecodable are a record of a known type with a broken value, and one of a type
// that nobody has heard of.
func (c Contract) undecodable() []record.Record {
	broken, unknown := c.History[c.middle()], c.History[c.middle()]
	broken.Value = []byte("{")
	unknown.Headers = []record.Header{{Key: record.HeaderType, Value: []byte(unknownType)}}
	return []record.Record{broken, unknown}
}

const unknownType = "unheard.of/1"

// isBookkeeping tells the fold's own lines of a dump from those of the projection.
func isBookkeeping(line string) bool {
	return line == "" || strings.HasPrefix(line, `"checkpoint\x00`) || strings.HasPrefix(line, `"parked\x00`)
}
