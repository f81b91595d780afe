package httpapi

import (
	"net/netip"
	"sync"
	"time"

	"hooklog/domain/fault"
)

// maxUnidentified is how many bodies of one address are read at a time before
// their webhook is known.
const maxUnidentified = 4

// crowd knows from where unidentified bodies come now.
type crowd struct {
	mu        sync.Mutex
	byAddress map[netip.Addr]int
}

// enter refuses who has too many; whoever enters leaves again.
func (c *crowd) enter(address netip.Addr) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byAddress[address] == maxUnidentified {
		return fault.New(fault.TooMany, "Too many bodies without a token outside of them come from this address.").After(time.Second)
	}
	if c.byAddress == nil {
		c.byAddress = make(map[netip.Addr]int)
	}
	c.byAddress[address]++
	return nil
}

func (c *crowd) leave(address netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byAddress[address]--; c.byAddress[address] == 0 {
		delete(c.byAddress, address)
	}
}
