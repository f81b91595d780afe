package output

import (
	"time"

	"github.com/schollz/progressbar/v3"
)

// tick is how often the sign of life moves.
const tick = 200 * time.Millisecond

// Progress shows that something goes on, until it is stopped: on a terminal
// only, beside the data.
func (p Printer) Progress(what string) (stop func()) {
	if !IsTerminal(p.Err) {
		return func() {}
	}
	bar := progressbar.NewOptions(-1,
		progressbar.OptionSetWriter(p.Err),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSpinnerType(14),
		progressbar.OptionSetElapsedTime(true),
		progressbar.OptionClearOnFinish(),
	)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		ticker := time.NewTicker(tick)
		defer ticker.Stop()
		for {
			select {
			case <-done:
				_ = bar.Finish()
				return
			case <-ticker.C:
				_ = bar.Add(1)
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}
