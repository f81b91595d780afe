package record

// Bounds are the offsets that a partition holds: from Start up to, and without,
// End.
type Bounds struct {
	Start int64
	End   int64
}

// Topic is what a topic is at one moment: which one it is, so that another of
// the same name is noticed, and what its partitions hold.
type Topic struct {
	ClusterID  string
	TopicID    string
	Partitions []Bounds
}
