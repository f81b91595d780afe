package embedded

// LimitTopics sets how many event topics the broker makes.
func (b *Broker) LimitTopics(n int) { b.topicLimit = n }
