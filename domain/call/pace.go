package call

import "time"

// The pace of polls that are not held, while a result is not ready.
const (
	MinPollWait = 5 * time.Second
	MaxPollWait = 60 * time.Second
)

// Pace is how one result has been polled so far. The zero value has not been.
type Pace struct {
	wait time.Duration
	next time.Time
}

// Poll answers whether a poll at that time is in pace, and the pace after it. An
// early poll doubles the wait, which counts from that poll; a patient one halves
// it again.
func (p Pace) Poll(now time.Time) (Pace, bool) {
	switch {
	case p.wait == 0:
		return paced(now, MinPollWait), true
	case now.Before(p.next):
		return paced(now, min(2*p.wait, MaxPollWait)), false
	default:
		return paced(now, max(p.wait/2, MinPollWait)), true
	}
}

func paced(now time.Time, wait time.Duration) Pace {
	return Pace{wait: wait, next: now.Add(wait)}
}

// Wait is how long to wait before the next poll.
func (p Pace) Wait() time.Duration { return p.wait }
