package auth

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/domain/refused"
)

const (
	// period is how long a failure counts.
	period = time.Minute
	// userFailures and networkFailures are how many a user gets from one network,
	// and a network in all, before the next attempt is refused unseen.
	userFailures    = 10
	networkFailures = 19
	// admitWait is how long an attempt waits for others that are under way, which
	// may wait themselves for their turn to be hashed.
	admitWait = 2 * hashWait
	// maxTallies bounds the memory; the oldest are forgotten first.
	maxTallies = 10_000
)

// ErrOutdated is the cause of an Unauthenticated whose credential was good once,
// and has expired or was overtaken. Who brings it does not guess.
var ErrOutdated = errors.New("the credential is outdated")

// Journal is the log to append to.
type Journal interface {
	// Append does not wait.
	Append(r *record.Record, done func(record.Position, error))
}

// GuardDeps are the guard's collaborators.
type GuardDeps struct {
	// Instance names this process on the log.
	Instance string
	Log      *slog.Logger
	Now      func() time.Time
	Journal  Journal
	// Partitions is how many partitions svc.access has.
	Partitions func() int32
	// Observe is told what came of each attempt; nil is nobody.
	Observe func(err error)
}

// Guard limits guessing. It counts failures by network, and by user and network
// together: never by user alone, or anybody could lock anybody out. All ways to
// log in share one guard.
type Guard struct {
	now     func() time.Time
	observe func(error)
	counts  *Counter

	mu      sync.Mutex
	tallies *simplelru.LRU[tallyKey, *tally]
}

// tallyKey is a network, or with the hash of a name a user from there: a name
// can be long.
type tallyKey struct {
	network netip.Prefix
	user    [sha256.Size]byte
}

// tally is the attempts of a network or of a user from there. One under way has
// its place in advance: it gives it back or fails, so that many at once get no
// further than as many in turn.
type tally struct {
	key      tallyKey
	limit    int
	failed   []time.Time // within the period, oldest first
	underWay int
	// settled is closed when an attempt ended.
	settled chan struct{}
}

// NewGuard makes a guard.
func NewGuard(deps GuardDeps) *Guard {
	tallies, err := simplelru.NewLRU[tallyKey, *tally](maxTallies, nil)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	if deps.Observe == nil {
		deps.Observe = func(error) {}
	}
	return &Guard{now: deps.Now, observe: deps.Observe, tallies: tallies, counts: NewCounter(CounterDeps{
		Instance: deps.Instance, Log: deps.Log, Now: deps.Now, Journal: deps.Journal,
		Encode: func(c refused.Counts) (record.Record, error) { return access.Failures(c).Encode(deps.Partitions()) },
	})}
}

// Close hands over the last counts of failed log-ins.
func (g *Guard) Close() { g.counts.Close() }

// Admit lets an attempt to log in begin, or refuses it unseen with TooMany. The
// user is the name that is claimed, empty where there is none. Settle takes what
// came of it and must be called.
func (g *Guard) Admit(ctx context.Context, from netip.Addr, user string) (settle func(error), err error) {
	network := refused.NetworkOf(from)
	waiting, cancel := context.WithTimeout(ctx, admitWait)
	defer cancel()
	for {
		places, settled, err := g.begin(network, user)
		if err == nil && settled == nil {
			return func(err error) { g.settle(network, places, err) }, nil
		}
		if err == nil {
			select {
			case <-settled:
				continue
			case <-waiting.Done():
				err = fault.New(fault.TooMany, "There are too many log-ins at once.").After(time.Second)
			}
		}
		g.counts.Count(network, fault.TooMany)
		g.observe(err)
		return nil, err
	}
}

// begin takes a place in every tally that counts, the network's first; where one
// is full it gives the channel to wait on instead. A tally is remembered from its
// first place on: who is refused can invent names without end, and would push the
// tallies of others out of the memory.
func (g *Guard) begin(network netip.Prefix, user string) (places []*tally, settled <-chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	places = append(places, g.tally(tallyKey{network: network}, networkFailures))
	if user != "" {
		places = append(places, g.tally(tallyKey{network, sha256.Sum256([]byte(user))}, userFailures))
	}
	now := g.now()
	for _, t := range places {
		if wait := t.held(now); wait > 0 {
			return nil, nil, fault.New(fault.TooMany, "There were too many failed log-ins.").After(wait)
		}
	}
	for _, t := range places {
		if len(t.failed)+t.underWay >= t.limit {
			return nil, places[0].settled, nil
		}
	}
	for _, t := range places {
		t.underWay++
		g.tallies.Add(t.key, t)
	}
	return places, nil, nil
}

// tally finds a tally, or makes one that is not remembered yet.
func (g *Guard) tally(key tallyKey, limit int) *tally {
	t, ok := g.tallies.Get(key)
	if !ok {
		t = &tally{key: key, limit: limit, settled: make(chan struct{})}
	}
	return t
}

// held is how long the next attempt must wait, because of those that failed.
func (t *tally) held(now time.Time) time.Duration {
	for len(t.failed) > 0 && now.Sub(t.failed[0]) >= period {
		t.failed = t.failed[1:]
	}
	if len(t.failed) < t.limit {
		return 0
	}
	return t.failed[0].Add(period).Sub(now)
}

func (g *Guard) settle(network netip.Prefix, places []*tally, err error) {
	g.observe(err)
	wrong := fault.Is(err, fault.Unauthenticated)
	if wrong {
		g.counts.Count(network, fault.Unauthenticated)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, t := range places {
		t.underWay--
		if wrong && !errors.Is(err, ErrOutdated) {
			t.failed = append(t.failed, g.now())
		}
		// Only failures are worth remembering.
		if current, ok := g.tallies.Peek(t.key); ok && current == t && t.underWay == 0 && len(t.failed) == 0 {
			g.tallies.Remove(t.key)
		}
	}
	close(places[0].settled)
	places[0].settled = make(chan struct{})
}
