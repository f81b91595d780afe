package session

import (
	"slices"

	"hooklog/domain/fault"
)

// Outcome is what a wish came to.
type Outcome string

// The outcomes on the log's rows. The first three grant the wish.
const (
	Opened  Outcome = "opened"
	Rotated Outcome = "rotated"
	Ended   Outcome = "ended"

	// Reused says that the token was older than the predecessor, or came after its
	// grace: somebody has a copy, so the wish ended the family.
	Reused Outcome = "reused"
	// Over says that the family had been ended before.
	Over Outcome = "over"
	// Expired says that the family's time was over.
	Expired Outcome = "expired"
	// Foreign says that another client asked than the one that opened the family.
	Foreign Outcome = "foreign"
	// Crowded says that the predecessor has got MaxCurrent successors.
	Crowded Outcome = "crowded"
	// Taken says that the family to open is there already.
	Taken Outcome = "taken"
)

// Unknown is the outcome of a token that no living family has: there is nothing
// to wish for.
const Unknown Outcome = "unknown"

// Lasting reports a refusal that every later wish like it gets too.
func (o Outcome) Lasting() bool { return o == Over || o == Expired || o == Foreign }

// Refusal is the cause in the fault of a wish that was not granted.
type Refusal struct{ Outcome Outcome }

func (r *Refusal) Error() string { return "refresh token refused: " + string(r.Outcome) }

// Err is nil for a wish that was granted. The fault shows every refusal alike,
// so that nobody learns what a found token was worth.
func (o Outcome) Err() error {
	switch o {
	case Opened, Rotated, Ended:
		return nil
	}
	return fault.New(fault.Unauthenticated, "The refresh token is not valid.").Because(&Refusal{o})
}

// Decided is what a wish came to, and the family behind it.
type Decided struct {
	Family  Family
	Outcome Outcome
}

// State is what Fold reads and writes.
type State interface {
	Family(id Hash) (Family, bool)
	SetFamily(Family)
	Outcome(family Hash, wishID string) (Outcome, bool)
	SetOutcome(family Hash, wishID string, o Outcome)
}

// Fold decides a wish, applies what it changes, and remembers its outcome.
func Fold(s State, w Wish) Decided {
	var known *Family
	if f, ok := s.Family(w.Family.ID); ok {
		known = &f
	}
	if first, repeated := s.Outcome(w.Family.ID, w.ID); repeated && known != nil {
		return Decided{*known, first}
	}
	after, outcome := Decide(known, w)
	s.SetFamily(after)
	s.SetOutcome(after.ID, w.ID, outcome)
	return Decided{after, outcome}
}

// Decide gives what becomes of a family by a wish. One that is not known any more
// is the one that the writer saw.
func Decide(known *Family, w Wish) (Family, Outcome) {
	f := w.Family
	if known != nil {
		f = *known
	}
	f.Seen = f.clock(w.Time)
	switch {
	case w.Kind == Open && known == nil:
		return f, Opened
	case w.Kind == Open:
		return f, Taken
	case w.Kind == End:
		return f.end(), Ended
	case f.Ended:
		return f, Over
	}
	return f.rotate(w)
}

func (f Family) rotate(w Wish) (Family, Outcome) {
	switch {
	case f.Over(f.Seen):
		return f, Expired
	case w.Client != f.Client:
		return f, Foreign
	case f.current(w.Token):
		f.Current, f.Predecessor, f.Rotated = []Hash{w.Successor}, w.Token, f.Seen
		return f, Rotated
	case !f.spared(w.Token, f.Seen):
		return f.end(), Reused
	case len(f.Current) >= MaxCurrent:
		return f, Crowded
	}
	f.Current = append(slices.Clip(f.Current), w.Successor)
	return f, Rotated
}

// end forgets the tokens: none of them counts any more.
func (f Family) end() Family {
	f.Current, f.Predecessor, f.Ended = nil, Hash{}, true
	return f
}
