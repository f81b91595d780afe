package embedded

import "time"

const (
	// meterEvery is how often the log is measured; where that takes long, it is
	// done so much more rarely that it costs no more than this share of time.
	meterEvery = 10 * time.Second
	meterShare = 50
)

// meter measures the log until stop is closed, and lists its new segments. It
// rests while nothing is admitted.
func (b *Broker) meter(stop <-chan struct{}) {
	timer := time.NewTimer(meterEvery)
	defer timer.Stop()
	for {
		select {
		case <-stop:
			return
		case <-timer.C:
		}
		started := time.Now()
		if b.guard.admitted.Load() == 0 {
			timer.Reset(meterEvery)
			continue
		}
		if err := b.guard.remeasure(b.topics.Measure); err != nil {
			b.log.Warn("The log could not be measured", "error", err)
		}
		timer.Reset(max(meterEvery, meterShare*time.Since(started)))
	}
}
