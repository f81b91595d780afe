package results

// Watched is the number of calls that somebody watches.
func (r *Results) Watched() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.watchers)
}
