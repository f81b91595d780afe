package traces_test

import (
	"strings"
	"testing"

	"hooklog/domain/call"
	"hooklog/domain/record"
)

func TestTheNewestEventOfAPattern(t *testing.T) {
	i := start(t)
	for n, key := range []string{"webhook.a", "webhook.a.b", "webhook.b", "webhook.ab", "webhook.a", "stock", "stock.low"} {
		i.fold(encoded(calling(n, key)))
	}
	tests := []struct {
		pattern string
		want    int // the call, or -1
	}{
		{"webhook.a", 4},
		{"webhook.a.b", 1},
		{"webhook.b", 2},
		{"webhook", -1},
		{"webhook.c", -1},
		{"webhook.*", 4},
		{"webhook.*.b", 1},
		{"webhook.#", 4},
		{"webhook.a.#", 4},
		{"webhook.b.#", 2},
		{"#", 6},
		{"*", 5},
		{"stock.#", 6},
		{"*.low", 6},
		{"", -1},
	}
	for _, tt := range tests {
		event, key, found, err := i.NewestEvent(tt.pattern, anybody)
		if err != nil || found != (tt.want >= 0) || (found && (event.Offset != int64(tt.want) || event.Topic != "svc.event."+key)) {
			t.Errorf("%q: call %d of %q, found %v, %v; want call %d", tt.pattern, event.Offset, key, found, err, tt.want)
		}
	}
	t.Run("is one that is readable", func(t *testing.T) {
		event, key, found, err := i.NewestEvent("webhook.#", func(key string) bool { return strings.HasSuffix(key, "b") })
		if err != nil || !found || key != "webhook.ab" || event != calling(3, "webhook.ab").Event {
			t.Errorf("%+v of %q, found %v, %v", event, key, found, err)
		}
	})
	t.Run("is the one that was received last, whichever partition it is in", func(t *testing.T) {
		used := map[int32]bool{}
		for n := 100; n < 130; n++ {
			used[call.Partition(id(n), partitions)] = true
			i.fold(encoded(calling(n, "spread")))
			if event, _, _, _ := i.NewestEvent("spread", anybody); event.Offset != int64(n) {
				t.Errorf("call %d, want %d", event.Offset, n)
			}
		}
		if len(used) != partitions {
			t.Errorf("the calls lie in the partitions %v only", used)
		}
	})
}

func TestTheNewestEventIsOfTheNewestDay(t *testing.T) {
	i := start(t)
	for _, n := range []int{1, 2*perDay + 1, perDay} {
		i.fold(encoded(calling(n, "webhook.a")))
	}
	i.fold(encoded(calling(3*perDay, "webhook.b")))
	for pattern, want := range map[string]int64{"webhook.a": 2*perDay + 1, "webhook.*": 3 * perDay, "#": 3 * perDay} {
		if event, _, found, err := i.NewestEvent(pattern, anybody); err != nil || !found || event.Offset != want {
			t.Errorf("%s: call %d, found %v, %v; want %d", pattern, event.Offset, found, err, want)
		}
	}
	onlyA := func(key string) bool { return key == "webhook.a" }
	if event, _, _, _ := i.NewestEvent("#", onlyA); event.Offset != 2*perDay+1 {
		t.Errorf("of those that are readable: call %d", event.Offset)
	}
}

func TestAnEventIsFoundByItsTraceID(t *testing.T) {
	i := start(t)
	i.fold(accepted(1), accepted(2, "a@1"))
	for n := 1; n <= 2; n++ {
		event, key, found, err := i.EventOfTrace(trace(n), anybody)
		if err != nil || !found || key != "webhook.a" || event != calling(n, "webhook.a").Event {
			t.Errorf("%+v of %q, found %v, %v", event, key, found, err)
		}
	}
	for _, unknown := range []string{"", "abc123", trace(3), trace(1)[:10], trace(1) + "x"} {
		if _, _, found, err := i.EventOfTrace(unknown, anybody); found || err != nil {
			t.Errorf("%q: found %v, %v", unknown, found, err)
		}
	}
	t.Run("among those that were sent because of it", func(t *testing.T) {
		for n := 10; n < 20; n++ {
			sent := calling(n, []string{"sent.a", "sent.b"}[n%2])
			sent.TraceID = trace(1)
			i.fold(encoded(sent))
		}
		for want, offset := range map[string]int64{"webhook.a": 1, "sent.a": 18, "sent.b": 19, "sent": -1} {
			event, key, found, err := i.EventOfTrace(trace(1), func(key string) bool { return key == want })
			if err != nil || found != (offset >= 0) || (found && (key != want || event.Offset != offset)) {
				t.Errorf("call %d of %q, found %v, %v; want call %d of %q", event.Offset, key, found, err, offset, want)
			}
		}
	})
}

func TestAnEventThatNobodyOfUsWroteIsNotFound(t *testing.T) {
	for name, spoil := range map[string]func(*call.Accepted){
		"one on a topic of another key":     func(a *call.Accepted) { a.Event.Topic = record.EventTopic("webhook.b") },
		"one on a topic that is no event's": func(a *call.Accepted) { a.Event.Topic = record.TopicCommand },
		"one without a digest":              func(a *call.Accepted) { a.Event.SHA256 = "" },
		"one with half a digest":            func(a *call.Accepted) { a.Event.SHA256 = strings.Repeat("0", 32) },
		"one with a digest of other letters": func(a *call.Accepted) {
			a.Event.SHA256 = strings.Repeat("x", 64)
		},
	} {
		t.Run(name, func(t *testing.T) {
			i := start(t)
			a := calling(1, "webhook.a", "a@1")
			spoil(&a)
			i.fold(encoded(a))
			_, _, byTrace, _ := i.EventOfTrace(trace(1), anybody)
			_, _, newest, _ := i.NewestEvent("#", anybody)
			tailed, _ := i.tail("webhook.a", "", 10)
			if _, known, err := i.Find(id(1)); byTrace || newest || len(tailed) > 0 || !known || err != nil {
				t.Errorf("found by trace id %v, as the newest %v, tailed %v; its call is known: %v, %v", byTrace, newest, tailed, known, err)
			}
		})
	}
}
