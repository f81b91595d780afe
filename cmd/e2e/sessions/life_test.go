package sessions_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"hooklog/domain/secret"
	"hooklog/domain/session"
)

func TestWhatOneInstanceGivesTheOtherTakesAtOnce(t *testing.T) {
	w := newWorld(t)
	one, two := w.join(), w.join()
	t.Run("a family opened here is rotated there, and so on", func(t *testing.T) {
		here, there := one, two
		for token, n := w.open(one), 0; n < 20; n++ {
			here, there = there, here
			token = w.rotate(here, token)
			if _, err := there.Alive(t.Context(), token); err != nil {
				t.Fatalf("after %d rotations: %v", n, err)
			}
		}
	})
	t.Run("a lost answer is asked for again at the other instance, within the grace", func(t *testing.T) {
		first := w.open(one)
		lost := w.rotate(one, first)
		w.pass(30 * time.Second)
		again := w.rotate(two, first)
		w.pass(time.Millisecond)
		if _, err := one.Alive(t.Context(), first); reason(t, err) != session.Unknown {
			t.Errorf("the predecessor outlives its grace: %v", err)
		}
		for _, token := range []secret.Password{lost, again} {
			if _, err := one.Alive(t.Context(), token); err != nil {
				t.Errorf("a successor is not alive: %v", err)
			}
		}
		if _, _, err := one.Rotate(t.Context(), first, client); reason(t, err) != session.Reused {
			t.Errorf("the predecessor came to %v", err)
		}
		if _, _, err := two.Rotate(t.Context(), again, client); reason(t, err) != session.Over {
			t.Errorf("the family goes on at the other instance: %v", err)
		}
	})
	t.Run("a family expires on both", func(t *testing.T) {
		token := w.rotate(two, w.open(one))
		w.pass(life)
		for _, i := range []*instance{one, two} {
			if _, _, err := i.Rotate(t.Context(), token, client); reason(t, err) != session.Expired {
				t.Errorf("got %v", err)
			}
		}
	})
}

// A token is looked for, in parts too, in all that its life leaves behind.
func TestNoTokenIsLeftInTheClear(t *testing.T) {
	w := newWorld(t)
	one, two := w.join(), w.join()
	tokens := []secret.Password{w.open(one)}
	for n := range 5 {
		tokens = append(tokens, w.rotate([]*instance{one, two}[n%2], tokens[n]))
	}
	_, _, reused := one.Rotate(t.Context(), tokens[0], client)
	_, over := one.Alive(t.Context(), tokens[5])
	if reason(t, reused) != session.Reused || reason(t, over) == "" {
		t.Fatalf("got %v, %v", reused, over)
	}
	var onLog strings.Builder
	for _, r := range w.records(one) {
		onLog.Write(r.Key)
		onLog.Write(r.Value)
	}
	last, err := session.ParseToken(tokens[5])
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range []struct{ name, text, holds string }{
		{"the records", onLog.String(), last.Hash().String()},
		{"the files of the log", w.files(), last.Hash().String()},
		{"the rows of one", w.dump(one), last.Family().String()},
		{"the rows of the other", w.dump(two), last.Family().String()},
		{"the log lines", w.lines.String(), "Refresh token came again"},
		{"the errors", reused.Error() + over.Error(), "refused: reused"},
	} {
		if !strings.Contains(place.text, place.holds) {
			t.Errorf("the search does not see what is in %s", place.name)
		}
		for n, token := range tokens {
			for _, part := range strings.Split(token.Reveal(), ".") {
				if strings.Contains(place.text, part) {
					t.Errorf("token %d lies in the clear in %s", n, place.name)
				}
			}
		}
	}
}

// files is the content of all files of the embedded log.
func (w *world) files() string {
	w.t.Helper()
	var all strings.Builder
	folder := os.DirFS(w.dir)
	err := fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(folder, path)
		all.Write(content)
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return all.String()
}
