package runner

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// shares holds each event key to its part of the runs. A key is known only while
// somebody of it runs or waits.
type shares struct {
	size int64
	mu   sync.Mutex
	keys map[string]*share
}

type share struct {
	*semaphore.Weighted
	users int
}

func newShares(size int) *shares { return &shares{size: int64(size), keys: make(map[string]*share)} }

// acquire waits for a place of the key, which release gives back.
func (s *shares) acquire(ctx context.Context, key string) (release func(), err error) {
	s.mu.Lock()
	of := s.keys[key]
	if of == nil {
		of = &share{Weighted: semaphore.NewWeighted(s.size)}
		s.keys[key] = of
	}
	of.users++
	s.mu.Unlock()
	leave := func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if of.users--; of.users == 0 {
			delete(s.keys, key)
		}
	}
	if err := of.Acquire(ctx, 1); err != nil {
		leave()
		return nil, err
	}
	return func() {
		of.Release(1)
		leave()
	}, nil
}
