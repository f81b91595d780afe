package catalog_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/secret"
)

const token = "5eedc0de-1234-4abc-8def-0123456789ab"

func query(name, value string) catalog.Given {
	return catalog.Given{Name: name, Value: value, Source: catalog.Query}
}

func body(name, value string) catalog.Given {
	return catalog.Given{Name: name, Value: value, Source: catalog.Body}
}

func command(t *testing.T, name string) catalog.Command {
	t.Helper()
	c, ok := catalog.Lookup(name)
	if !ok {
		t.Fatalf("the catalog has no %s", name)
	}
	return c
}

func TestBindTakes(t *testing.T) {
	tests := []struct {
		name  string
		given []catalog.Given
		then  map[string]any
	}{
		{"nothing where nothing is required", nil, map[string]any{}},
		{
			"every parameter in its type, from query and body",
			[]catalog.Given{query("uuid", token), query("eventKey", "webhook.a"), query("payloadType", "ignore"), body("maxPayloadLength", "7"), body("enabled", "false"), body("version", "3")},
			map[string]any{"uuid": token, "eventKey": "webhook.a", "payloadType": "ignore", "maxPayloadLength": 7, "enabled": false, "version": 3},
		},
		{"true as a boolean", []catalog.Given{body("enabled", "true")}, map[string]any{"enabled": true}},
		{"a negative integer, whose range is another's rule", []catalog.Given{body("version", "-1")}, map[string]any{"version": -1}},
		{"an alias under the name of its parameter", []catalog.Given{body("payloadHandling", "raw")}, map[string]any{"payloadType": "raw"}},
		{"name and alias with the same value", []catalog.Given{body("payloadType", "raw"), query("payloadHandling", "raw")}, map[string]any{"payloadType": "raw"}},
		{"a parameter twice with the same value", []catalog.Given{query("eventKey", "webhook.a"), body("eventKey", "webhook.a")}, map[string]any{"eventKey": "webhook.a"}},
		{"an empty text, which was given", []catalog.Given{body("eventKey", "")}, map[string]any{"eventKey": ""}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			args, err := command(t, catalog.WebhookPut).Bind(tt.given)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.then, arguments(args)); diff != "" {
				t.Errorf("arguments differ (-want +got):\n%s", diff)
			}
		})
	}
}

// arguments reads every parameter of webhook.put that was given.
func arguments(args catalog.Args) map[string]any {
	got := map[string]any{}
	for _, name := range []string{"eventKey", "payloadType", "payloadHandling"} {
		if v := catalog.Arg[string](args, name); v != nil {
			got[name] = *v
		}
	}
	for _, name := range []string{"maxPayloadLength", "version"} {
		if v := catalog.Arg[int](args, name); v != nil {
			got[name] = *v
		}
	}
	if v := catalog.Arg[bool](args, "enabled"); v != nil {
		got["enabled"] = *v
	}
	if v := catalog.Arg[secret.Token](args, "uuid"); v != nil {
		got["uuid"] = v.Reveal()
	}
	return got
}

