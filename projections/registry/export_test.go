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

// Waiting is the number of commands that somebody waits for.
func (r *Registry) Waiting() int {
	r.waitersMu.Lock()
	defer r.waitersMu.Unlock()
	return len(r.waiters)
}
