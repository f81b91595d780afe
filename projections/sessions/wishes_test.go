package sessions_test

import (
	"testing"
	"time"

	"hooklog/domain/record"
	"hooklog/domain/session"
	"hooklog/projections/fold"
	"hooklog/projections/projectiontest"
	"hooklog/projections/sessions"
)

const life = 30 * 24 * time.Hour

var monday = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// instance is a projection that folds a log.
type instance struct {
	*sessions.Sessions
	t      testing.TB
	log    *projectiontest.Log
	runner *fold.Runner
}

func start(t testing.TB) *instance {
	t.Helper()
	s := projectiontest.OpenStore(t)
	p := sessions.New(s)
	log := projectiontest.NewLog(record.TopicSession, 1)
	return &instance{Sessions: p, t: t, log: log, runner: projectiontest.Start(t, p, s, log)}
}

// fold appends the wishes and returns when they are folded.
func (i *instance) fold(wishes ...session.Wish) {
	i.t.Helper()
	if err := i.runner.Wait(i.t.Context(), i.log.Append(encode(wishes...)...)); err != nil {
		i.t.Fatal(err)
	}
}

func (i *instance) family(n byte) session.Family {
	i.t.Helper()
	f, known, err := i.Family(token(n, 0).Family())
	if err != nil || !known {
		i.t.Fatalf("family %d: known %v, err %v", n, known, err)
	}
	return f
}

func encode(wishes ...session.Wish) []record.Record {
	records := make([]record.Record, len(wishes))
	for i, w := range wishes {
		r, err := w.Encode()
		if err != nil {
			panic(err)
		}
		records[i] = r
	}
	return records
}

// token is the n-th token of a family.
func token(family, n byte) session.Token {
	return session.NewToken(session.FamilyID{family}, session.TokenKey{n})
}

func newborn(family byte) session.Family {
	return session.Family{
		ID: token(family, 0).Family(), User: "kim", UserVersion: 1, Client: "hooklog",
		Created: monday, Expires: monday.Add(life), Current: []session.Hash{token(family, 0).Hash()}, Seen: monday,
	}
}

func open(id string, family byte) session.Wish {
	return session.Wish{ID: id, Kind: session.Open, Family: newborn(family), Time: monday}
}

// rotate is the wish of a writer that has seen the family as it was opened.
func rotate(id string, family, old, next byte, after time.Duration) session.Wish {
	return session.Wish{
		ID: id, Kind: session.Rotate, Client: "hooklog", Family: newborn(family), Time: monday.Add(after),
		Token: token(family, old).Hash(), Successor: token(family, next).Hash(),
	}
}

func end(id string, family byte, after time.Duration) session.Wish {
	return session.Wish{ID: id, Kind: session.End, Family: newborn(family), Time: monday.Add(after)}
}
