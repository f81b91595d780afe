package fold_test

import (
	"testing"

	"hooklog/projections/fold"
)

func woken(changed <-chan struct{}) bool {
	select {
	case <-changed:
		return true
	default:
		return false
	}
}

func TestWatchersAreToldOfTheNameThatTheyWatch(t *testing.T) {
	var w fold.Watchers
	w.Wake([]string{"a"}) // nobody watches
	first, stopFirst := w.Watch("a")
	second, stopSecond := w.Watch("a")
	other, stopOther := w.Watch("b")
	if w.Wake([]string{"c", "a", "a"}); !woken(first) || !woken(second) || woken(other) {
		t.Errorf("woken are %v, %v and another %v", woken(first), woken(second), woken(other))
	}
	next, stopNext := w.Watch("a")
	stopFirst() // of a watch that is over: the next one goes on
	stopSecond()
	if w.Wake([]string{"a"}); !woken(next) {
		t.Error("who watched again was not told")
	}
	stopNext()
	stopOther()
	if w.Watched() != 0 {
		t.Errorf("%d names are watched by nobody", w.Watched())
	}
}
