package families_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/record"
	"hooklog/domain/secret"
	"hooklog/domain/session"
	"hooklog/transport/auth/families"
)

// world is a log in memory, and the folds of the instances on it.
type world struct {
	mu      sync.Mutex
	records []record.Record
	folds   []*instance
	failure error // of every append
	now     time.Time
	logs    bytes.Buffer
}

// instance is one fold of the log, which may lag behind.
type instance struct {
	*families.Families
	world    *world
	families map[session.Hash]session.Family
	outcomes map[string]session.Outcome
	waiters  map[string]chan session.Decided
	folded   int
	lags     bool // folds at the barrier only
	barriers int
	deaf     error // of every barrier
}

var monday = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

const life = 30 * 24 * time.Hour

var kim = access.User{Name: "kim", Version: 7}

func newWorld() *world { return &world{now: monday} }

// join adds an instance.
func (w *world) join() *instance {
	i := &instance{
		world:    w,
		families: map[session.Hash]session.Family{},
		outcomes: map[string]session.Outcome{},
		waiters:  map[string]chan session.Decided{},
	}
	i.Families = families.New(families.Config{Life: life, Timeout: 10 * time.Second}, families.Deps{
		Log:      slog.New(slog.NewTextHandler(&w.logs, nil)),
		Now:      func() time.Time { return w.now },
		Journal:  w,
		Sessions: sessions{i},
	})
	w.folds = append(w.folds, i)
	return i
}

func (w *world) AppendWait(_ context.Context, r *record.Record) (record.Position, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failure != nil {
		return record.Position{}, w.failure
	}
	w.records = append(w.records, *r)
	for _, i := range w.folds {
		if !i.lags {
			i.catchUp()
		}
	}
	return r.Position, nil
}

func (i *instance) catchUp() {
	for ; i.folded < len(i.world.records); i.folded++ {
		wish, err := session.DecodeWish(&i.world.records[i.folded])
		if err != nil {
			panic(err)
		}
		decided := session.Fold(state{i}, wish)
		if ch := i.waiters[wish.ID]; ch != nil {
			ch <- decided
		}
	}
}

// state is the instance as the domain's fold sees it.
type state struct{ i *instance }

func (s state) Family(id session.Hash) (session.Family, bool) {
	f, known := s.i.families[id]
	return f, known
}
func (s state) SetFamily(f session.Family) { s.i.families[f.ID] = f }
func (s state) Outcome(_ session.Hash, wishID string) (session.Outcome, bool) {
	o, known := s.i.outcomes[wishID]
	return o, known
}

func (s state) SetOutcome(_ session.Hash, wishID string, o session.Outcome) { s.i.outcomes[wishID] = o }

// sessions is the instance as its Families sees it.
type sessions struct{ i *instance }

func (s sessions) Await(wishID string) (<-chan session.Decided, func()) {
	s.i.world.mu.Lock()
	defer s.i.world.mu.Unlock()
	ch := make(chan session.Decided, 1)
	s.i.waiters[wishID] = ch
	return ch, func() {
		s.i.world.mu.Lock()
		defer s.i.world.mu.Unlock()
		delete(s.i.waiters, wishID)
	}
}

func (s sessions) Family(id session.Hash) (session.Family, bool, error) {
	s.i.world.mu.Lock()
	defer s.i.world.mu.Unlock()
	f, known := s.i.families[id]
	return f, known, nil
}

func (s sessions) Current(context.Context) error {
	s.i.world.mu.Lock()
	defer s.i.world.mu.Unlock()
	s.i.barriers++
	if s.i.deaf != nil {
		return s.i.deaf
	}
	s.i.catchUp()
	return nil
}

// open logs in and gives the first token.
func (i *instance) open(t *testing.T) secret.Password {
	t.Helper()
	token, expires, err := i.Open(t.Context(), kim, "hooklog", "profile")
	if err != nil {
		t.Fatal(err)
	}
	if !expires.Equal(i.world.now.Add(life)) {
		t.Fatalf("the family expires at %s", expires)
	}
	return token
}

func (i *instance) rotate(t *testing.T, token secret.Password) secret.Password {
	t.Helper()
	next, family, err := i.Rotate(t.Context(), token, "hooklog")
	if err != nil {
		t.Fatal(err)
	}
	if family.User != "kim" || family.UserVersion != 7 || family.Client != "hooklog" || family.Scope != "profile" {
		t.Fatalf("the family is %+v", family)
	}
	if next.Reveal() == token.Reveal() {
		t.Fatal("the successor is the token itself")
	}
	return next
}

func (i *instance) alive(t *testing.T, token secret.Password) bool {
	t.Helper()
	family, err := i.Alive(t.Context(), token)
	if err == nil && (family.User != "kim" || family.UserVersion != 7) {
		t.Errorf("the family is %+v", family)
	}
	if err != nil && reason(err) == "" {
		t.Errorf("alive: %v", err)
	}
	return err == nil
}

// reason is why a token was refused.
func reason(err error) session.Outcome {
	var refusal *session.Refusal
	if errors.As(err, &refusal) {
		return refusal.Outcome
	}
	return ""
}
