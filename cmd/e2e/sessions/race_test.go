package sessions_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/secret"
	"hooklog/domain/session"
)

const racers = 64

// all lets every racer rotate its token at once, one half on each instance.
func (w *world) all(instances []*instance, tokenOf func(n int) secret.Password) (successors []secret.Password, errs []error) {
	successors, errs = make([]secret.Password, racers), make([]error, racers)
	var racing sync.WaitGroup
	for n := range racers {
		racing.Go(func() {
			successors[n], _, errs[n] = instances[n%len(instances)].Rotate(w.t.Context(), tokenOf(n), client)
		})
	}
	racing.Wait()
	return successors, errs
}

func TestARotationThatIsRaced64Ways(t *testing.T) {
	w := newWorld(t)
	both := []*instance{w.join(), w.join()}
	first := w.open(both[0])

	successors, errs := w.all(both, func(int) secret.Password { return first })
	t.Run("gives everybody a successor of his own that both instances take", func(t *testing.T) {
		seen := map[string]bool{}
		for n, token := range successors {
			if errs[n] != nil {
				t.Fatalf("racer %d was refused: %v", n, errs[n])
			}
			seen[token.Reveal()] = true
			for _, i := range both {
				if family, err := i.Alive(t.Context(), token); err != nil || family.User != "kim" {
					t.Errorf("the token of racer %d is not alive: %v", n, err)
				}
			}
		}
		if len(seen) != racers {
			t.Errorf("%d racers have %d tokens", racers, len(seen))
		}
	})
	t.Run("gives both instances equal rows", func(t *testing.T) {
		if diff := cmp.Diff(w.dump(both[0]), w.dump(both[1])); diff != "" {
			t.Errorf("rows differ (-one +other):\n%s", diff)
		}
	})

	_, errs = w.all(both, func(n int) secret.Password { return successors[n] })
	t.Run("when all go on at once, one does, one ends the family, and the rest come too late", func(t *testing.T) {
		outcomes := map[session.Outcome]int{}
		for _, err := range errs {
			outcomes[reason(t, err)]++
		}
		want := map[session.Outcome]int{"": 1, session.Reused: 1, session.Over: racers - 2}
		if diff := cmp.Diff(want, outcomes); diff != "" {
			t.Errorf("outcomes differ (-want +got):\n%s", diff)
		}
		for n, token := range successors {
			if _, err := both[n%2].Alive(t.Context(), token); reason(t, err) != session.Unknown {
				t.Errorf("the token of racer %d: %v", n, err)
			}
		}
	})
	t.Run("and leaves both instances, and one that comes later, with equal rows", func(t *testing.T) {
		want := w.dump(both[0])
		for _, i := range []*instance{both[1], w.join()} {
			if diff := cmp.Diff(want, w.dump(i)); diff != "" {
				t.Errorf("rows differ (-one +other):\n%s", diff)
			}
		}
	})
}
