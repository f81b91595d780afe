package forward_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"hooklog/cmd/cli/forward"
)

func TestProgressIsReadAgain(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "new")
	open := func(names ...string) *forward.Progress {
		t.Helper()
		p, err := forward.OpenProgress(folder, names...)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	p := open("service", "webhook")
	if p.Cursor() != "" || p.Answered("one") {
		t.Error("it begins with something")
	}
	if err := errors.Join(p.Move("here"), p.Mark("one"), p.Move("here")); err != nil {
		t.Fatal(err)
	}
	if _, err := forward.OpenProgress(folder, "service", "webhook"); !errors.Is(err, forward.ErrInUse) {
		t.Errorf("two have it: %v", err)
	}
	_ = p.Close()
	p = open("service", "webhook")
	if p.Cursor() != "here" || !p.Answered("one") || p.Answered("two") {
		t.Error("it was forgotten")
	}
	if err := p.Move("there"); err != nil || p.Answered("one") {
		t.Error("what is in front of the cursor is kept:", err)
	}
	if other := open("service", "other"); other.Cursor() != "" {
		t.Error("it is shared")
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("others can read %s", e.Name())
		}
	}
}

func TestProgressThatCannotBeReadIsNoBeginning(t *testing.T) {
	folder := t.TempDir()
	p, err := forward.OpenProgress(folder, "a")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(p.Move("here"), p.Close()); err != nil {
		t.Fatal(err)
	}
	found, _ := filepath.Glob(filepath.Join(folder, "*.json"))
	if err := os.WriteFile(found[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := forward.OpenProgress(folder, "a"); err == nil {
		t.Error("it was taken")
	}
}
