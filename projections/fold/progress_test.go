package fold_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgressOfAFoldThatIsCurrent(t *testing.T) {
	_, log, r := start(t, 2)
	if err := r.Wait(t.Context(), log.Append(word(0, "a", "1"), word(0, "b", "2"))); err != nil {
		t.Fatal(err)
	}
	log.Append(word(1, "c", "3")) // on its way
	p := r.Progress(t.Context())
	if p.Folded != 3 || p.Lag != 0 || p.Parked != 0 || p.Name != r.Name() {
		t.Errorf("progress %+v", p)
	}
	if later := r.Progress(t.Context()); later.Age > p.Age+time.Minute {
		t.Errorf("the age grows though the fold is current: %+v, then %+v", p, later)
	}
}

func TestProgressOfAFoldThatStands(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("no broker")
		var fails error
		l, r := watched(func(context.Context) error { return fails }) // does not run
		if p := r.Progress(t.Context()); p.Lag != 0 || p.Age != 0 {
			t.Errorf("the fold of an empty log has %+v", p)
		}
		l.Append(word(0, "a", "1"), word(0, "b", "2"))
		time.Sleep(time.Minute)
		if p := r.Progress(t.Context()); p.Lag != 2 || p.Age < time.Minute {
			t.Errorf("a fold that stands has %+v", p)
		}
		fails = away
		l.Append(word(1, "c", "3"))
		time.Sleep(time.Minute)
		if p := r.Progress(t.Context()); p.Lag != 2 || p.Age < 2*time.Minute {
			t.Errorf("without a log it has %+v", p)
		}
	})
}
