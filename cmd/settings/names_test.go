package settings_test

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"hooklog/cmd/settings"
	"hooklog/domain/secret"
)

func TestEverySettingHasOneName(t *testing.T) {
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	settings.NewFlags(flags)
	kebab := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)

	names := map[string]bool{"config": true}
	for field := range reflect.TypeFor[settings.Config]().Fields() {
		name, variable := field.Tag.Get("yaml"), field.Tag.Get("env")
		if field.Type == reflect.TypeFor[secret.Password]() {
			name = strings.ReplaceAll(strings.ToLower(variable), "_", "-")
			if field.Tag.Get("yaml") != "-" || flags.Lookup(name) != nil {
				t.Errorf("%s is a secret and must have neither a yaml name nor a flag", field.Name)
			}
		} else {
			names[name] = true
			flag := flags.Lookup(name)
			if flag == nil {
				t.Errorf("%s: there is no flag --%s", field.Name, name)
			} else if flag.Usage == "" || flag.Usage != field.Tag.Get("help") {
				t.Errorf("%s: the flag's help is %q", field.Name, flag.Usage)
			}
		}
		if !kebab.MatchString(name) {
			t.Errorf("%s: %q is not in kebab case", field.Name, name)
		}
		if want := strings.ToUpper(strings.ReplaceAll(name, "-", "_")); variable != want {
			t.Errorf("%s: env %q, want %q", field.Name, variable, want)
		}
		if plain := strings.ReplaceAll(name, "-", ""); !strings.EqualFold(field.Name, plain) {
			t.Errorf("%s: is called %q outside", field.Name, name)
		}
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		if !names[flag.Name] {
			t.Errorf("flag --%s belongs to no field", flag.Name)
		}
	})
	if len(names) < 25 {
		t.Errorf("only %d names were compared", len(names))
	}
}
