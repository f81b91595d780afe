package settings

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"hooklog/domain/secret"
)

// envPrefix stands before the name of every environment variable.
const envPrefix = "HOOKLOG_"

// Flags are the settings as the command line gives them.
type Flags struct {
	set   *pflag.FlagSet
	given Config
	file  string
}

// NewFlags adds a flag for every setting, and --config, to the set.
func NewFlags(set *pflag.FlagSet) *Flags {
	set.SortFlags = false // the help shows them in Config's order
	f := &Flags{set: set, given: Default()}
	set.StringVar(&f.file, "config", "", "YAML file with settings under the names of these flags (also HOOKLOG_CONFIG)")
	given := reflect.ValueOf(&f.given).Elem()
	for _, field := range named() {
		f.add(field, given.FieldByIndex(field.Index).Addr().Interface())
	}
	return f
}

func (f *Flags) add(field reflect.StructField, value any) {
	name, help := field.Tag.Get("yaml"), field.Tag.Get("help")
	switch v := value.(type) {
	case *string:
		f.set.StringVar(v, name, *v, help)
	case *bool:
		f.set.BoolVar(v, name, *v, help)
	case *int:
		f.set.IntVar(v, name, *v, help)
	case *time.Duration:
		f.set.DurationVar(v, name, *v, help)
	case *[]string:
		f.set.StringSliceVar(v, name, *v, help)
	default:
		panic(fmt.Sprintf("settings: no flag for a %T", value))
	}
}

// Load puts the settings together: defaults, the file, the environment (in the
// form of os.Environ), the flags that were given. The error names every fault
// of every source at once.
func (f *Flags) Load(environ []string) (Config, error) {
	cfg, faults := f.gather(environ)
	return cfg, errors.Join(append(faults, cfg.Validate())...)
}

// LoadToRead is Load for whoever reads the log alone: the settings of callers, of
// secrets and of runs do not matter then, and need not be there.
func (f *Flags) LoadToRead(environ []string) (Config, error) {
	cfg, faults := f.gather(environ)
	return cfg, errors.Join(append(faults, cfg.validateLog())...)
}

func (f *Flags) gather(environ []string) (Config, []error) {
	env := variables(environ)
	cfg := Default()
	var faults []error

	file := f.file
	if file == "" {
		file = env[envPrefix+"CONFIG"]
	}
	if file != "" {
		faults = append(faults, cfg.fromFile(file)...)
	}
	faults = append(faults, cfg.fromEnvironment(env)...)
	f.override(&cfg)
	cfg.tidy()
	return cfg, append(faults, cfg.readSecrets())
}

// tidy takes away what people write around a value without meaning it.
func (c *Config) tidy() {
	c.BaseURL = strings.TrimRight(c.BaseURL, "/")
	c.AuthURL = strings.TrimRight(c.AuthURL, "/")
	for _, list := range [][]string{c.Brokers, c.TrustedProxies, c.AuthorizedParties, c.MessageTopics, c.HTTPHosts} {
		for i, entry := range list {
			list[i] = strings.TrimSpace(entry)
		}
	}
}

// override copies the flags that the command line named.
func (f *Flags) override(cfg *Config) {
	from, to := reflect.ValueOf(f.given), reflect.ValueOf(cfg).Elem()
	for _, field := range named() {
		if f.set.Changed(field.Tag.Get("yaml")) {
			to.FieldByIndex(field.Index).Set(from.FieldByIndex(field.Index))
		}
	}
}

// readSecrets takes the secrets that have files from there.
func (c *Config) readSecrets() error {
	return errors.Join(
		readSecret(&c.BrokerPassword, "broker-password-file", c.BrokerPasswordFile),
		readSecret(&c.ClientSecret, "client-secret-file", c.ClientSecretFile),
	)
}

// readSecret reads the file of a setting, whose variable has its name without
// the file.
func readSecret(into *secret.Password, setting, path string) error {
	if path == "" {
		return nil
	}
	name := strings.TrimSuffix(setting, "-file")
	if !into.IsZero() {
		variable := envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
		return fmt.Errorf("%s: %s is set too; keep one of them", setting, variable)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%s: %w", setting, err)
	}
	*into = secret.NewPassword(strings.TrimRight(string(text), "\r\n"))
	if into.IsZero() {
		return fmt.Errorf("%s: %s is empty; write the %s into it", setting, path, name[strings.LastIndexByte(name, '-')+1:])
	}
	return nil
}

// named are the fields that have a name in the file and on the command line;
// the others are secrets.
func named() []reflect.StructField {
	var fields []reflect.StructField
	for field := range reflect.TypeFor[Config]().Fields() {
		if field.Tag.Get("yaml") != "-" {
			fields = append(fields, field)
		}
	}
	return fields
}
