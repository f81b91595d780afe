package event_test

import (
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"hooklog/domain/event"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

type found struct {
	value string
	found bool
	twice bool
}

func TestTokenInJSON(t *testing.T) {
	const quoted = `"` + tokenText + `"`
	none, malformed, twice := found{}, found{found: true}, found{found: true, twice: true}
	for name, test := range map[string]struct {
		body string
		want found
	}{
		"is found alone":               {`{"token":` + quoted + `}`, found{value: tokenText, found: true}},
		"is found among others":        {` { "a" : {"token":1,"b":["}",{}]} , "token" : ` + quoted + ` , "c":null } `, found{value: tokenText, found: true}},
		"is found last":                {`{"a":"\\\"","b":[[1,2],{"x":{}}],"c":-1e5,"token":` + quoted + "\n}", found{value: tokenText, found: true}},
		"is found by an escaped name":  {`{"\u0074oken":` + quoted + `}`, found{value: tokenText, found: true}},
		"is not found in nothing":      {``, none},
		"is not found in an empty one": {` {} `, none},
		"is not found below the top":   {`{"a":{"token":` + quoted + `}}`, none},
		"is not found in an array":     {`[{"token":` + quoted + `}]`, none},
		"is not found in a string":     {`"{\"token\":1}"`, none},
		"is not found in other case":   {`{"Token":` + quoted + `,"token ":` + quoted + `,"tokens":1,"\\token":2}`, none},
		"is not found in no JSON":      {`{"token":` + quoted, none},
		"is not found before garbage":  {`{"token":` + quoted + `}}`, none},
		"is malformed with escapes":    {`{"token":"\u0063` + tokenText[1:] + `"}`, malformed},
		"is malformed as a number":     {`{"token":1}`, malformed},
		"is malformed as null":         {`{"token":null}`, malformed},
		"is malformed as an array":     {`{"token":[` + quoted + `]}`, malformed},
		"is malformed when short":      {`{"token":"` + tokenText[1:] + `"}`, malformed},
		"is malformed when empty":      {`{"token":""}`, malformed},
		"twice is a fault":             {`{"token":` + quoted + `,"a":1,"token":` + quoted + `}`, twice},
		"twice by escapes is a fault":  {`{"token":1,"tok\u0065n":2}`, twice},
	} {
		t.Run(name, func(t *testing.T) {
			value, ok, err := event.TokenInJSON([]byte(test.body))
			checkFound(t, found{value, ok, fault.Is(err, fault.Invalid)}, test.want)
		})
	}
}

func TestTokenInForm(t *testing.T) {
	none, malformed, twice := found{}, found{found: true}, found{found: true, twice: true}
	for name, test := range map[string]struct {
		body string
		want found
	}{
		"is found alone":               {"token=" + tokenText, found{value: tokenText, found: true}},
		"is found among others":        {"a=b&&token=" + tokenText + "&c", found{value: tokenText, found: true}},
		"is found by an encoded name":  {"%74o%6Ben=" + tokenText, found{value: tokenText, found: true}},
		"is not found in nothing":      {"", none},
		"is not found in other case":   {"Token=" + tokenText, none},
		"is not found with more":       {"token+=1&token%00=1&tokens=1&a=token&%74oke=1&toke%6=1", none},
		"is malformed when encoded":    {"token=" + strings.ReplaceAll(tokenText, "-", "%2D"), malformed},
		"is malformed without a value": {"token", malformed},
		"is malformed when short":      {"token=" + tokenText[1:], malformed},
		"twice is a fault":             {"token=" + tokenText + "&a&token=" + tokenText, twice},
		"twice by escapes is a fault":  {"token=1&toke%6e", twice},
	} {
		t.Run(name, func(t *testing.T) {
			value, ok, err := event.TokenInForm([]byte(test.body))
			checkFound(t, found{value, ok, fault.Is(err, fault.Invalid)}, test.want)
		})
	}
}

func checkFound(t *testing.T, got, want found) {
	t.Helper()
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// A token that is found must be one that overwriting finds too, and a decoder
// must see the same one.
func FuzzTokenInJSON(f *testing.F) {
	for _, seed := range []string{
		`{"token":"` + tokenText + `"}`, `{"a":[{"}":"\""}],"token":"x","\u0074oken":1}`, `[]`, `{}`, `{"a":"\\"}`, `{"\ud800":1}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		value, ok, err := event.TokenInJSON(body)
		var object map[string]json.RawMessage
		isObject := json.Unmarshal(body, &object) == nil && object != nil
		last, has := object["token"]
		if ok != (isObject && has) {
			t.Fatalf("found %v in %q, a decoder %v", ok, body, has)
		}
		if tok, bad := secret.ParseToken(value); bad == nil && err == nil {
			if string(last) != `"`+value+`"` {
				t.Fatalf("found %q, a decoder %s", value, last)
			}
			event.Overwrite(body, tok)
			if again, _, _ := event.TokenInJSON(body); again == value && value != nilUUID {
				t.Fatalf("not overwritten in %q", body)
			}
		}
	})
}

func FuzzTokenInForm(f *testing.F) {
	for _, seed := range []string{"token=" + tokenText, "a=b&tok%65n=" + tokenText + "&token=1", "&=&", "a;token=1"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		value, ok, err := event.TokenInForm(body)
		// A decoder refuses semicolons; here they are characters like others.
		values, _ := url.ParseQuery(strings.ReplaceAll(string(body), ";", "."))
		if decoded := values["token"]; len(decoded) > 0 && !ok || len(decoded) > 1 && err == nil {
			t.Fatalf("found %v, %v in %q, a decoder %q", ok, err, body, decoded)
		}
		if _, bad := secret.ParseToken(value); bad == nil && err == nil {
			if len(values["token"]) != 1 || values["token"][0] != value {
				t.Fatalf("found %q, a decoder %q", value, values["token"])
			}
		}
	})
}
