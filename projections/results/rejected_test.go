package results_test

import (
	"testing"

	"hooklog/domain/call"
)

func TestCountsOfRefusedCallsAreNoneOfItsRecords(t *testing.T) {
	i := start(t)
	counts := call.Rejected{Instance: id(7), From: monday, To: monday, Rest: map[string]int64{"not-found": 1}}
	i.fold(accepted(1), must(counts.Encode(0)), accepted(2))
	i.call(id(1))
	i.call(id(2))
	if n := i.runner.Parked(); n != 0 {
		t.Errorf("%d records are parked", n)
	}
}
