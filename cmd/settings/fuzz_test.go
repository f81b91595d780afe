package settings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"hooklog/cmd/settings"
	"hooklog/domain/secret"
)

// FuzzFile holds that a file is refused in words for operators, or gives valid
// settings, the same each time, and never a secret.
func FuzzFile(f *testing.F) {
	path := filepath.Join(f.TempDir(), "hooklog.yaml")
	for _, seed := range []string{
		"", "---\n", "listen: 127.0.0.1:1\npoll-hold: 5s\nembedded-sync: false\npartitions: 7\n",
		"brokers: [one:9092, 'two:9092']\nkey-ring: ring\n", "listen: [", "listen: &a x\nbase-url: *a\n", "? {a: b}\n: c\n",
		"partitions: 1e3", "result-window: 12", "listen:\n\tx", "a: b\n---\nc: d", "- listen\n", "just a text", "admin-password: x",
		"<<: {listen: x}", "listen: !!binary aGk=", "log-level: null", "listen: a\nlisten: b", "\xff\xfe", "data-dir: \"\\0\"",
	} {
		f.Add([]byte(seed))
	}
	read := func() (settings.Config, error) {
		set := pflag.NewFlagSet("hooklog", pflag.ContinueOnError)
		flags := settings.NewFlags(set)
		if err := set.Parse([]string{"--config", path}); err != nil {
			return settings.Config{}, err
		}
		return flags.Load(nil)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if strings.Contains(string(text), "file") {
			t.Skip("it may name a file to read, such as one without an end")
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, err := read()
		if err != nil {
			if strings.Contains(err.Error(), "settings.") {
				t.Fatalf("the fault speaks of Go: %v", err)
			}
			return
		}
		if err := cfg.Validate(); err != nil {
			t.Fatalf("taken, and not valid: %v", err)
		}
		for _, p := range []secret.Password{cfg.AdminPassword, cfg.BrokerPassword, cfg.EmbeddedReaderPassword} {
			if !p.IsZero() {
				t.Fatal("the file gave a password")
			}
		}
		again, err := read()
		if diff := cmp.Diff(cfg, again, cmpopts.IgnoreTypes(secret.Password{})); diff != "" || err != nil {
			t.Fatalf("read otherwise the second time: %v\n%s", err, diff)
		}
	})
}
