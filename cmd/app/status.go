package app

import (
	"cmp"
	"errors"
	"sync"
)

// status is what the instance says of itself. An instance that drains is not
// ready any more, but still serves what reaches it.
type status struct {
	mu sync.Mutex
	// unable is why nothing can be answered yet; nil once the instance serves.
	unable error
	// broken is why nothing can be answered any more.
	broken   error
	draining bool
}

var (
	errStarting = errors.New("the service is starting")
	errDraining = errors.New("the service is shutting down")
)

func newStatus() *status { return &status{unable: errStarting} }

func (s *status) set(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *status) waiting(err error) { s.set(func() { s.unable = err }) }
func (s *status) serving()          { s.set(func() { s.unable = nil }) }
func (s *status) breakDown(err error) {
	s.set(func() { s.broken = cmp.Or(s.broken, err) })
}
func (s *status) drain() { s.set(func() { s.draining = true }) }

// able is nil when calls can be answered.
func (s *status) able() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return cmp.Or(s.broken, s.unable)
}

// ready is nil when calls should be sent here.
func (s *status) ready() error {
	if err := s.able(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.draining {
		return errDraining
	}
	return nil
}
