package httpapi

import (
	"errors"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"hooklog/domain/fault"
)

// budget is how many bytes of calls may be in memory: of bodies as they arrive,
// and of messages until the log has let go of them. What does not fit is refused
// at once: whoever waited would only take more.
type budget struct {
	total account
	// unidentified is the part for bodies whose webhook is not known yet.
	unidentified account
	webhooks     [64]accounts
	seed         maphash.Seed
}

const (
	// A webhook gets this part of the budget at most, so that a flood of one
	// leaves room for the others.
	webhookPart = 4
	// All bodies together that may turn out to be anybody's get this part.
	unidentifiedPart = 8
)

func newBudget(size int64) *budget {
	return &budget{
		total:        account{limit: size},
		unidentified: account{limit: size / unidentifiedPart},
		seed:         maphash.MakeSeed(),
	}
}

// account counts the bytes of one owner.
type account struct {
	limit int64
	taken atomic.Int64
	// users is how many holds there are; guarded by the mutex of accounts.
	users int
}

func (a *account) add(n int64) bool {
	if a.taken.Add(n) <= a.limit || n <= 0 {
		return true
	}
	a.taken.Add(-n)
	return false
}

// maxIdle is how many accounts without a call are kept, of each mutex, to be
// used again.
const maxIdle = 128

// accounts are those of some webhooks.
type accounts struct {
	mu    sync.Mutex
	byKey map[string]*account
}

func (b *budget) accountsOf(eventKey string) *accounts {
	return &b.webhooks[maphash.String(b.seed, eventKey)%uint64(len(b.webhooks))]
}

func (b *budget) open(eventKey string) *account {
	all := b.accountsOf(eventKey)
	all.mu.Lock()
	defer all.mu.Unlock()
	a := all.byKey[eventKey]
	if a == nil {
		if all.byKey == nil {
			all.byKey = make(map[string]*account)
		}
		a = &account{limit: b.total.limit / webhookPart}
		all.byKey[eventKey] = a
	}
	a.users++
	return a
}

func (b *budget) close(eventKey string, a *account) {
	all := b.accountsOf(eventKey)
	all.mu.Lock()
	defer all.mu.Unlock()
	if a.users--; a.users == 0 && len(all.byKey) > maxIdle {
		delete(all.byKey, eventKey)
	}
}

// claim is what one call has taken of the budget. The handler and each append of
// the call share it, because a record may stay in memory long after its caller
// was answered; the last of them gives it back. Only the handler changes its
// size, before the first append.
type claim struct {
	budget   *budget
	account  *account
	eventKey string // empty while unidentified
	size     int64
	sharers  atomic.Int32
	giveBack func() // release, made once
}

// claim begins with nothing taken, for a webhook that is not known yet.
func (b *budget) claim() *claim {
	c := &claim{budget: b, account: &b.unidentified}
	c.sharers.Store(1)
	c.giveBack = c.release
	return c
}

// identify puts on the webhook's account what was taken so far.
func (c *claim) identify(eventKey string) error {
	webhook := c.budget.open(eventKey)
	if !webhook.add(c.size) {
		c.budget.close(eventKey, webhook)
		return overloaded()
	}
	c.account.add(-c.size)
	c.account, c.eventKey = webhook, eventKey
	return nil
}

// resize takes or gives back what makes the claim that large.
func (c *claim) resize(size int64) error {
	more := size - c.size
	if !c.account.add(more) {
		return overloaded()
	}
	if !c.budget.total.add(more) {
		c.account.add(-more)
		return overloaded()
	}
	c.size = size
	return nil
}

// share gives the release of one sharer more, to be called once.
func (c *claim) share() (release func()) {
	c.sharers.Add(1)
	return c.giveBack
}

func (c *claim) release() {
	if c.sharers.Add(-1) > 0 {
		return
	}
	c.account.add(-c.size)
	c.budget.total.add(-c.size)
	if c.eventKey != "" {
		c.budget.close(c.eventKey, c.account)
	}
}

var errSpent = errors.New("the budget of calls is spent")

func overloaded() error {
	return fault.New(fault.Unavailable, "Too many calls are on their way.").Because(errSpent).After(time.Second)
}
