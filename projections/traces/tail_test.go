package traces_test

import (
	"slices"
	"strings"
	"testing"

	"hooklog/domain/call"
	"hooklog/domain/fault"
)

// taken takes all calls behind a place, up to the limit.
func (i *instance) taken(key, after string, limit int) (found []call.Found, next string) {
	i.t.Helper()
	next, err := i.Tail(key, after, limit, func(f call.Found) bool {
		found = append(found, f)
		return true
	})
	if err != nil {
		i.t.Fatal(err)
	}
	return found, next
}

// tail reads on until nothing is left, and gives the numbers of the calls and the
// place behind them.
func (i *instance) tail(key, after string, limit int) (all []string, next string) {
	i.t.Helper()
	for {
		found, next := i.taken(key, after, limit)
		if len(found) > limit {
			i.t.Fatalf("%d calls of at most %d", len(found), limit)
		}
		if len(found) == 0 && next == after {
			return all, next
		}
		all, after = append(all, strings.Fields(numbers(found))...), next
	}
}

func TestTheCallsOfAKeyAreReadOnceEach(t *testing.T) {
	for _, limit := range []int{1, 2, 7, 1000} {
		i := start(t)
		var want []string
		// The last of a day came before midnight and was written behind the first of
		// the next one.
		for d := range 3 {
			for _, n := range []int{1, 2, 3, 4, 5, 6, perDay, perDay + 1, perDay - 1} {
				n += 2 * perDay * d
				i.fold(accepted(n), encoded(calling(n+perDay/2, "webhook.other")))
				want = append(want, numbers([]call.Found{{Accepted: calling(n, "")}}))
			}
		}
		got, end := i.tail("webhook.a", "", limit)
		slices.Sort(want)
		if slices.Sort(got); !slices.Equal(got, want) {
			t.Errorf("%d at a time: read %v, want %v", limit, got, want)
		}
		i.fold(accepted(20*perDay), accepted(4*perDay+7), encoded(calling(1, "webhook.other")))
		more, _ := i.tail("webhook.a", end, limit)
		if slices.Sort(more); !slices.Equal(more, []string{"28800", "5767"}) {
			t.Errorf("%d at a time: then %v", limit, more)
		}
	}
}

func TestThePartitionsAreReadInTheOrderOfTheLog(t *testing.T) {
	i := start(t)
	for n := range 60 {
		i.fold(accepted(n))
	}
	found, _ := i.taken("webhook.a", "", 40)
	if len(found) != 40 {
		t.Fatalf("%d calls", len(found))
	}
	last := map[int32]int64{0: -1, 1: -1, 2: -1}
	for n, f := range found {
		if f.Position.Offset != last[f.Position.Partition]+1 {
			t.Errorf("%s comes behind offset %d", f.Position, last[f.Position.Partition])
		}
		last[f.Position.Partition] = f.Position.Offset
		if f.Event.Offset != int64(n) {
			t.Errorf("call %d is the %d-th: a partition waits for the others", f.Event.Offset, n)
		}
	}
}

func TestACallThatWasNotTakenComesAgain(t *testing.T) {
	i := start(t)
	for n := range 5 {
		i.fold(accepted(n))
	}
	taken := 0
	next, err := i.Tail("webhook.a", "", 10, func(call.Found) bool {
		taken++
		return taken < 3
	})
	if err != nil || taken != 3 {
		t.Fatalf("%d were given, %v", taken, err)
	}
	if got, _ := i.tail("webhook.a", next, 10); !slices.Equal(got, []string{"2", "3", "4"}) {
		t.Errorf("then %v", got)
	}
}

func TestTheEndOfAKeyIsBehindAllItsCalls(t *testing.T) {
	i := start(t)
	empty, err := i.End("webhook.a")
	if err != nil || empty == "" {
		t.Fatalf("the end of nothing is %q, %v", empty, err)
	}
	for n := range 20 {
		i.fold(accepted(n * perDay / 4))
	}
	end, err := i.End("webhook.a")
	if err != nil {
		t.Fatal(err)
	}
	i.fold(accepted(5 * perDay))
	if got, _ := i.tail("webhook.a", end, 10); !slices.Equal(got, []string{"7200"}) {
		t.Errorf("behind the end come %v", got)
	}
	if got, _ := i.tail("webhook.a", empty, 10); len(got) != 21 {
		t.Errorf("behind the end of nothing come %v", got)
	}
}

func TestAClockThatWasWrongLosesNoCall(t *testing.T) {
	const wrong = 90 * perDay // the clock of an instance was ahead for one call
	for _, limit := range []int{1, 2, 10} {
		i := start(t)
		early, err := i.End("webhook.a")
		if err != nil {
			t.Fatal(err)
		}
		i.fold(accepted(1), accepted(2), accepted(wrong))
		end, err := i.End("webhook.a")
		if err != nil {
			t.Fatal(err)
		}
		for n := 3; n < 12; n++ {
			i.fold(accepted(n))
		}
		if got, _ := i.tail("webhook.a", end, limit); len(got) != 9 {
			t.Errorf("%d at a time: behind the end came %v", limit, got)
		}
		if got, _ := i.tail("webhook.a", early, limit); len(got) != 12 {
			t.Errorf("%d at a time: in all came %v", limit, got)
		}
	}
}

func TestAPlaceIsGoodAfterARestart(t *testing.T) {
	i := start(t)
	i.fold(accepted(1), accepted(perDay))
	_, end := i.tail("webhook.a", "", 10)
	i.fold(accepted(2 * perDay))
	i.Traces = open(t, i.store, 0)
	if got, _ := i.tail("webhook.a", end, 10); !slices.Equal(got, []string{"2880"}) {
		t.Errorf("read on with %v", got)
	}
}

func TestAPlaceThatNeverWasIsRefused(t *testing.T) {
	i := start(t)
	for _, place := range []string{"x", "\x02\x80", "\x02\x00", "\x02\x00\x01\x01", "\x01\x00\x01"} {
		if _, err := i.Tail("webhook.a", place, 10, func(call.Found) bool { return true }); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "cursor") {
			t.Errorf("%q: %v", place, err)
		}
	}
}

func TestAWatchOfAKeyIsWokenByItsCallsOnly(t *testing.T) {
	i := start(t)
	changed, stop := i.Watch("webhook.a")
	defer stop()
	i.fold(encoded(calling(1, "webhook.b")), completed(1, "a@1"))
	if woken(changed) {
		t.Error("woken by others")
	}
	i.fold(accepted(2))
	<-changed // it is told right behind the commit
	if found, _ := i.taken("webhook.a", "", 1); len(found) != 1 {
		t.Error("told before the call is found")
	}
}

func woken(changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	default:
		return false
	}
}
