//go:build faults

package faults_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
)

// canary is a secret that is looked for in every form from which it could be
// read again. Its core is what is looked for: it is a part of the secret only,
// so that a secret that was cut or quoted is found as well.
type canary struct {
	name, text string
	// Folded forms are compared in lower case: header names change theirs.
	folded, exact map[string][]byte
}

func newCanary(name, text, core string) canary {
	lower := strings.ToLower(core)
	escaped := ""
	for _, b := range []byte(core) {
		escaped += fmt.Sprintf(`\u%04x`, b)
	}
	c := canary{
		name: name, text: text,
		folded: map[string][]byte{
			"plain":         []byte(lower),
			"hexadecimal":   []byte(hex.EncodeToString([]byte(core))),
			"percent":       []byte(strings.ToLower(percent(core))),
			"JSON escapes":  []byte(escaped),
			"without signs": []byte(strings.ReplaceAll(lower, "-", "")),
		},
		exact: map[string][]byte{},
	}
	// What stands before it decides how the bits of a text fall into base64. Its
	// first and its last character share their bits with neighbours.
	for before := range 3 {
		encoded := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + core))
		c.exact[fmt.Sprint("base64 at ", before)] = []byte(encoded[before+min(before, 1) : len(encoded)-1])
	}
	return c
}

// tokenCanary leaves the end of a token out, which everybody may see.
func tokenCanary(name, token string) canary { return newCanary(name, token, token[4:30]) }

func newTokenCanary(name string) canary { return tokenCanary(name, uuid.NewString()) }

// newPasswordCanary has characters that are written otherwise in a URL, in JSON
// and in a shell.
func newPasswordCanary(name string) canary {
	core := "pass" + strings.ReplaceAll(uuid.NewString(), "-", "")
	return newCanary(name, `€ "`+core+`'&%`, core)
}

// lowered changes ASCII letters only, so that every byte keeps its place.
func lowered(text []byte) []byte {
	lower := bytes.Clone(text)
	for i, b := range lower {
		if 'A' <= b && b <= 'Z' {
			lower[i] = b + 'a' - 'A'
		}
	}
	return lower
}

// find gives the forms in which the canary stands in the text.
func (c canary) find(text []byte) (forms []string) {
	folded := lowered(text)
	for form, needle := range c.folded {
		if bytes.Contains(folded, needle) {
			forms = append(forms, form)
		}
	}
	for form, needle := range c.exact {
		if bytes.Contains(text, needle) {
			forms = append(forms, form)
		}
	}
	return forms
}

func TestTheSearchFindsASecretInEveryForm(t *testing.T) {
	c := newTokenCanary("token")
	const head, tail = `{"some":"thing","u":"http://host/?t=`, `&x=1"}`
	whole := []byte(head + c.text + tail)
	for form, text := range map[string]string{
		"plain":                  string(whole),
		"in capitals":            strings.ToUpper(string(whole)),
		"cut":                    head + c.text[:31],
		"hexadecimal":            hex.EncodeToString(whole),
		"percent":                head + percent(c.text) + tail,
		"base64":                 base64.StdEncoding.EncodeToString(whole),
		"base64 one further":     base64.StdEncoding.EncodeToString(append([]byte("1"), whole...)),
		"base64 two further":     base64.URLEncoding.EncodeToString(append([]byte("22"), whole...)),
		"quoted":                 fmt.Sprintf("%q", whole),
		"as the bytes of a dump": fmt.Sprintf("%q", head+percent(c.text)),
	} {
		if len(c.find([]byte(text))) == 0 {
			t.Errorf("not found %s", form)
		}
	}
	for _, clean := range []string{"", c.text[:25], c.text[30:], newTokenCanary("other").text} {
		if forms := c.find([]byte(clean)); len(forms) > 0 {
			t.Errorf("found in %q as %v", clean, forms)
		}
	}
}

// search looks through places for what must not be there.
type search struct {
	t        *testing.T
	canaries []canary
	places   int
	bytes    int
}

// clean fails the test where a canary stands in the place. What was planted there
// has to be found first: a search that cannot find says nothing.
func (s *search) clean(place string, text []byte, planted string) {
	s.t.Helper()
	if plant := newCanary("plant", planted, planted); len(plant.find(text)) == 0 {
		s.t.Errorf("%s: what was planted there is not found in %d bytes", place, len(text))
	}
	for _, c := range s.canaries {
		if forms := c.find(text); len(forms) > 0 {
			s.t.Errorf("%s: the %s is there (%s): %s", place, c.name, strings.Join(forms, ", "), c.around(text))
		}
	}
	s.places++
	s.bytes += len(text)
}

// around is where the canary was found.
func (c canary) around(text []byte) string {
	folded := lowered(text)
	for _, needle := range c.folded {
		if i := bytes.Index(folded, needle); i >= 0 {
			return fmt.Sprintf("%q", text[max(0, i-200):min(len(text), i+len(needle)+40)])
		}
	}
	return "encoded"
}

// unusedAddress is on loopback, and nobody listens on it.
func unusedAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// filesBelow is everything in the files below a folder, with their names.
func filesBelow(t *testing.T, folder string) []byte {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		fmt.Fprintf(&all, "\n%s\n", path)
		all.Write(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}
