package session_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"hooklog/domain/session"
)

// model says of every token which rotation it came from, and nothing else: the
// tokens of the last rotation are current, and the one it was made with is spared.
type model struct {
	generation []int // of each token
	rotations  int
	rotated    int // the token of the last rotation
	at, now    time.Time
	ended      bool
}

func (m *model) rotate(old int, client string, at time.Time) session.Outcome {
	if at.After(m.now) {
		m.now = at
	}
	siblings := 0
	for _, g := range m.generation {
		if g == m.rotations {
			siblings++
		}
	}
	known := old < len(m.generation)
	switch {
	case m.ended:
		return session.Over
	case m.now.Sub(monday) >= life:
		return session.Expired
	case client != "hooklog":
		return session.Foreign
	case known && m.generation[old] == m.rotations:
		m.rotations++
		m.rotated, m.at = old, m.now
	case m.rotations > 0 && old == m.rotated && m.now.Sub(m.at) <= 30*time.Second:
		if siblings == 128 {
			return session.Crowded
		}
	default:
		m.ended = true
		return session.Reused
	}
	m.generation = append(m.generation, m.rotations)
	return session.Rotated
}

// history draws wishes about one family, whose writers mostly hold a recent token
// and whose clocks differ.
func history(rt *rapid.T, saw func(w session.Wish)) {
	m, state := &model{generation: []int{0}, now: monday}, newMemory()
	see := func(w session.Wish) session.Outcome {
		saw(w)
		return session.Fold(state, w).Outcome
	}
	see(open("o"))
	clock := time.Duration(0)
	for i := range rapid.IntRange(1, 40).Draw(rt, "wishes") {
		clock += rapid.SampledFrom([]time.Duration{0, time.Second, 20 * time.Second, time.Hour, life / 8}).Draw(rt, "pause")
		at := clock + rapid.SampledFrom([]time.Duration{0, 0, -10 * time.Second, 10 * time.Second}).Draw(rt, "skew")
		newest := len(m.generation) - 1
		old := rapid.SampledFrom([]int{newest, newest, newest, m.rotated, max(newest-1, 0), 0, 200}).Draw(rt, "token")
		client := rapid.SampledFrom([]string{"hooklog", "hooklog", "hooklog", "hooklog", "other"}).Draw(rt, "client")
		w := by(client, rotate(name(i), old, len(m.generation), at))
		w.Family = state.family()
		want := m.rotate(old, client, monday.Add(at))
		if got := see(w); got != want {
			rt.Fatalf("wish %d (token %d) came to %s, want %s", i, old, got, want)
		}
		for n := range m.generation {
			current := m.generation[n] == m.rotations
			spared := m.rotations > 0 && n == m.rotated && m.now.Sub(m.at) <= 30*time.Second
			alive := !m.ended && m.now.Sub(monday) < life && (current || spared)
			if got := state.family().Alive(hash(n), monday.Add(at)); got != alive {
				rt.Fatalf("after wish %d token %d is alive: %v, want %v", i, n, got, alive)
			}
		}
	}
}

func draw(rt *rapid.T) (log []session.Wish) {
	history(rt, func(w session.Wish) { log = append(log, w) })
	return log
}

func TestTheFoldDoesWhatTheModelSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) { draw(rt) })
}

func TestARestartAndAReplayChangeNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		log := draw(rt)
		whole, outcomes := folded(log...)
		want := whole.dump(t)
		cut := rapid.IntRange(0, len(log)).Draw(rt, "cut")
		first, _ := folded(log[:cut]...)
		again := restored(t, first.dump(t))
		for _, w := range log[cut:] {
			session.Fold(again, w)
		}
		if diff := cmp.Diff(want, again.dump(t)); diff != "" {
			rt.Fatalf("a restart after %d wishes changes the state:\n%s", cut, diff)
		}
		for i, w := range log {
			if got := session.Fold(whole, w).Outcome; got != outcomes[i] {
				rt.Fatalf("wish %d came to %s, and when repeated to %s", i, outcomes[i], got)
			}
		}
		if diff := cmp.Diff(want, whole.dump(t)); diff != "" {
			rt.Fatalf("the replay changed the state:\n%s", diff)
		}
	})
}

// Retention takes the oldest records first. As long as writers had seen what was
// before, the rest of the log is enough.
func TestALogWithoutItsBeginningGivesTheSameFamily(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		log := draw(rt)
		whole, outcomes := folded(log...)
		start := rapid.IntRange(0, len(log)-1).Draw(rt, "start")
		rest, restOutcomes := folded(log[start:]...)
		if diff := cmp.Diff(whole.family(), rest.family()); diff != "" {
			rt.Fatalf("the rest from wish %d on gives another family:\n%s", start, diff)
		}
		if diff := cmp.Diff(outcomes[start:], restOutcomes); diff != "" {
			rt.Fatalf("the rest from wish %d on comes to other outcomes:\n%s", start, diff)
		}
	})
}
