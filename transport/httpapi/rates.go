package httpapi

import (
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"hooklog/domain/fault"
)

// maxRates is of how many owners the rate is remembered. Only known webhooks and
// users that have logged in get here, so nobody can push others out.
const maxRates = 20_000

// rates hold each of many owners to so much a second. Nil is no limit.
type rates struct {
	perSecond rate.Limit
	burst     int

	mu      sync.Mutex
	byOwner *simplelru.LRU[string, *rate.Limiter]
}

// newRates makes the limit; 0 a second means none. The burst is what may come at
// once after a pause, and the most that can be taken in one.
func newRates(perSecond, burst int) *rates {
	if perSecond == 0 {
		return nil
	}
	byOwner, err := simplelru.NewLRU[string, *rate.Limiter](maxRates, nil)
	if err != nil {
		panic(err) // only for a size that is not positive
	}
	return &rates{perSecond: rate.Limit(perSecond), burst: burst, byOwner: byOwner}
}

// take takes n at once or not at all; the fault says when they are to be had.
func (r *rates) take(owner string, n int, now time.Time) error {
	if r == nil || n <= 0 {
		return nil
	}
	reserved := r.limiter(owner).ReserveN(now, n)
	wait := reserved.DelayFrom(now)
	if wait == 0 {
		return nil
	}
	reserved.CancelAt(now)
	return fault.New(fault.TooMany, "There were too many requests within a short time.").After(wait)
}

func (r *rates) limiter(owner string) *rate.Limiter {
	r.mu.Lock()
	defer r.mu.Unlock()
	limiter, ok := r.byOwner.Get(owner)
	if !ok {
		limiter = rate.NewLimiter(r.perSecond, r.burst)
		r.byOwner.Add(owner, limiter)
	}
	return limiter
}
