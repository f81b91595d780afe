package traces_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"hooklog/domain/call"
	"hooklog/projections/projectiontest"
)

func TestCallsAreKeptForWholeDays(t *testing.T) {
	const retention = 36 * time.Hour // so two days, and what there is of the newest
	i := start(t, retention)
	for _, n := range []int{1, perDay - 1, perDay, 2*perDay + 5} {
		i.fold(accepted(n))
	}
	if got := i.search(call.Search{Last6: "abc123"}, 10); got != "2885 1440 1439 1" {
		t.Fatalf("found %s: none is older than the retention", got)
	}
	i.fold(accepted(3 * perDay))
	if got := i.search(call.Search{Last6: "abc123"}, 10); got != "4320 2885 1440" {
		t.Errorf("found %s: the first day must be gone, and no other", got)
	}
	for _, n := range []int{1, perDay - 1} {
		_, byID, _ := i.Find(id(n))
		_, _, byTrace, _ := i.EventOfTrace(trace(n), anybody)
		if byID || byTrace {
			t.Errorf("call %d is found by its id %v, by its trace id %v", n, byID, byTrace)
		}
	}
	if got, _ := i.tail("webhook.a", "", 10); strings.Join(got, " ") != "1440 2885 4320" {
		t.Errorf("tailed %v", got)
	}
	t.Run("also with all their rows", func(t *testing.T) {
		rows := projectiontest.Dump(t, i.store)
		if strings.Contains(rows, trace(1)) || !strings.Contains(rows, trace(perDay)) {
			t.Errorf("rows of a day that is gone:\n%s", rows)
		}
	})
	t.Run("and a late one is not taken in again", func(t *testing.T) {
		i.fold(accepted(2))
		if _, found, err := i.Find(id(2)); found || err != nil {
			t.Errorf("found %v, %v", found, err)
		}
		if rows := projectiontest.Dump(t, i.store); strings.Contains(rows, trace(2)) {
			t.Errorf("its rows are there:\n%s", rows)
		}
	})
}

func TestARetentionOfNoneIsForEver(t *testing.T) {
	i := start(t)
	i.fold(accepted(1), accepted(4000*perDay))
	if got := i.search(call.Search{Last6: "abc123"}, 10); got != strconv.Itoa(4000*perDay)+" 1" {
		t.Errorf("found %s", got)
	}
}

func TestACallFromTheFutureDropsNothing(t *testing.T) {
	i := start(t, 48*time.Hour)
	ahead := calling(2, "webhook.a")
	ahead.Received = today.Add(400 * 24 * time.Hour)
	i.fold(accepted(1), encoded(ahead), accepted(3))
	if got := i.search(call.Search{Last6: "abc123"}, 10); got != "2 3 1" {
		t.Errorf("found %s", got)
	}
}
