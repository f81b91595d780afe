package sessions_test

import (
	"testing"
	"time"

	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/sessions"
	"hooklog/projections/store"
)

func TestTheSessionsAreAProjection(t *testing.T) {
	const s = time.Second
	foreign := rotate("a2", 1, 1, 2, 2*s)
	foreign.Client = "other"
	projectiontest.Run(t, projectiontest.Contract{
		New: func(s *store.Store) (fold.Projection, error) { return sessions.New(s), nil },
		History: encode(
			open("o1", 1),
			open("o1", 1), // repeated
			open("o2", 1), // the id is taken
			open("o1", 2), // the same wish id about another family
			rotate("a1", 1, 0, 1, s),
			rotate("a1", 1, 0, 1, s), // repeated
			foreign,
			rotate("a3", 1, 0, 3, 3*s), // a further successor
			rotate("a4", 1, 3, 4, 4*s),
			rotate("a5", 1, 1, 5, 5*s), // a sibling ends the family
			rotate("a6", 1, 4, 6, 6*s),
			rotate("b1", 2, 0, 1, -s), // by a clock behind
			rotate("b2", 2, 1, 2, life),
			rotate("c1", 3, 0, 1, s), // of a family that was opened before the log begins
			end("c2", 3, 2*s),
			end("c3", 3, 3*s),
			open("d1", 4),
		),
	})
}
