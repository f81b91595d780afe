package sessions

// Waiting is the number of wishes that somebody waits for.
func (s *Sessions) Waiting() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.waiters)
}