func TestBindRefuses(t *testing.T) {
	tests := []struct {
		name    string
		command string
		given   []catalog.Given
		// names must stand in the detail, so that the caller knows what to change.
		names string
	}{
		{"an unknown name", catalog.WebhookPut, []catalog.Given{body("evntKey", "webhook.a")}, "evntKey"},
		{"a name in another case", catalog.WebhookPut, []catalog.Given{body("eventkey", "webhook.a")}, "eventkey"},
		{"an empty name", catalog.WebhookPut, []catalog.Given{body("", "webhook.a")}, `""`},
		{"a parameter of another command", catalog.WebhookDelete, []catalog.Given{body("uuid", token), body("eventKey", "webhook.a")}, "eventKey"},
		{"a parameter twice with different values", catalog.WebhookPut, []catalog.Given{query("eventKey", "webhook.a"), body("eventKey", "webhook.b")}, "eventKey"},
		{"a parameter twice in one source with different values", catalog.WebhookPut, []catalog.Given{query("version", "1"), query("version", "2")}, "version"},
		{"name and alias with different values", catalog.WebhookPut, []catalog.Given{body("payloadType", "raw"), body("payloadHandling", "base64")}, "payloadType"},
		{"alias and name with different values", catalog.WebhookPut, []catalog.Given{body("payloadHandling", "base64"), body("payloadType", "raw")}, "payloadType"},
		{"a password in a query", catalog.WebhookPut, []catalog.Given{query("password", "hush")}, "password"},
		{"a secret in a query", catalog.WebhookPut, []catalog.Given{query("secret", "hush")}, "secret"},
		{"a password in a query, in any case", catalog.WebhookPut, []catalog.Given{query("PassWord", "hush")}, "PassWord"},
		{"a value out of the enumeration", catalog.WebhookPut, []catalog.Given{body("payloadType", "RAW")}, "raw, base64, ignore"},
		{"an empty value where values are enumerated", catalog.WebhookPut, []catalog.Given{body("payloadType", "")}, "payloadType"},
		{"an alias with a value out of the enumeration", catalog.WebhookPut, []catalog.Given{body("payloadHandling", "hex")}, "payloadType"},
		{"a text as integer", catalog.WebhookPut, []catalog.Given{body("maxPayloadLength", "many")}, "maxPayloadLength"},
		{"a fraction as integer", catalog.WebhookPut, []catalog.Given{body("maxPayloadLength", "1.0")}, "maxPayloadLength"},
		{"nothing as integer", catalog.WebhookPut, []catalog.Given{body("maxPayloadLength", "")}, "maxPayloadLength"},
		{"an integer beyond 64 bits", catalog.WebhookPut, []catalog.Given{body("maxPayloadLength", "9223372036854775808")}, "maxPayloadLength"},
		{"a number as boolean", catalog.WebhookPut, []catalog.Given{body("enabled", "1")}, "enabled"},
		{"a boolean in upper case", catalog.WebhookPut, []catalog.Given{body("enabled", "TRUE")}, "enabled"},
		{"a token of another form", catalog.WebhookPut, []catalog.Given{body("uuid", strings.ToUpper(token))}, "uuid"},
		{"a missing parameter that is required", catalog.WebhookDelete, nil, "uuid"},
		{"a password twice with different values", catalog.UserPut, []catalog.Given{body("username", "ann"), body("password", "hush"), body("password", "hush hush")}, "password"},
		{"a password of a user in a query", catalog.UserPut, []catalog.Given{body("username", "ann"), query("password", "hush")}, "password"},
		{"an empty entry of a list", catalog.UserPut, []catalog.Given{body("username", "ann"), body("roles", "a,,b")}, "roles"},
		{"a comma at the end of a list", catalog.UserPut, []catalog.Given{body("username", "ann"), body("roles", "a,")}, "roles"},
		{"a list without end", catalog.UserPut, []catalog.Given{body("username", "ann"), body("roles", strings.Repeat("a,", 1000)+"b")}, "roles"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := command(t, tt.command).Bind(tt.given)
			if !fault.Is(err, fault.Invalid) {
				t.Fatalf("err = %v, want invalid", err)
			}
			detail := fault.From(err).Detail
			if !strings.Contains(detail, tt.names) {
				t.Errorf("the detail %q does not name %s", detail, tt.names)
			}
			for _, hidden := range []string{"hush", strings.ToUpper(token)} {
				if strings.Contains(detail, hidden) {
					t.Errorf("the detail %q shows a secret", detail)
				}
			}
		})
	}
}

func TestASecretStandsInABodyAndNeverInAQuery(t *testing.T) {
	login := catalog.Command{Name: "login", Params: []catalog.Param{{Name: "password", Type: catalog.Password}, {Name: "secret", Type: catalog.Password}, {Name: "phrase", Type: catalog.Password}}}
	for _, name := range []string{"password", "secret", "phrase"} {
		args, err := login.Bind([]catalog.Given{body(name, "hush")})
		if err != nil {
			t.Fatalf("a %s in the body is refused: %v", name, err)
		}
		if got := catalog.Arg[secret.Password](args, name); got == nil || got.Reveal() != "hush" {
			t.Errorf("a %s in the body is not read", name)
		}
		if _, err := login.Bind([]catalog.Given{body(name, "hush"), query(name, "hush")}); !fault.Is(err, fault.Invalid) {
			t.Errorf("a %s in the query: err = %v, want invalid", name, err)
		}
	}
}

func TestListsAreSeparatedByCommas(t *testing.T) {
	for text, want := range map[string][]string{
		"": {}, " ": {}, "a": {"a"}, "a,b": {"a", "b"}, " a , b ": {"a", "b"}, "b,a,b": {"b", "a"}, "a b": {"a b"},
	} {
		args, err := command(t, catalog.UserPut).Bind([]catalog.Given{body("username", "ann"), body("roles", text)})
		if err != nil {
			t.Errorf("%q is refused: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, *catalog.Arg[[]string](args, "roles")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestArgumentsDoNotShowThePassword(t *testing.T) {
	args, err := command(t, catalog.UserPut).Bind([]catalog.Given{body("username", "ann"), body("password", "hush hush")})
	if err != nil {
		t.Fatal(err)
	}
	if got := catalog.Arg[secret.Password](args, "password").Reveal(); got != "hush hush" {
		t.Fatalf("the password is not there: %q", got)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if out := fmt.Sprintf(verb, args); strings.Contains(out, "hush") {
			t.Errorf("%s shows the password: %s", verb, out)
		}
	}
}

func TestArgumentsDoNotShowTheToken(t *testing.T) {
	args, err := command(t, catalog.WebhookGet).Bind([]catalog.Given{query("uuid", token)})
	if err != nil {
		t.Fatal(err)
	}
	if got := catalog.Arg[secret.Token](args, "uuid").Reveal(); got != token {
		t.Fatalf("the token is not there: %q", got)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if out := fmt.Sprintf(verb, args); strings.Contains(out, token) {
			t.Errorf("%s shows the token: %s", verb, out)
		}
	}
}
