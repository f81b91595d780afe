package e2e_test

import (
	"net/http"
	"sync"
	"testing"
	"time"

	"hooklog/cmd/settings"
)

// The lives of tokens in these tests.
const (
	accessLife  = time.Minute
	refreshLife = 20 * time.Minute
	// skew is how long an access token is taken beyond its life.
	skew = 30 * time.Second
	// grace is how long the predecessor of a rotated token gets successors.
	grace = 30 * time.Second
)

func shortLives(c *settings.Config) {
	c.AccessTokenLife, c.RefreshTokenLife, c.UserRate = accessLife, refreshLife, 0
}

// The life of refresh tokens at the token endpoint.
func TestRotation(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start(shortLives)
		s.user("kim", kimsPassword, "administrator")
		logIn := func(s *service) tokens { return s.passwordGrant("kim", kimsPassword).granted() }

		t.Run("gives a new pair each time", func(t *testing.T) {
			s := s.in(t)
			last := logIn(s)
			for range 3 {
				next := s.rotate(last.Refresh).granted()
				if next.Refresh == last.Refresh || next.Access == last.Access {
					t.Error("a token came again")
				}
				s.wantAlive(next)
				last = next
			}
		})
		t.Run("a token that was used up and whose successor was used ends the family", func(t *testing.T) {
			s := s.in(t)
			first := logIn(s)
			second := s.rotate(first.Refresh).granted()
			third := s.rotate(second.Refresh).granted()
			s.rotate(first.Refresh).denied(http.StatusBadRequest, "invalid_grant")
			for _, g := range []tokens{first, second, third} {
				s.wantEnded(g.Refresh)
			}
			s.wantAlive(logIn(s)) // another family
		})
		t.Run("within the grace a lost answer is made good, and all its successors live", func(t *testing.T) {
			s := s.in(t)
			first := logIn(s)
			lost := s.rotate(first.Refresh).granted()
			s.clock.forward(grace - 5*time.Second)
			again := s.rotate(first.Refresh).granted()
			s.wantAlive(lost)
			s.wantAlive(again)
			s.rotate(again.Refresh).granted()
			s.rotate(lost.Refresh).denied(http.StatusBadRequest, "invalid_grant") // its sibling went on
		})
		t.Run("after the grace the predecessor ends the family", func(t *testing.T) {
			s := s.in(t)
			first := logIn(s)
			second := s.rotate(first.Refresh).granted()
			s.clock.forward(grace + time.Second)
			s.rotate(first.Refresh).denied(http.StatusBadRequest, "invalid_grant")
			s.wantEnded(second.Refresh)
		})
		t.Run("raced 64 ways gives everybody a successor; when all go on, one does and the family ends", func(t *testing.T) {
			raceRotations(t, s.in(t), logIn(s.in(t)))
		})
		t.Run("an access token ends with its life, a refresh token with its own, however often it was rotated", func(t *testing.T) {
			expiry(t, s.in(t), logIn(s.in(t)))
		})
		t.Run("a family is as it was after a restart", func(t *testing.T) {
			g := logIn(s.in(t))
			next := s.in(t).rotate(g.Refresh).granted()
			s.restart()
			s := s.in(t)
			s.refresher(next.Refresh).run("webhook.list").want(http.StatusOK)
			third := s.rotate(next.Refresh).granted()
			s.rotate(g.Refresh).denied(http.StatusBadRequest, "invalid_grant")
			s.wantEnded(third.Refresh)
		})
	})
}

// wantAlive fails the test unless both tokens of a grant are taken.
func (s *service) wantAlive(g tokens) {
	s.t.Helper()
	s.bearer(g.Access).run("webhook.list").want(http.StatusOK)
	s.refresher(g.Refresh).run("webhook.list").want(http.StatusOK)
}

// wantEnded fails the test unless a refresh token is worth nothing. A rotation is
// decided by the log; what the header is worth, the instance knows when it has
// folded that.
func (s *service) wantEnded(refresh string) {
	s.t.Helper()
	s.rotate(refresh).denied(http.StatusBadRequest, "invalid_grant")
	s.refresher(refresh).run("webhook.list").refused(http.StatusUnauthorized)
}

const racers = 64

func raceRotations(t *testing.T, s *service, first tokens) {
	race := func(refresh func(n int) string) (answers [racers]answer) {
		var racing sync.WaitGroup
		for n := range answers {
			racing.Go(func() { answers[n] = s.rotate(refresh(n)) })
		}
		racing.Wait()
		return answers
	}
	var next [racers]tokens
	seen := map[string]bool{}
	for n, a := range race(func(int) string { return first.Refresh }) {
		next[n] = a.granted()
		seen[next[n].Refresh] = true
	}
	if len(seen) != racers {
		t.Errorf("%d racers have %d tokens", racers, len(seen))
	}
	for _, g := range next[:] {
		s.wantAlive(g)
	}
	var won []tokens
	for _, a := range race(func(n int) string { return next[n].Refresh }) {
		if a.status == http.StatusOK {
			won = append(won, a.granted())
			continue
		}
		a.denied(http.StatusBadRequest, "invalid_grant")
	}
	if len(won) != 1 {
		t.Fatalf("%d racers went on", len(won))
	}
	s.wantEnded(won[0].Refresh)
}

func expiry(t *testing.T, s *service, g tokens) {
	if g.Expires != int(accessLife/time.Second) || g.RefreshExpires > int(refreshLife/time.Second) || g.RefreshExpires < int(refreshLife/time.Second)-5 {
		t.Errorf("said to end after %d s and %d s", g.Expires, g.RefreshExpires)
	}
	s.clock.forward(accessLife - 5*time.Second)
	s.wantAlive(g)
	s.clock.forward(skew + 10*time.Second)
	s.bearer(g.Access).run("webhook.list").refused(http.StatusUnauthorized)
	s.refresher(g.Refresh).run("webhook.list").want(http.StatusOK)

	next := s.rotate(g.Refresh).granted()
	s.wantAlive(next)
	s.clock.forward(refreshLife)
	s.wantEnded(next.Refresh)
}
