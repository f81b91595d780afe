package contexts_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"hooklog/cmd/cli/contexts"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
	"hooklog/transport/client"
)

func open(t *testing.T) contexts.File {
	t.Helper()
	file := contexts.Open(filepath.Join(t.TempDir(), "new", "contexts.yaml"))
	return file
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	file := open(t)
	if set, err := file.Read(); err != nil || len(set.Contexts) != 0 {
		t.Fatal("no file holds something:", set, err)
	}
	ends := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	err := file.Change(t.Context(), func(set *contexts.Set) error {
		set.Put(contexts.Context{Name: "a", URL: "http://one"})
		set.Put(contexts.Context{Name: "a", URL: "http://two", Token: contexts.Token{
			Access: secret.NewPassword("the-access"), Refresh: secret.NewPassword("the-refresh"), Expires: ends,
		}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	set, err := file.Read()
	if err != nil || len(set.Contexts) != 1 {
		t.Fatal(set, err)
	}
	c, err := set.Find("a")
	if err != nil || c.URL != "http://two" || c.Token.Access.Reveal() != "the-access" || c.Token.Refresh.Reveal() != "the-refresh" || !c.Token.Expires.Equal(ends) {
		t.Errorf("%v %v", c, err)
	}
	if text := fmt.Sprintf("%v %+v %#v", set, set, set); strings.Contains(text, "the-") {
		t.Errorf("tokens can be printed: %s", text)
	}
	if info, err := os.Stat(file.Path()); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}

func TestAFailedChangeWritesNothing(t *testing.T) {
	file := open(t)
	refusal := errors.New("no")
	err := file.Change(t.Context(), func(set *contexts.Set) error {
		set.Put(contexts.Context{Name: "a"})
		return refusal
	})
	if set, _ := file.Read(); !errors.Is(err, refusal) || len(set.Contexts) != 0 {
		t.Error(set, err)
	}
}

func TestChangesAtTheSameTimeAreAllKept(t *testing.T) {
	file := open(t)
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			err := file.Change(t.Context(), func(set *contexts.Set) error {
				set.Put(contexts.Context{Name: fmt.Sprint(i)})
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if set, err := file.Read(); err != nil || len(set.Contexts) != 20 {
		t.Errorf("%d contexts, %v", len(set.Contexts), err)
	}
}

func TestAFileThatCannotBeReadIsNotQuoted(t *testing.T) {
	file := open(t)
	if err := os.MkdirAll(filepath.Dir(file.Path()), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"contexts: the-token", "unknown: the-token", "contexts: [{name: a, token: the-token}]"} {
		if err := os.WriteFile(file.Path(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := file.Read(); err == nil || strings.Contains(err.Error(), "the-token") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestASessionThatNothingRenewsHasEnded(t *testing.T) {
	file := open(t)
	now := time.Now()
	put := func(token contexts.Token) {
		err := file.Change(t.Context(), func(set *contexts.Set) error {
			set.Put(contexts.Context{Name: "a", URL: "http://127.0.0.1:1", Token: token})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	session := contexts.Session{File: file, Name: "a", URL: "http://127.0.0.1:1", Now: func() time.Time { return now }}

	put(contexts.Token{Access: secret.NewPassword("living"), Expires: now.Add(time.Minute)})
	if header, err := session.Authorization(t.Context(), ""); err != nil || header != "Bearer living" {
		t.Errorf("%q %v", header, err)
	}
	for name, refused := range map[string]string{"it was refused": "Bearer living", "it ends soon": ""} {
		if refused == "" {
			put(contexts.Token{Access: secret.NewPassword("living"), Expires: now.Add(time.Second)})
		}
		_, err := session.Authorization(t.Context(), refused)
		var refusal *client.Refusal
		if !errors.As(err, &refusal) || refusal.Kind != fault.Unauthenticated || !strings.Contains(refusal.Hint, "hooklog login --context a") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestATokenIsNotForTheServiceThatTheContextHadBefore(t *testing.T) {
	file := open(t)
	err := file.Change(t.Context(), func(set *contexts.Set) error {
		set.Put(contexts.Context{Name: "a", URL: "https://new", Token: contexts.Token{Access: secret.NewPassword("of the new one")}})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	session := contexts.Session{File: file, Name: "a", URL: "https://old", Now: time.Now}
	header, err := session.Authorization(t.Context(), "")
	var refusal *client.Refusal
	if header != "" || !errors.As(err, &refusal) || refusal.Kind != fault.Unauthenticated {
		t.Errorf("%q %v", header, err)
	}
}

func TestAFileThatOthersCanReadIsNotUsed(t *testing.T) {
	file := open(t)
	if err := file.Change(t.Context(), func(set *contexts.Set) error { set.Put(contexts.Context{Name: "a"}); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file.Path(), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Read(); err == nil || !strings.Contains(err.Error(), "chmod 600 "+file.Path()) {
		t.Error(err)
	}
}
