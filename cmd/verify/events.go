package verify

import (
	"context"
	"encoding/hex"
	"strings"
	"sync"

	"hooklog/domain/call"
	"hooklog/domain/record"
)

// claims are the digests that accepted records name of the events of a partition,
// by offset; zero means that none does. They lie in pages, so that nobody makes
// room for a log that only claims to be long.
type claims struct {
	mu    sync.Mutex
	pages map[int64]*page
}

const pageSize = 64

type page [pageSize]record.Digest

// at gives the place of an offset's digest, or nil where none is near.
func (c *claims) at(offset int64) *record.Digest {
	if p := c.pages[offset/pageSize]; p != nil {
		return &p[offset%pageSize]
	}
	return nil
}

// accepted notes what an accepted record says of its event, or that the event
// cannot be there. A record that cannot be decoded was never taken for one.
func (r *run) accepted(from *record.Record) {
	decoded, err := call.Decode(from)
	if err != nil {
		return
	}
	a := decoded.(call.Accepted)
	at := record.Position{Topic: a.Event.Topic, Partition: a.Event.Partition, Offset: a.Event.Offset}
	bounds := r.bounds[partitionOf(at)]
	switch {
	case !strings.HasPrefix(at.Topic, record.EventTopicPrefix) || at.Offset < 0:
		r.differs(differenceAt(from.Position, "it names no event"))
	case at.Offset < bounds.Start:
		retention := r.opts.Retention(at.Topic)
		if retention <= 0 || early(r.opts.Now.Sub(a.Received), retention) {
			r.differs(differenceAt(at, "the event is gone before its retention"))
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.report.Events.Expired++
	case at.Offset >= bounds.End:
		r.differs(differenceAt(at, "the event is missing"))
	default:
		r.claim(at, a.Event.SHA256)
	}
}

func (r *run) claim(at record.Position, digest string) {
	var d record.Digest
	if raw, err := hex.DecodeString(digest); err != nil || copy(d[:], raw) != len(raw) || d == (record.Digest{}) {
		r.differs(differenceAt(at, "the event was accepted without a digest"))
		return
	}
	r.mu.Lock()
	c := r.claims[partitionOf(at)]
	if c == nil {
		c = &claims{pages: make(map[int64]*page)}
		r.claims[partitionOf(at)] = c
	}
	r.mu.Unlock()
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.at(at.Offset)
	if known == nil {
		c.pages[at.Offset/pageSize] = new(page)
		known = c.at(at.Offset)
	}
	if *known != (record.Digest{}) && *known != d {
		r.differs(differenceAt(at, "two accepted records say different things of this event"))
	}
	*known = d
}

// checkEvents reads event partitions. Nobody writes claims any more.
func (r *run) checkEvents(ctx context.Context, parts []partition) error {
	var seen Events
	_, err := r.read(ctx, parts, func(records []record.Record) error {
		c := r.claims[partitionOf(records[0].Position)]
		if c == nil {
			c = new(claims)
		}
		for i := range records {
			one := &records[i]
			claimed := c.at(one.Offset)
			switch {
			case claimed == nil || *claimed == record.Digest{}:
				seen.Unacknowledged++
			case *claimed == record.ContentDigest(one.Headers, one.Value):
				seen.Checked++
			default:
				r.differs(differenceAt(one.Position, "it is not the event that was accepted"))
			}
		}
		return nil
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Events.Checked += seen.Checked
	r.report.Events.Unacknowledged += seen.Unacknowledged
	return err
}
