package traces_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"hooklog/domain/call"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/projections/traces"
)

// search gives all pages of a search as the numbers of the calls.
func (i *instance) search(s call.Search, limit int) string {
	i.t.Helper()
	if s.Readable == nil {
		s.Readable = anybody
	}
	var all []string
	for after := ""; ; {
		page, next, err := i.Search(s, after, limit)
		if err != nil {
			i.t.Fatal(err)
		}
		if len(page) > limit {
			i.t.Fatalf("%d calls on a page of %d", len(page), limit)
		}
		all = append(all, numbers(page))
		if next == "" {
			return strings.Join(strings.Fields(strings.Join(all, " ")), " ")
		}
		after = next
	}
}

// numbers tells the calls by their events, which are numbered like them.
func numbers(calls []call.Found) string {
	var all []string
	for _, c := range calls {
		all = append(all, fmt.Sprint(c.Event.Offset))
	}
	return strings.Join(all, " ")
}

func TestCallsAreFoundTheNewestFirst(t *testing.T) {
	i := start(t)
	for _, n := range []int{1, 3, 2, perDay, perDay + 1, 3 * perDay, 3*perDay - 1} {
		i.fold(accepted(n))
	}
	i.fold(encoded(calling(5, "webhook.b")))
	foreign := calling(6, "webhook.a")
	foreign.Last6, foreign.TraceID = "fff999", "fff999:0000000006"
	i.fold(encoded(foreign))
	for n := 7; n < 9; n++ {
		follows := calling(n, "stock")
		follows.TraceID = trace(1)
		i.fold(encoded(follows))
	}
	tests := []struct {
		name   string
		search call.Search
		want   string
	}{
		{"of a webhook", call.Search{Last6: "abc123"}, "4320 4319 1441 1440 8 7 5 3 2 1"},
		{"of another", call.Search{Last6: "fff999"}, "6"},
		{"of none", call.Search{Last6: "abc12"}, ""},
		{"of a key", call.Search{Last6: "abc123", EventKey: "webhook.b"}, "5"},
		{"from a time on", call.Search{Last6: "abc123", From: received(1440)}, "4320 4319 1441 1440"},
		{"from a moment behind a call", call.Search{Last6: "abc123", From: received(1440).Add(1)}, "4320 4319 1441"},
		{"before a time", call.Search{Last6: "abc123", To: received(1440)}, "8 7 5 3 2 1"},
		{"before a moment behind a call", call.Search{Last6: "abc123", To: received(1440).Add(1)}, "1440 8 7 5 3 2 1"},
		{"between two times", call.Search{Last6: "abc123", From: received(3), To: received(1441)}, "1440 8 7 5 3"},
		{"between the same times", call.Search{Last6: "abc123", From: received(3), To: received(3)}, ""},
		{"with a trace id", call.Search{TraceID: trace(2)}, "2"},
		{"with the trace id of all that a call led to", call.Search{TraceID: trace(1)}, "8 7 1"},
		{"with such a trace id, of a key", call.Search{TraceID: trace(1), EventKey: "webhook.a"}, "1"},
		{"with a part of a trace id", call.Search{TraceID: "abc123:"}, ""},
		{"that are readable", call.Search{Last6: "abc123", Readable: func(key string) bool { return key == "stock" }}, "8 7"},
	}
	for _, tt := range tests {
		for _, limit := range []int{1, 2, 3, 100} {
			t.Run(fmt.Sprintf("%s, %d on a page", tt.name, limit), func(t *testing.T) {
				if got := i.search(tt.search, limit); got != tt.want {
					t.Errorf("found %s, want %s", got, tt.want)
				}
			})
		}
	}
	t.Run("a full page that is the last says so", func(t *testing.T) {
		if page, next, err := i.Search(call.Search{TraceID: trace(1), Readable: anybody}, "", 3); len(page) != 3 || next != "" || err != nil {
			t.Errorf("%d calls, next %q, %v", len(page), next, err)
		}
	})
	t.Run("a cursor that never was is refused", func(t *testing.T) {
		if _, _, err := i.Search(call.Search{Last6: "abc123", Readable: anybody}, "x", 2); !fault.Is(err, fault.Invalid) || !strings.Contains(err.Error(), "cursor") {
			t.Errorf("got %v", err)
		}
	})
}

