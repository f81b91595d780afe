package session_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/fault"
	"hooklog/domain/session"
)

func TestWhatWishesComeTo(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name  string
		given []session.Wish
		when  session.Wish
		then  session.Outcome
		// alive are the tokens that may be used right after the wish.
		alive []int
	}{
		{"a log-in opens a family", nil, open("o"), session.Opened, []int{0}},
		{"a family is opened once", []session.Wish{open("o")}, open("p"), session.Taken, []int{0}},
		{
			"a current token becomes the predecessor of its successor",
			[]session.Wish{open("o")},
			rotate("a", 0, 1, s), session.Rotated,
			[]int{0, 1},
		},
		{
			"with the next rotation the one before the predecessor is over",
			[]session.Wish{open("o"), rotate("a", 0, 1, s)},
			rotate("b", 1, 2, 2*s), session.Rotated,
			[]int{1, 2},
		},
		{
			"the predecessor gets a further successor beside the others",
			[]session.Wish{open("o"), rotate("a", 0, 1, s), rotate("b", 0, 2, 9*s)},
			rotate("c", 0, 3, 30*s), session.Rotated,
			[]int{0, 1, 2, 3},
		},
		{
			"in the last moment of its grace too, which counts from the first rotation",
			[]session.Wish{open("o"), rotate("a", 0, 1, s), rotate("b", 0, 2, 30*s)},
			rotate("c", 0, 3, 31*s), session.Rotated,
			[]int{0, 1, 2, 3},
		},
		{
			"after its grace the predecessor ends the family",
			[]session.Wish{open("o"), rotate("a", 0, 1, s), rotate("b", 0, 2, 30*s)},
			rotate("c", 0, 3, 31*s+time.Millisecond), session.Reused,
			nil,
		},
		{
			"a successor that was not rotated first is valid until another one is",
			[]session.Wish{open("o"), rotate("a", 0, 1, s), rotate("b", 0, 2, 2*s)},
			rotate("c", 1, 3, time.Hour), session.Rotated,
			[]int{1, 3},
		},
		{
			"a sibling of a token that was rotated ends the family, also within the grace",
			[]session.Wish{open("o"), rotate("a", 0, 1, s), rotate("b", 0, 2, 2*s), rotate("c", 1, 3, 3*s)},
			rotate("d", 2, 4, 4*s), session.Reused,
			nil,
		},
		{
			"an older token ends the family",
			[]session.Wish{open("o"), rotate("a", 0, 1, s), rotate("b", 1, 2, 2*s)},
			rotate("c", 0, 3, 3*s), session.Reused,
			nil,
		},
		{
			"a token that was never given out ends the family",
			[]session.Wish{open("o")},
			rotate("a", 7, 8, s), session.Reused,
			nil,
		},
		{
			"an ended family is over",
			[]session.Wish{open("o"), rotate("a", 7, 8, s)},
			rotate("b", 0, 1, 2*s), session.Over,
			nil,
		},
		{"whoever holds a token may end its family", []session.Wish{open("o")}, end("e", s), session.Ended, nil},
		{"a family that is over may be ended once more", []session.Wish{open("o"), end("e", s)}, end("f", 2*s), session.Ended, nil},
		{
			"an ended family is not opened again",
			[]session.Wish{open("o"), end("e", s)},
			open("p"), session.Taken,
			nil,
		},
		{
			"a family lives until it expires",
			[]session.Wish{open("o")},
			rotate("a", 0, 1, life-1), session.Rotated,
			[]int{0, 1},
		},
		{"and not longer", []session.Wish{open("o")}, rotate("a", 0, 1, life), session.Expired, nil},
		{
			"no rotation prolongs it",
			[]session.Wish{open("o"), rotate("a", 0, 1, life-s)},
			rotate("b", 1, 2, life), session.Expired,
			nil,
		},
		{
			"another client is refused, and the family lives on",
			[]session.Wish{open("o")},
			by("other", rotate("a", 0, 1, s)), session.Foreign,
			[]int{0},
		},
		{
			"another client cannot even end it with an older token",
			[]session.Wish{open("o"), rotate("a", 0, 1, s), rotate("b", 1, 2, 2*s)},
			by("", rotate("c", 0, 3, 3*s)), session.Foreign,
			[]int{1, 2},
		},
		{
			"a clock that is behind makes the grace no longer",
			[]session.Wish{open("o"), rotate("a", 0, 1, s), by("other", rotate("b", 1, 2, 32*s))},
			rotate("c", 0, 3, 2*s), session.Reused,
			nil,
		},
		{
			"a clock that is behind does not rotate into the past",
			[]session.Wish{open("o"), by("other", rotate("a", 0, 1, time.Hour)), rotate("b", 0, 1, s)},
			rotate("c", 0, 2, time.Hour+30*s), session.Rotated,
			[]int{0, 1, 2},
		},
		{
			"a wish that comes again gets its first outcome",
			[]session.Wish{open("o"), rotate("a", 0, 1, s), rotate("b", 1, 2, 2*s)},
			rotate("a", 0, 1, s), session.Rotated,
			[]int{1, 2},
		},
		{
			"also when it was refused",
			[]session.Wish{open("o"), by("other", rotate("a", 0, 1, s))},
			rotate("a", 0, 1, s), session.Foreign,
			[]int{0},
		},
		{
			"a family that the log has lost is the one that the writer saw",
			nil, rotate("a", 0, 1, s), session.Rotated,
			[]int{0, 1},
		},
		{
			"what the fold knows counts more than what the writer saw",
			[]session.Wish{open("o"), rotate("a", 0, 1, s), rotate("b", 1, 2, 2*s)},
			rotate("c", 0, 3, 3*s), session.Reused,
			nil,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m, _ := folded(tt.given...)
			if got := session.Fold(m, tt.when); got.Outcome != tt.then {
				t.Errorf("outcome is %s, want %s", got.Outcome, tt.then)
			} else if diff := cmp.Diff(m.family(), got.Family); diff != "" {
				t.Errorf("the answer is not what is kept (-kept +answered):\n%s", diff)
			}
			var alive []int
			for n := range 10 {
				if m.family().Alive(hash(n), tt.when.Time) {
					alive = append(alive, n)
				}
			}
			if diff := cmp.Diff(tt.alive, alive); diff != "" {
				t.Errorf("living tokens differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAPredecessorGetsSoManySuccessorsOnly(t *testing.T) {
	m, _ := folded(open("o"))
	for n := 1; n <= session.MaxCurrent; n++ {
		if got := session.Fold(m, rotate(name(n), 0, n, time.Second)).Outcome; got != session.Rotated {
			t.Fatalf("rotation %d came to %s", n, got)
		}
	}
	before := m.family()
	if got := session.Fold(m, rotate("more", 0, 500, time.Second)).Outcome; got != session.Crowded {
		t.Errorf("one more came to %s", got)
	}
	if diff := cmp.Diff(before, m.family()); diff != "" {
		t.Errorf("the refusal changed the family:\n%s", diff)
	}
	if got := session.Fold(m, rotate("next", 77, 501, time.Second)).Outcome; got != session.Rotated {
		t.Errorf("one of them came to %s", got)
	}
}

func TestADecisionLeavesItsFamilyAsItWas(t *testing.T) {
	known, _ := folded(open("o"), rotate("a", 0, 1, time.Second))
	f := known.family()
	f.Current = append(make([]session.Hash, 0, 8), f.Current...) // with room that must not be shared
	first, _ := session.Decide(&f, rotate("b", 0, 2, time.Second))
	second, _ := session.Decide(&f, rotate("c", 0, 3, time.Second))
	if first.Current[1] != hash(2) || second.Current[1] != hash(3) || len(f.Current) != 1 {
		t.Errorf("two decisions over one family wrote into each other: %v, %v", first.Current, second.Current)
	}
}

func TestTokensLiveAsLongAsTheirFamily(t *testing.T) {
	m, _ := folded(open("o"), rotate("a", 0, 1, time.Hour))
	tests := []struct {
		name  string
		token int
		after time.Duration
		alive bool
	}{
		{"a current token is alive", 1, 2 * time.Hour, true},
		{"until the family expires", 1, life - 1, true},
		{"and not longer", 1, life, false},
		{"the predecessor is alive within its grace", 0, time.Hour + 30*time.Second, true},
		{"and not after it", 0, time.Hour + 31*time.Second, false},
		{"a clock that is behind changes nothing", 0, -time.Hour, true},
		{"another token is not", 2, time.Hour, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := m.family().Alive(hash(tt.token), monday.Add(tt.after)); got != tt.alive {
				t.Errorf("alive = %v", got)
			}
		})
	}
	t.Run("nothing is the predecessor of a family that was never rotated", func(t *testing.T) {
		if newborn().Alive(session.Hash{}, monday) {
			t.Error("no token is alive")
		}
	})
}

func TestRefusalsLookAlikeAndSayWhyToTheLog(t *testing.T) {
	details := map[string]bool{}
	for _, o := range []session.Outcome{
		session.Reused, session.Over, session.Expired, session.Foreign, session.Crowded, session.Taken, session.Unknown, "",
	} {
		err := o.Err()
		var refusal *session.Refusal
		if !fault.Is(err, fault.Unauthenticated) || !errors.As(err, &refusal) || refusal.Outcome != o {
			t.Errorf("%s gives %v", o, err)
		}
		details[fault.From(err).Detail] = true
	}
	if len(details) != 1 {
		t.Errorf("callers can tell refusals apart: %v", details)
	}
	for _, o := range []session.Outcome{session.Opened, session.Rotated, session.Ended} {
		if err := o.Err(); err != nil || o.Lasting() {
			t.Errorf("%s gives %v", o, err)
		}
	}
}
