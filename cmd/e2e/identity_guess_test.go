package e2e_test

import (
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"
)

// heldUp fails the test unless the answer is 429 and says when to come back,
// within the minute that a failure counts.
func (a answer) heldUp() {
	a.t.Helper()
	a.want(http.StatusTooManyRequests)
	if wait, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil || wait < 1 || wait > 60 {
		a.t.Errorf("Retry-After %q", a.header.Get("Retry-After"))
	}
}

// Guessing is limited by where it comes from, and never locks a user out.
func TestGuessing(t *testing.T) {
	s := startOnOne(t, behindLoopback)
	s.user("kim", kimsPassword, "administrator")
	s.user("lee", "the password of lee", "administrator")
	// by is somebody with an authorization, somewhere.
	by := func(t *testing.T, address, value string) answer {
		return s.in(t).as("Authorization", value).from(address).run("webhook.list")
	}
	right, lees := basic("kim", kimsPassword), basic("lee", "the password of lee")

	t.Run("one user's password from one network", func(t *testing.T) {
		failed := 0
		for ; failed < 20; failed++ {
			a := by(t, fmt.Sprintf("198.51.100.%d", failed), basic("kim", fmt.Sprint("guess ", failed)))
			if a.status == http.StatusTooManyRequests {
				a.heldUp()
				break
			}
			a.refused(http.StatusUnauthorized)
		}
		if failed == 0 || failed >= 20 {
			t.Fatalf("%d guesses were looked at", failed)
		}
		by(t, "198.51.100.200", right).heldUp() // a right one is not told from a guess
		by(t, "198.51.100.200", lees).want(http.StatusOK)
		by(t, "203.0.113.9", right).want(http.StatusOK)
	})
	t.Run("counts at the token endpoint too", func(t *testing.T) {
		s := s.in(t)
		form := []string{"grant_type=password", "client_id=hooklog", "username=kim", "password=" + kimsPassword}
		a := s.post(tokenPath, form, "X-Forwarded-For", "198.51.100.201")
		a.heldUp()
		a.denied(http.StatusTooManyRequests, "temporarily_unavailable")
		s.post(tokenPath, form, "X-Forwarded-For", "203.0.113.10").granted()
	})
	t.Run("anybody's secrets from one network of IPv6, by every scheme together", func(t *testing.T) {
		s := s.in(t)
		guesses := []func(address string) answer{
			func(from string) answer { return by(t, from, "Bearer guessed") },
			func(from string) answer { return by(t, from, "Refresh guessed") },
			func(from string) answer {
				return s.post(tokenPath, []string{"grant_type=refresh_token", "client_id=hooklog", "refresh_token=guessed"}, "X-Forwarded-For", from)
			},
			func(from string) answer {
				return s.post(tokenPath, []string{"grant_type=refresh_token", "client_id=nobody", "client_secret=guessed", "refresh_token=guessed"}, "X-Forwarded-For", from)
			},
		}
		for failed := range 19 {
			a := guesses[failed%len(guesses)](fmt.Sprintf("2001:db8:1:%x::1", failed))
			if a.status != http.StatusUnauthorized && a.status != http.StatusBadRequest {
				t.Fatalf("guess %d is answered %d", failed, a.status)
			}
		}
		for _, guess := range guesses {
			guess("2001:db8:1:ffff::1").heldUp()
		}
		by(t, "2001:db8:1:ffff::2", right).heldUp()
		by(t, "2001:db8:2::1", right).want(http.StatusOK)
	})
	t.Run("who had logged in from there goes on", func(t *testing.T) {
		by(t, "203.0.113.77", lees).want(http.StatusOK)
		for range 19 {
			by(t, "203.0.113.78", "Bearer guessed").refused(http.StatusUnauthorized)
		}
		by(t, "203.0.113.79", lees).heldUp()
		by(t, "203.0.113.77", lees).want(http.StatusOK)
	})
	t.Run("a minute later everybody may try again", func(t *testing.T) {
		s.clock.forward(time.Minute)
		by(t, "198.51.100.200", right).want(http.StatusOK)
		by(t, "2001:db8:1:ffff::2", right).want(http.StatusOK)
	})
	t.Run("a header of somebody who is no trusted proxy changes nothing", func(t *testing.T) {
		alone := startOnOne(t)
		for failed := range 19 {
			alone.as("Authorization", "Bearer guessed").from(fmt.Sprintf("198.51.%d.1", failed)).run("webhook.list").refused(http.StatusUnauthorized)
		}
		alone.as("Authorization", "Bearer guessed").from("203.0.113.1").run("webhook.list").heldUp()
	})
}
