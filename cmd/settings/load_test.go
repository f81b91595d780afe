package settings_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/spf13/pflag"

	"hooklog/cmd/settings"
	"hooklog/domain/secret"
)

// load runs the whole way from a command line and an environment to a Config.
func load(t *testing.T, environ []string, args ...string) (settings.Config, error) {
	t.Helper()
	set := pflag.NewFlagSet("hooklog", pflag.ContinueOnError)
	flags := settings.NewFlags(set)
	if err := set.Parse(args); err != nil {
		t.Fatal(err)
	}
	return flags.Load(environ)
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hooklog.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func mustLoad(t *testing.T, environ []string, args ...string) settings.Config {
	t.Helper()
	cfg, err := load(t, environ, args...)
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

func TestNothingGivenIsTheDefault(t *testing.T) {
	got := mustLoad(t, nil)
	if diff := cmp.Diff(settings.Default(), got, cmpopts.IgnoreTypes(secret.Password{})); diff != "" {
		t.Error(diff)
	}
	if !got.Embedded() || got.EffectivePartitions() != 1 || got.EffectiveReplication() != 1 {
		t.Error("the default is not one embedded broker with single partitions")
	}
}

func TestLaterSourcesWin(t *testing.T) {
	file := write(t, `
listen: 127.0.0.1:1001
data-dir: from-file
result-window: 1s
poll-hold: 5s
embedded-sync: false
`)
	environ := []string{"HOOKLOG_DATA_DIR=from-env", "HOOKLOG_RESULT_WINDOW=2s", "HOOKLOG_LOG_LEVEL=", "HOOKLOG_FUTURE=1"}
	cfg := mustLoad(t, environ, "--config", file, "--result-window", "3s", "--ops-listen=")

	want := settings.Default()
	want.Listen = "127.0.0.1:1001"
	want.DataDir = "from-env"
	want.ResultWindow = 3 * time.Second
	want.PollHold = 5 * time.Second
	want.EmbeddedSync = false
	want.OpsListen = ""
	if diff := cmp.Diff(want, cfg, cmpopts.IgnoreTypes(secret.Password{})); diff != "" {
		t.Error(diff)
	}
}

func TestFile(t *testing.T) {
	t.Run("the environment names it too, and the flag wins", func(t *testing.T) {
		first, second := write(t, "log-level: debug"), write(t, "log-level: warn")
		if got := mustLoad(t, []string{"HOOKLOG_CONFIG=" + first}).LogLevel; got != "debug" {
			t.Errorf("from HOOKLOG_CONFIG: %q", got)
		}
		if got := mustLoad(t, []string{"HOOKLOG_CONFIG=" + first}, "--config", second).LogLevel; got != "warn" {
			t.Errorf("from --config: %q", got)
		}
	})
	t.Run("an empty one keeps the defaults", func(t *testing.T) {
		mustLoad(t, nil, "--config", write(t, "# nothing yet\n"))
	})

	faulty := map[string]struct{ text, want string }{
		"an unknown key is named with its line":     {"listen: 127.0.0.1:1\nlisen: x\n", `line 2: there is no setting "lisen"`},
		"a secret is sent to the environment":       {"admin-password: x\n", "set HOOKLOG_ADMIN_PASSWORD"},
		"a number without a unit is no duration":    {"\n\npoll-hold: 5\n", "line 3: cannot unmarshal !!int `5` here; write a duration with its unit"},
		"a text is no number":                       {"partitions: many\n", "write a whole number"},
		"a single text is no list":                  {"brokers: one:9092\n", "write a list"},
		"a key given twice is a fault":              {"listen: 127.0.0.1:1\nlisten: 127.0.0.1:2\n", "already defined at line 1"},
		"a second document is a fault":              {"listen: 127.0.0.1:1\n---\nlisten: 127.0.0.1:2\n", "more than one document"},
		"what is no YAML is a fault with its place": {"listen: [", "hooklog.yaml: yaml: line 1"},
	}
	for name, tc := range faulty {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, nil, "--config", write(t, tc.text))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v, want %q", err, tc.want)
			}
		})
	}
	t.Run("one that is missing is a fault", func(t *testing.T) {
		if _, err := load(t, nil, "--config", filepath.Join(t.TempDir(), "none.yaml")); err == nil {
			t.Error("no error")
		}
	})
}

