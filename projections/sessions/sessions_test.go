package sessions_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/record"
	"hooklog/domain/session"
	"hooklog/projections/projectiontest"
	"hooklog/projections/sessions"
)

func TestFamiliesAreFoundByTheHashOfTheirID(t *testing.T) {
	i := start(t)
	i.fold(open("o", 1), rotate("a", 1, 0, 1, time.Second))
	want := newborn(1)
	want.Current, want.Predecessor = []session.Hash{token(1, 1).Hash()}, token(1, 0).Hash()
	want.Rotated, want.Seen = monday.Add(time.Second), monday.Add(time.Second)
	if diff := cmp.Diff(want, i.family(1)); diff != "" {
		t.Errorf("family differs (-want +got):\n%s", diff)
	}
	if f, known, err := i.Family(token(2, 0).Family()); known || err != nil {
		t.Errorf("there is a family that nobody opened: %+v, %v", f, err)
	}
}

func TestWhoeverMadeAWishGetsItsOutcome(t *testing.T) {
	i := start(t)
	mine, stop := i.Await("a")
	defer stop()
	other, stopOther := i.Await("b")
	i.fold(open("o", 1), rotate("a", 1, 0, 1, time.Second))
	select {
	case got := <-mine:
		if got.Outcome != session.Rotated || !slices.Equal(got.Family.Current, i.family(1).Current) {
			t.Errorf("got %+v", got)
		}
	default:
		t.Fatal("the fold is over and there is no outcome")
	}
	if len(other) != 0 {
		t.Errorf("the waiter for another wish got %+v", <-other)
	}
	stopOther()
	i.fold(rotate("b", 1, 1, 2, 2*time.Second))
	if len(other) != 0 {
		t.Error("a waiter that stopped got an outcome")
	}
	stop() // once more, when all is over
	if n := i.Waiting(); n != 0 {
		t.Errorf("%d waiters are left", n)
	}
}

func TestARepeatIsAnsweredWithTheFirstOutcome(t *testing.T) {
	i := start(t)
	again := rotate("a", 1, 0, 1, time.Second)
	i.fold(open("o", 1), again, rotate("b", 1, 1, 2, 2*time.Second))
	before := i.family(1)
	outcomes, stop := i.Await("a")
	defer stop()
	i.fold(again) // by now an older token, which would end the family
	if got := <-outcomes; got.Outcome != session.Rotated {
		t.Errorf("outcome is %s", got.Outcome)
	}
	if diff := cmp.Diff(before, i.family(1)); diff != "" {
		t.Errorf("the repeat changed the family:\n%s", diff)
	}
}

func TestConcurrentCallersGetTheirOwnOutcomes(t *testing.T) {
	i := start(t)
	var callers sync.WaitGroup
	for n := range byte(50) {
		callers.Go(func() {
			w := open(fmt.Sprint("o", n), n)
			outcomes, stop := i.Await(w.ID)
			defer stop()
			i.log.Append(encode(w)...)
			if got := <-outcomes; got.Outcome != session.Opened || got.Family.ID != w.Family.ID {
				t.Errorf("wish %s came to %+v", w.ID, got)
			}
		})
	}
	callers.Wait()
	if n := i.Waiting(); n != 0 {
		t.Errorf("%d waiters are left", n)
	}
}

// Time passes between two rebuilds, and no row knows.
func TestTwoInstancesFoldOneLogIntoEqualRows(t *testing.T) {
	log := projectiontest.NewLog(record.TopicSession, 1)
	var dumps []string
	for range 2 {
		s := projectiontest.OpenStore(t)
		runner := projectiontest.Start(t, sessions.New(s), s, log)
		if len(dumps) == 0 { // one sees the records come, the other finds them
			log.Append(encode(open("o", 1), rotate("a", 1, 0, 1, time.Second), rotate("b", 1, 1, 2, life), open("p", 2))...)
		}
		if err := runner.Current(t.Context()); err != nil {
			t.Fatal(err)
		}
		dumps = append(dumps, projectiontest.Dump(t, s))
	}
	if diff := cmp.Diff(dumps[0], dumps[1]); diff != "" || len(dumps[0]) < 500 {
		t.Errorf("rows differ, or are next to none (-one +other):\n%s\n%s", diff, dumps[0])
	}
}
