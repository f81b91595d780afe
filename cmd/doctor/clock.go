package doctor

import (
	"context"
	"time"

	"hooklog/domain/record"
)

const (
	// maxSkew is what tokens and the times on the log bear.
	maxSkew = 3 * time.Second
	// maxStep is more than a clock that is steered gains in the time of a check.
	maxStep = time.Second

	setClock = "let NTP set the clock of this machine, such as by chrony or systemd-timesyncd, and look with: timedatectl"
)

// built is before every release: a clock that stands earlier was never set.
var built = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func (e *examination) clock(ctx context.Context, n *notes) {
	began, wall := time.Now(), e.deps.Now()
	if wall.Before(built) {
		n.fail(setClock, "it is %s on this machine", wall.UTC().Format(time.RFC3339))
		return
	}
	compared := e.compareClocks(ctx, n)
	if newest, err := e.newestCommand(ctx); err == nil && !newest.IsZero() {
		compared = true
		if ahead := newest.Sub(e.deps.Now()); ahead > maxSkew {
			n.warn(setClock, "the newest command on the log is from %s ahead: this clock is slow, or that of another instance fast", ahead.Round(time.Second))
		}
	}
	if step := stepped(began, time.Now()); step.Abs() > maxStep {
		n.warn(setClock, "it jumped by %s while it was looked at", step)
	}
	switch {
	case len(*n.list) > 0:
	case compared:
		n.ok("it is %s, at most %s from the others", wall.UTC().Format(time.RFC3339), maxSkew)
	default:
		n.ok("it is %s; there is nobody to compare it with", wall.UTC().Format(time.RFC3339))
	}
}

// compareClocks asks those who tell their time, and reports whether any did.
func (e *examination) compareClocks(ctx context.Context, n *notes) (compared bool) {
	for _, place := range e.otherClocks() {
		before := e.deps.Now()
		answer, err := ask(ctx, careful, place)
		if err != nil || answer.date.IsZero() {
			continue // whether it answers is for other checks
		}
		compared = true
		halfway := before.Add(e.deps.Now().Sub(before) / 2)
		// The whole seconds of the answer were cut off, not rounded.
		if skew := answer.date.Add(time.Second / 2).Sub(halfway); skew.Abs() > maxSkew {
			n.warn(setClock, "it is %s from that of %s; tokens may count as expired, or as not yet good", skew.Round(time.Second), hostOf(place))
		}
	}
	return compared
}

// otherClocks are places that tell the time, on other machines as far as is known.
func (e *examination) otherClocks() (places []string) {
	if e.cfg.External() {
		places = append(places, discoveryOf(e.cfg.IssuerURL()))
	}
	if base := e.cfg.BaseURL; base != "" && !loopback(hostOf(base)) {
		places = append(places, base+"/healthz")
	}
	return places
}

// newestCommand is when the log last got a command, by the clock of the instance
// that wrote it. An embedded log has no other instance.
func (e *examination) newestCommand(ctx context.Context) (time.Time, error) {
	if e.cfg.Embedded() {
		return time.Time{}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	log, err := e.openLog(ctx)
	if err != nil {
		return time.Time{}, err
	}
	defer log.Close()
	return log.NewestTime(ctx, record.TopicCommand)
}

// stepped is how far the clock was set in between, beside the time that passed.
func stepped(began, ended time.Time) time.Duration {
	return ended.Round(0).Sub(began.Round(0)) - ended.Sub(began)
}
