package runner

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// shares holds each event key to its part of the runs and of their memory. A key is
// known only while somebody of it runs or waits.
type shares struct {
	size int
	mu   sync.Mutex
	keys map[string]*share
}

type share struct {
	places, bytes *semaphore.Weighted
	users         int
}

func newShares(size int) *shares { return &shares{size: size, keys: make(map[string]*share)} }

// acquire waits for a place of the key and for so many bytes, which release gives
// back.
func (s *shares) acquire(ctx context.Context, key string, size int64) (release func(), err error) {
	of := s.enter(key)
	if err := of.places.Acquire(ctx, 1); err != nil {
		s.leave(key, of)
		return nil, err
	}
	if err := of.bytes.Acquire(ctx, size); err != nil {
		of.places.Release(1)
		s.leave(key, of)
		return nil, err
	}
	return func() {
		of.bytes.Release(size)
		of.places.Release(1)
		s.leave(key, of)
	}, nil
}

func (s *shares) enter(key string) *share {
	s.mu.Lock()
	defer s.mu.Unlock()
	of := s.keys[key]
	if of == nil {
		of = &share{places: semaphore.NewWeighted(int64(s.size)), bytes: semaphore.NewWeighted(keyBytes)}
		s.keys[key] = of
	}
	of.users++
	return of
}

func (s *shares) leave(key string, of *share) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if of.users--; of.users == 0 {
		delete(s.keys, key)
	}
}
