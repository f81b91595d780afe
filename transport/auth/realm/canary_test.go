package realm_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"hooklog/domain/secret"
)

// The canaries are found where they are planted, and nowhere else.
func TestNoSecretIsInALogLineARecordOrAnError(t *testing.T) {
	w := newWorld(t)
	shop := []string{"client_id", "shop", "client_secret", "of the shop"}
	login := w.post(t, append([]string{"grant_type", "password", "username", "kim", "password", password}, shop...)...)
	rotated := w.post(t, append([]string{"grant_type", "refresh_token", "refresh_token", login.Refresh}, shop...)...)
	if login.status != http.StatusOK || rotated.status != http.StatusOK {
		t.Fatalf("%s, %s", login, rotated)
	}
	canaries := map[string]string{
		"password": password, "client secret": "of the shop", "access token": login.Access,
		"refresh token": login.Refresh, "successor": rotated.Refresh,
	}
	var planted, answers, records strings.Builder
	for _, canary := range canaries {
		fmt.Fprintln(&planted, canary)
		// Each where it does not belong.
		for _, pairs := range [][]string{
			{"grant_type", canary, "client_id", "hooklog"},
			{"grant_type", "password", "client_id", canary, "client_secret", canary, "username", canary, "password", canary},
			{"grant_type", "password", "client_id", "hooklog", "username", canary, "password", canary + "x"},
			{"grant_type", "refresh_token", "client_id", "hooklog", "refresh_token", canary + "x"},
			{"grant_type", "password", "client_id", "hooklog", "scope", canary},
		} {
			got := w.post(t, pairs...)
			if got.status == http.StatusOK {
				t.Errorf("%v were taken", pairs)
			}
			fmt.Fprintln(&answers, got, got.header)
		}
		for _, scheme := range []string{"Bearer", "Refresh", "Basic"} {
			_, err := w.call(scheme, canary+"x")
			fmt.Fprintf(&answers, "%v %+v\n", err, err)
		}
		w.clock.advance(time.Minute)
	}
	w.people.change(func(p *people) { // which brings a log line
		p.keys[0].ID, p.keys[0].Sealed = "broken", secret.NewSealed("1.x.y")
	})
	if got := w.post(t, append([]string{"grant_type", "password", "username", "kim", "password", password}, shop...)...); got.status != http.StatusServiceUnavailable {
		t.Errorf("got %s", got)
	}
	for _, r := range w.journal.records {
		fmt.Fprintf(&records, "%s %s\n", r.Key, r.Value)
	}
	for place, text := range map[string]string{
		"planted": planted.String(), "answers": answers.String(), "records": records.String(), "log": w.log.String(),
	} {
		if text == "" {
			t.Errorf("nothing is in the %s", place)
		}
		for name, canary := range canaries {
			if found := strings.Contains(text, canary); found != (place == "planted") {
				t.Errorf("the %s in the %s: %v", name, place, found)
			}
		}
	}
}
