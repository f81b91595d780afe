package secret_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"hooklog/domain/secret"
)

// Three secrets that no printing could produce by chance.
const (
	plantedToken    = "5eedc0de-1234-4abc-8def-0123456789ab"
	plantedPassword = "correct horse battery staple"
	plantedSealed   = "c2VhbGVkLXZhbHVl.planted"
)

// place is a way in which a value lies inside what is printed.
type place struct {
	name  string
	value any
}

// places puts v everywhere a careless hand could leave it.
func places[T any](v T) []place {
	type exported struct{ Held T }
	type unexported struct{ held T }
	type nested struct {
		Name  string
		Inner exported
		inner unexported
	}
	type pointers struct {
		Held *T
		held *T
	}
	return []place{
		{"itself", v},
		{"pointer", &v},
		{"pointer to pointer", func() any { p := &v; return &p }()},
		{"exported field", exported{v}},
		{"unexported field", unexported{v}},
		{"pointer to exported field", &exported{v}},
		{"pointer to unexported field", &unexported{v}},
		{"nested struct", nested{"n", exported{v}, unexported{v}}},
		{"pointer fields", pointers{&v, &v}},
		{"slice", []T{v}},
		{"slice of structs", []unexported{{v}}},
		{"slice of any", []any{v, &v}},
		{"array", [1]T{v}},
		{"map", map[string]T{"k": v}},
		{"map of structs", map[string]unexported{"k": {v}}},
		{"map of pointers", map[string]*T{"k": &v}},
	}
}

// printer is a way to write a value down.
type printer struct {
	name  string
	print func(any) string
}

func printers() []printer {
	all := []printer{
		{"fmt.Sprint", func(v any) string { return fmt.Sprint(v) }},
		{"a wrapped error", func(v any) string { return fmt.Errorf("refused: %v", v).Error() }},
		{"json.Marshal", func(v any) string {
			b, err := json.Marshal(v)
			return string(b) + fmt.Sprint(err)
		}},
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d", "%10.3v", "%t"} {
		all = append(all, printer{"fmt " + verb, func(v any) string { return fmt.Sprintf(verb, v) }})
	}
	for name, handler := range map[string]func(*bytes.Buffer) slog.Handler{
		"slog text": func(b *bytes.Buffer) slog.Handler { return slog.NewTextHandler(b, nil) },
		"slog json": func(b *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(b, nil) },
	} {
		all = append(all, printer{name, func(v any) string {
			var b bytes.Buffer
			log := slog.New(handler(&b)).With("with", v)
			log.Info("seen", "value", v, slog.Group("group", "value", v))
			return b.String()
		}})
	}
	return all
}

// leaked finds planted in any form in which a printer writes a string. Its first
// three characters behind a space are enough: %10.3v cuts there.
func leaked(out, planted string) bool {
	out = strings.ToLower(out)
	for _, form := range []string{planted, " " + planted[:3], hex.EncodeToString([]byte(planted)), fmt.Sprintf("% x", planted[:8])} {
		if strings.Contains(out, strings.ToLower(form)) {
			return true
		}
	}
	return false
}

// The search proves itself first: the same value as a plain string is found in
// every place by some printer, and by every printer in some place.
func TestThePlantedValueIsFoundWhereItIsNotProtected(t *testing.T) {
	for _, planted := range []string{plantedToken, plantedPassword, plantedSealed} {
		foundIn, foundBy := map[string]bool{}, map[string]bool{}
		for _, at := range places(planted) {
			for _, p := range printers() {
				if leaked(p.print(at.value), planted) {
					foundIn[at.name], foundBy[p.name] = true, true
				}
			}
		}
		for _, at := range places(planted) {
			if !foundIn[at.name] {
				t.Errorf("no printer finds %q in: %s", planted, at.name)
			}
		}
		for _, p := range printers() {
			if !foundBy[p.name] {
				t.Errorf("%s finds %q nowhere", p.name, planted)
			}
		}
	}
}

func TestNoPrinterShowsASecret(t *testing.T) {
	token, err := secret.ParseToken(plantedToken)
	if err != nil {
		t.Fatal(err)
	}
	password, sealed := secret.NewPassword(plantedPassword), secret.NewSealed(plantedSealed)
	type embedded struct {
		secret.Token
		Name string
	}
	tests := []struct {
		name    string
		planted string
		reveal  func() string
		places  []place
	}{
		{"a Token", plantedToken, token.Reveal, places(token)},
		{"a Password", plantedPassword, password.Reveal, places(password)},
		{"a Sealed", plantedSealed, sealed.Reveal, places(sealed)},
		{"an embedded Token", plantedToken, embedded{Token: token}.Reveal, places(embedded{token, "n"})},
	}
	for _, tt := range tests {
		t.Run(tt.name+" is redacted wherever it lies", func(t *testing.T) {
			if got := tt.reveal(); got != tt.planted {
				t.Fatalf("the planted value is not there: %q", got)
			}
			for _, at := range tt.places {
				for _, p := range printers() {
					if out := p.print(at.value); leaked(out, tt.planted) {
						t.Errorf("%s shows it in %s: %s", p.name, at.name, out)
					}
				}
			}
		})
	}
}

func TestARedactionSaysSo(t *testing.T) {
	for _, p := range printers() {
		t.Run(p.name+" writes the redaction", func(t *testing.T) {
			if out := p.print(secret.NewPassword(plantedPassword)); !strings.Contains(out, "[redacted]") {
				t.Errorf("the output is %q", out)
			}
		})
	}
}
