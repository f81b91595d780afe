package registry

import "hooklog/domain/webhook"

// OpenGates opens the gates of webhooks as their fold would, but without rows.
func (r *Registry) OpenGates(webhooks []webhook.Webhook) {
	changes := make([]gateChange, len(webhooks))
	for i, w := range webhooks {
		changes[i] = changeTo(w)
	}
	r.gates.publish(changes)
}

// GateMemory is the number of slots and of bytes of names.
func (r *Registry) GateMemory() (slots, names int) {
	for i := range r.gates.shards {
		s := &r.gates.shards[i]
		slots += len(s.slots)
		names += s.names.Len()
	}
	return slots, names
}

// HoldWaiters keeps everybody from being woken until release is called.
func (r *Registry) HoldWaiters() (release func()) {
	r.waitersMu.Lock()
	return r.waitersMu.Unlock
}

// Waiting is the number of commands that somebody waits for.
func (r *Registry) Waiting() int {
	r.waitersMu.Lock()
	defer r.waitersMu.Unlock()
	return len(r.waiters)
}
