package session_test

import (
	"encoding/json"
	"strconv"
	"testing"
	"time"

	"hooklog/domain/session"
)

const life = 30 * 24 * time.Hour

var monday = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// token is the n-th token of the family of the tests.
func token(n int) session.Token {
	return session.NewToken(session.FamilyID{1}, session.TokenKey{byte(n), byte(n >> 8)})
}

func hash(n int) session.Hash { return token(n).Hash() }

// newborn is the family as the log-in on monday opens it, with the token 0.
func newborn() session.Family {
	return session.Family{
		ID: token(0).Family(), User: "kim", UserVersion: 3, Client: "hooklog", Scope: "profile roles",
		Created: monday, Expires: monday.Add(life), Current: []session.Hash{hash(0)}, Seen: monday,
	}
}

func open(id string) session.Wish {
	return session.Wish{ID: id, Kind: session.Open, Family: newborn(), Time: monday}
}

// rotate is the wish to get the token next for the token old.
func rotate(id string, old, next int, after time.Duration) session.Wish {
	return session.Wish{
		ID: id, Kind: session.Rotate, Client: "hooklog", Token: hash(old), Successor: hash(next),
		Family: newborn(), Time: monday.Add(after),
	}
}

func end(id string, after time.Duration) session.Wish {
	return session.Wish{ID: id, Kind: session.End, Family: newborn(), Time: monday.Add(after)}
}

func by(client string, w session.Wish) session.Wish {
	w.Client = client
	return w
}

// memory is the smallest State: maps that can be dumped and read back.
type memory struct {
	Families map[string]session.Family
	Outcomes map[string]session.Outcome
}

var _ session.State = (*memory)(nil)

func newMemory() *memory {
	return &memory{Families: map[string]session.Family{}, Outcomes: map[string]session.Outcome{}}
}

func (m *memory) Family(id session.Hash) (session.Family, bool) {
	f, known := m.Families[id.String()]
	return f, known
}

func (m *memory) SetFamily(f session.Family) { m.Families[f.ID.String()] = f }

func (m *memory) Outcome(family session.Hash, wishID string) (session.Outcome, bool) {
	o, known := m.Outcomes[family.String()+wishID]
	return o, known
}

func (m *memory) SetOutcome(family session.Hash, wishID string, o session.Outcome) {
	m.Outcomes[family.String()+wishID] = o
}

// folded is the state after the wishes, and what they came to.
func folded(wishes ...session.Wish) (m *memory, outcomes []session.Outcome) {
	m = newMemory()
	for _, w := range wishes {
		outcomes = append(outcomes, session.Fold(m, w).Outcome)
	}
	return m, outcomes
}

func (m *memory) family() session.Family { return m.Families[token(0).Family().String()] }

func (m *memory) dump(t testing.TB) string {
	t.Helper()
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// restored is the state that an instance reads from its store after a restart.
func restored(t testing.TB, dump string) *memory {
	t.Helper()
	m := newMemory()
	if err := json.Unmarshal([]byte(dump), m); err != nil {
		t.Fatal(err)
	}
	return m
}

func name(n int) string { return "w" + strconv.Itoa(n) }