func TestEverySourcesFaultsAreReportedAtOnce(t *testing.T) {
	file := write(t, "lisen: x\nreplication: three\n")
	environ := []string{"HOOKLOG_PARTITIONS=many", "HOOKLOG_POLL_HOLD=5", "HOOKLOG_BROKER_TLS=perhaps"}
	_, err := load(t, environ, "--config", file, "--log-format", "xml")
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{
		`line 1: there is no setting "lisen"`,
		"line 2: cannot unmarshal !!str `three` here; write a whole number",
		"HOOKLOG_PARTITIONS: write a whole number",
		"HOOKLOG_POLL_HOLD: write a duration with its unit",
		"HOOKLOG_BROKER_TLS: write true or false",
		`log-format: "xml" is not known; write one of text, json`,
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
}

func TestSecrets(t *testing.T) {
	environ := []string{
		"HOOKLOG_ADMIN_PASSWORD=correct horse",
		"HOOKLOG_BROKER_PASSWORD=battery staple",
		"HOOKLOG_EMBEDDED_READER_PASSWORD=pass=word",
	}
	t.Run("come from the environment and are never printed", func(t *testing.T) {
		cfg := mustLoad(t, environ)
		if cfg.AdminPassword.Reveal() != "correct horse" || cfg.BrokerPassword.Reveal() != "battery staple" ||
			cfg.EmbeddedReaderPassword.Reveal() != "pass=word" {
			t.Error("a password was not taken from its variable")
		}
		for _, verb := range []string{"%v", "%+v", "%#v"} {
			shown := fmt.Sprintf(verb, cfg)
			if !strings.Contains(shown, "127.0.0.1:8080") || strings.Contains(shown, "horse") || strings.Contains(shown, "staple") {
				t.Errorf("%s shows %s", verb, shown)
			}
		}
	})
	t.Run("the brokers' password may lie in a file", func(t *testing.T) {
		cfg := mustLoad(t, nil, "--broker-password-file", write(t, "battery staple\n"))
		if got := cfg.BrokerPassword.Reveal(); got != "battery staple" {
			t.Errorf("read %q", got)
		}
	})
	t.Run("the brokers' password comes from one place", func(t *testing.T) {
		if _, err := load(t, environ, "--broker-password-file", write(t, "other")); err == nil {
			t.Error("two passwords were taken")
		}
	})
	t.Run("an empty or missing password file is a fault", func(t *testing.T) {
		for _, path := range []string{write(t, "\n"), filepath.Join(t.TempDir(), "none")} {
			if _, err := load(t, nil, "--broker-password-file", path); err == nil {
				t.Errorf("%s was taken", path)
			}
		}
	})
}

func TestDerivedValues(t *testing.T) {
	listening := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 4711}
	t.Run("the base URL follows the listener unless it is set", func(t *testing.T) {
		for want, args := range map[string][]string{
			"http://127.0.0.1:4711":      nil,
			"https://127.0.0.1:4711":     {"--tls-cert", "c.pem", "--tls-key", "k.pem"},
			"https://hooks.example.org":  {"--base-url", "https://hooks.example.org/"},
			"https://example.org/a/path": {"--base-url", "https://example.org/a/path"},
		} {
			if got := mustLoad(t, nil, args...).BaseURLAt(listening); got != want {
				t.Errorf("%v: %q, want %q", args, got, want)
			}
		}
	})
	t.Run("brokers bring partitions, replication and a ring of their own", func(t *testing.T) {
		cfg := mustLoad(t, []string{"HOOKLOG_BROKERS=one:9092, two:9092"}, "--key-ring", "/etc/hooklog/ring", "--partitions", "12")
		if diff := cmp.Diff([]string{"one:9092", "two:9092"}, cfg.Brokers); diff != "" {
			t.Error(diff)
		}
		if cfg.Embedded() || cfg.EffectivePartitions() != 12 || cfg.EffectiveReplication() != 3 || cfg.KeyRingPath() != "/etc/hooklog/ring" {
			t.Errorf("got %+v", cfg)
		}
	})
	t.Run("the folders lie in the data folder", func(t *testing.T) {
		cfg := mustLoad(t, nil, "--data-dir", "d")
		got := []string{cfg.KeysDir(), cfg.StateDir(), cfg.KeyRingPath()}
		if diff := cmp.Diff([]string{"d/keys", "d/state", "d/keys/ring"}, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWhoOnlyReadsTheLogNeedsNoKeyRing(t *testing.T) {
	read := func(args ...string) (settings.Config, error) {
		set := pflag.NewFlagSet("hooklog", pflag.ContinueOnError)
		flags := settings.NewFlags(set)
		if err := set.Parse(args); err != nil {
			t.Fatal(err)
		}
		return flags.LoadToRead(nil)
	}
	cfg, err := read("--brokers", "kafka:9092", "--call-retention", "720h")
	if err != nil || len(cfg.Brokers) != 1 || cfg.CallRetention != 720*time.Hour {
		t.Error(cfg.Brokers, cfg.CallRetention, err)
	}
	for _, wrong := range [][]string{{"--brokers", "kafka"}, {"--data-dir", ""}, {"--broker-tls"}, {"--call-retention", "720h"}, {"--log-level", "loud"}} {
		if _, err := read(wrong...); err == nil {
			t.Errorf("%v is taken", wrong)
		}
	}
}
