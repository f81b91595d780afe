package settings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"regexp"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"go.yaml.in/yaml/v3"
)

// fromFile reads the YAML file strictly: what it does not know is a fault.
func (c *Config) fromFile(path string) []error {
	text, err := os.ReadFile(path)
	if err != nil {
		return []error{fmt.Errorf("config: %w", err)}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	err = decoder.Decode(c)

	var wrong *yaml.TypeError
	switch {
	case errors.As(err, &wrong):
		faults := make([]error, 0, len(wrong.Errors))
		for _, message := range wrong.Errors {
			faults = append(faults, fmt.Errorf("%s: %s", path, explain(message)))
		}
		return faults
	case errors.Is(err, io.EOF): // an empty file keeps the defaults
		return nil
	case err != nil:
		return []error{fmt.Errorf("%s: %w", path, err)}
	}
	if !errors.Is(decoder.Decode(new(yaml.Node)), io.EOF) {
		return []error{fmt.Errorf("%s: holds more than one document; write all settings into the first", path)}
	}
	return nil
}

var (
	unknownKey = regexp.MustCompile(`(?s)field (.*) not found in type \S+$`)
	wrongType  = regexp.MustCompile(`into (\S+)$`)
)

// explain turns the decoder's words about Go types into words about settings.
// It leaves the line number in front, and what it does not recognise, as it is.
func explain(message string) string {
	if found := unknownKey.FindStringSubmatchIndex(message); found != nil {
		name := message[found[2]:found[3]]
		hint := "hooklog serve --help lists them"
		if variable := envName(name); isSecret(variable) {
			hint = "a secret is not written into the file, set " + variable
		}
		return fmt.Sprintf("%sthere is no setting %q; %s", message[:found[0]], name, hint)
	}
	if found := wrongType.FindStringSubmatchIndex(message); found != nil {
		if want := form(message[found[2]:found[3]]); want != "" {
			return message[:found[0]] + "here; write " + want
		}
		// The file is no map at all, perhaps one with a password: it is not quoted.
		return "this is no list of settings; write them as name: value, each on a line of its own"
	}
	return message
}

// fromEnvironment reads the HOOKLOG_ variables. An empty one counts as not set.
func (c *Config) fromEnvironment(variables map[string]string) []error {
	err := env.ParseWithOptions(c, env.Options{Prefix: envPrefix, Environment: variables})
	var all env.AggregateError
	if !errors.As(err, &all) {
		return []error{err}
	}
	faults := make([]error, 0, len(all.Errors))
	for _, one := range all.Errors {
		var wrong env.ParseError
		if errors.As(one, &wrong) {
			field, _ := reflect.TypeFor[Config]().FieldByName(wrong.Name)
			one = fmt.Errorf("%s%s: write %s", envPrefix, field.Tag.Get("env"), form(wrong.Type.String()))
		}
		faults = append(faults, one)
	}
	return faults
}

// form says how a value of the Go type is written, for every type in Config
// that can be written wrong.
func form(goType string) string {
	switch goType {
	case reflect.TypeFor[int]().String():
		return "a whole number, such as 6"
	case reflect.TypeFor[bool]().String():
		return "true or false"
	case reflect.TypeFor[time.Duration]().String():
		return "a duration with its unit, such as 200ms, 25s or 24h"
	case reflect.TypeFor[[]string]().String():
		return "a list, such as [one:9092, two:9092]"
	case reflect.TypeFor[string]().String():
		return "a text"
	}
	return ""
}

// variables is os.Environ as a map.
func variables(environ []string) map[string]string {
	all := make(map[string]string, len(environ))
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		all[name] = value
	}
	return all
}

// envName is the environment variable of the setting.
func envName(name string) string {
	return envPrefix + strings.ToUpper(strings.ReplaceAll(name, "-", "_"))
}

// isSecret reports that the variable is one that has no name elsewhere.
func isSecret(variable string) bool {
	for field := range reflect.TypeFor[Config]().Fields() {
		if field.Tag.Get("yaml") == "-" && envPrefix+field.Tag.Get("env") == variable {
			return true
		}
	}
	return false
}