func TestAPageGoesOnWhereTheOneBeforeEndedWhileCallsComeIn(t *testing.T) {
	i := start(t)
	for n := range 6 {
		i.fold(accepted(n))
	}
	s := call.Search{Last6: "abc123", Readable: anybody}
	first, next, err := i.Search(s, "", 3)
	if err != nil {
		t.Fatal(err)
	}
	i.fold(accepted(6), accepted(perDay), accepted(2*perDay))
	second, next, err := i.Search(s, next, 3)
	if got := numbers(first) + ", " + numbers(second); err != nil || got != "5 4 3, 2 1 0" || next != "" {
		t.Errorf("%s, next %q, %v", got, next, err)
	}
}

func TestAPageLooksAtABoundedNumberOfRows(t *testing.T) {
	i := start(t)
	records := []record.Record{encoded(calling(0, "webhook.rare"))}
	for n := range traces.MaxLooked {
		records = append(records, accepted(n+1))
	}
	i.log.Append(records...)
	if err := i.runner.Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	s := call.Search{Last6: "abc123", EventKey: "webhook.rare", Readable: anybody}
	page, next, err := i.Search(s, "", 10)
	if len(page) != 0 || next == "" || err != nil {
		t.Fatalf("%d calls, next %q, %v: the first page must end with a next", len(page), next, err)
	}
	page, next, err = i.Search(s, next, 10)
	if numbers(page) != "0" || next != "" || err != nil {
		t.Errorf("%s, next %q, %v: the second page must have the call", numbers(page), next, err)
	}
}

func TestACursorTellsNothingOfCallsThatMayNotBeSeen(t *testing.T) {
	i := start(t)
	records := make([]record.Record, 0, traces.MaxLooked+1)
	for n := range traces.MaxLooked + 1 {
		records = append(records, accepted(n))
	}
	i.log.Append(records...)
	if err := i.runner.Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	nobody := func(string) bool { return false }
	_, next, err := i.Search(call.Search{Last6: "abc123", Readable: nobody}, "", 10)
	if err != nil || next == "" {
		t.Fatalf("next %q, %v", next, err)
	}
	for n := range records { // a correlation id opens the call's result
		if own := uuid.MustParse(id(n)); strings.Contains(next, string(own[:])) {
			t.Fatalf("the cursor has the correlation id of call %d in it", n)
		}
	}
}

func TestACallIsFoundAsItWasAccepted(t *testing.T) {
	i := start(t)
	odd := calling(2, "webhook.a", "a@1", "b@2")
	odd.Address = `no "address"`
	for n, a := range map[int]call.Accepted{1: calling(1, "webhook.a", "a@1"), 2: odd} {
		i.fold(encoded(a))
		want := call.Found{
			Accepted: a, Logged: a.Received.Add(time.Second),
			Position: record.Position{Topic: record.TopicCall, Partition: call.Partition(id(n), partitions)},
		}
		got, found, err := i.Find(id(n))
		if err != nil || !found {
			t.Fatalf("found %v, %v", found, err)
		}
		want.Position.Offset = got.Position.Offset
		if at, err := i.log.ReadAt(t.Context(), got.Position); err != nil || string(at.Key) != id(n) {
			t.Errorf("at %s lies %s, %v", got.Position, at.Key, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("call (-want +got):\n%s", diff)
		}
	}
	for _, other := range []string{"", "x", id(3), strings.ToUpper(id(1)), "{" + id(1) + "}", strings.Repeat("0", 4096)} {
		if _, found, err := i.Find(other); found || err != nil {
			t.Errorf("%.40q: found %v, %v", other, found, err)
		}
	}
}

func TestWhatWasSentAgainCountsAsItCameFirst(t *testing.T) {
	for name, again := range map[string]time.Time{"later": received(10), "on another day": received(2 * perDay)} {
		t.Run(name, func(t *testing.T) {
			i := start(t)
			i.fold(sent(1, "stock", received(1)), sent(1, "stock", again))
			first, found, err := i.Find(id(1))
			if err != nil || !found || !first.Received.Equal(received(1)) {
				t.Errorf("found %+v, %v, %v", first, found, err)
			}
			if got := i.search(call.Search{Last6: "abc123"}, 10); got != "1" {
				t.Errorf("searched %s", got)
			}
			if tailed, _ := i.tail("stock", "", 10); len(tailed) != 1 {
				t.Errorf("tailed %v", tailed)
			}
		})
	}
}
