package e2e_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"
)

const commandPath = "/api/v3/command/"

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// run sends a management command as the administrator, in the form that the test
// wants; target is the command's name and query.
func (s *service) run(method, target, contentType, body string, header ...string) answer {
	s.t.Helper()
	header = append([]string{"Authorization", basic("admin", adminPassword)}, header...)
	if contentType != "" {
		header = append(header, "Content-Type", contentType)
	}
	return s.send(method, commandPath+target, strings.NewReader(body), header...)
}

// How management commands are written as HTTP requests.
func TestCommandsOverHTTP(t *testing.T) {
	s := startOnOne(t)
	t.Run("parameters are accepted in", func(t *testing.T) { acceptedForms(t, s) })
	t.Run("400 is the answer to", func(t *testing.T) { refusedForms(t, s) })
	t.Run("the body of a command is at most 1 MiB", func(t *testing.T) {
		s := s.in(t)
		for _, length := range []int{1<<20 + 1, 3 << 20} {
			body := `{"eventKey":"` + strings.Repeat("k", length-len(`{"eventKey":""}`)) + `"}`
			s.run(http.MethodPost, "webhook.put", asJSON, body, "Expect", "100-continue").refused(http.StatusRequestEntityTooLarge)
		}
		chunked := io.MultiReader(strings.NewReader(`{"eventKey":"`), strings.NewReader(strings.Repeat("k", 1<<20)))
		s.send(http.MethodPost, commandPath+"webhook.put", chunked, "Content-Type", asJSON,
			"Authorization", basic("admin", adminPassword)).refused(http.StatusRequestEntityTooLarge)
		fits := `{"eventKey":"webhook.large"` + strings.Repeat(" ", 1<<20-len(`{"eventKey":"webhook.large"}`)) + `}`
		s.run(http.MethodPost, "webhook.put", asJSON, fits).want(http.StatusOK)
	})
	t.Run("415 is the answer to a body that is neither form nor JSON, and to any Content-Encoding", func(t *testing.T) {
		s := s.in(t)
		for _, kind := range []string{"", "text/plain", "text/yaml", "multipart/form-data; boundary=x", "application/octet-stream"} {
			s.run(http.MethodPost, "webhook.put", kind, "eventKey=webhook.kind").refused(http.StatusUnsupportedMediaType)
		}
		for _, coding := range []string{"gzip", "identity", "br"} {
			s.run(http.MethodPost, "webhook.put", asForm, "eventKey=webhook.coding", "Content-Encoding", coding).
				refused(http.StatusUnsupportedMediaType)
		}
	})
	t.Run("404 is the answer to an unknown command, and to those that only the machine's operator has", func(t *testing.T) {
		s := s.in(t)
		for _, name := range []string{"webhook.putt", "webhook.PUT", "webhook", "key.init", "cluster.init", "admin.reset", "set"} {
			s.run(http.MethodPost, name, "", "").refused(http.StatusNotFound)
			s.run(http.MethodGet, name, "", "").refused(http.StatusNotFound)
		}
	})
	t.Run("405 with Allow is the answer to a wrong method", func(t *testing.T) {
		s := s.in(t)
		for name, allow := range map[string]string{
			"webhook.put": "POST", "webhook.delete": "POST",
			"webhook.get": "GET, POST", "webhook.list": "GET, POST", "webhook.receive": "GET, POST",
		} {
			for _, method := range []string{http.MethodGet, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions} {
				if strings.Contains(allow, method) {
					continue
				}
				a := s.run(method, name, "", "")
				a.refused(http.StatusMethodNotAllowed)
				if got := a.header.Get("Allow"); got != allow {
					t.Errorf("%s %s: Allow %q, want %q", method, name, got, allow)
				}
			}
		}
		if a := s.run(http.MethodHead, "webhook.get", "", "").want(http.StatusMethodNotAllowed); a.header.Get("Allow") != "GET, POST" {
			t.Errorf("HEAD: Allow %q", a.header.Get("Allow"))
		}
	})
}

func acceptedForms(t *testing.T, s *service) {
	for name, sent := range map[string]struct{ query, contentType, body string }{
		"a query":                         {"?eventKey=KEY&payloadType=raw&maxPayloadLength=10&enabled=false", "", ""},
		"a form":                          {"", asForm, "eventKey=KEY&payloadType=raw&maxPayloadLength=10&enabled=false"},
		"a form with a charset":           {"", asForm + "; charset=utf-8", "eventKey=KEY&payloadType=raw&maxPayloadLength=10&enabled=false"},
		"a JSON object":                   {"", asJSON, `{"eventKey":"KEY","payloadType":"raw","maxPayloadLength":10,"enabled":false}`},
		"a JSON object of texts":          {"", asJSON, ` {"eventKey":"KEY","payloadType":"raw","maxPayloadLength":"10","enabled":"false"} `},
		"a query and a form":              {"?eventKey=KEY&enabled=false", asForm, "payloadType=raw&maxPayloadLength=10"},
		"a query and a JSON object":       {"?payloadType=raw&maxPayloadLength=10", asJSON, `{"eventKey":"KEY","enabled":false}`},
		"two places, with the same value": {"?eventKey=KEY&eventKey=KEY&enabled=false", asForm, "eventKey=KEY&payloadType=raw&payloadHandling=raw&maxPayloadLength=10"},
		"a JSON object, twice the same":   {"?enabled=false", asJSON, `{"eventKey":"KEY","payloadType":"raw","eventKey":"KEY","maxPayloadLength":10}`},
		"an empty JSON object and query":  {"?eventKey=KEY&payloadType=raw&maxPayloadLength=10&enabled=false", asJSON, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			s := s.in(t)
			key := "webhook.form." + strings.Trim(strings.Map(func(r rune) rune {
				if r >= 'a' && r <= 'z' {
					return r
				}
				return '-'
			}, strings.ToLower(name)), "-")
			named := strings.NewReplacer("KEY", key)
			var got webhook
			s.run(http.MethodPost, "webhook.put"+named.Replace(sent.query), sent.contentType, named.Replace(sent.body)).
				want(http.StatusOK).json(&got)
			if got.EventKey != key || got.PayloadType != "raw" || got.MaxPayloadLength != 10 || got.Enabled {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func refusedForms(t *testing.T, s *service) {
	for name, sent := range map[string]struct{ target, contentType, body, named string }{
		"a parameter given twice with different values in a query":  {"webhook.put?eventKey=webhook.x&eventKey=webhook.y", "", "", "eventKey"},
		"a parameter given twice with different values in a form":   {"webhook.put", asForm, "eventKey=webhook.x&eventKey=webhook.y", "eventKey"},
		"a parameter given twice with different values in JSON":     {"webhook.put", asJSON, `{"eventKey":"webhook.x","eventKey":"webhook.y"}`, "eventKey"},
		"a parameter given with different values in query and body": {"webhook.put?eventKey=webhook.x", asJSON, `{"eventKey":"webhook.y"}`, "eventKey"},
		"payloadType and payloadHandling with different values":     {"webhook.put?eventKey=webhook.x&payloadType=raw", asForm, "payloadHandling=base64", "payloadType"},
		"an unknown parameter in a query, which is named":           {"webhook.put?eventKey=webhook.x&colour=red", "", "", "colour"},
		"an unknown parameter in a form, which is named":            {"webhook.delete", asForm, "colour=red", "colour"},
		"an unknown parameter in JSON, which is named":              {"webhook.get", asJSON, `{"colour":"red"}`, "colour"},
		"a known parameter in another case, which is named":         {"webhook.put", asForm, "eventkey=webhook.x", "eventkey"},
		"a parameter of another command, which is named":            {"webhook.get", asForm, "eventKey=webhook.x", "eventKey"},
		"an unknown parameter of webhook.list, which is named":      {"webhook.list?uuid=1", "", "", "uuid"},
		"a password in a query":                                     {"webhook.get?password=hunter2", "", "", "password"},
		"a secret in a query":                                       {"webhook.get?Secret=hunter2", "", "", "Secret"},
		"a missing required parameter":                              {"webhook.delete", "", "", "uuid"},
		"a query that cannot be read":                               {"webhook.put?eventKey=webhook.x&a=%zz", "", "", "query"},
		"a form that cannot be read":                                {"webhook.put", asForm, "eventKey=%zz", "form"},
		"JSON that is no object":                                    {"webhook.put", asJSON, `["eventKey"]`, "object"},
		"JSON that is cut off":                                      {"webhook.put", asJSON, `{"eventKey":"webhook.x"`, "object"},
		"JSON with something behind the object":                     {"webhook.put", asJSON, `{"eventKey":"webhook.x"}{}`, "object"},
		"a JSON member that is null":                                {"webhook.put", asJSON, `{"eventKey":"webhook.x","enabled":null}`, "JSON"},
		"a JSON member that is an object":                           {"webhook.put", asJSON, `{"eventKey":{"a":1}}`, "JSON"},
		"a JSON member that is an array":                            {"webhook.put", asJSON, `{"eventKey":["webhook.x"]}`, "JSON"},
		"a number where an eventKey belongs":                        {"webhook.put", asJSON, `{"eventKey":7}`, "eventKey"},
		"a number where a boolean belongs":                          {"webhook.put", asJSON, `{"eventKey":"webhook.x","enabled":1}`, "enabled"},
		"a word where a boolean belongs":                            {"webhook.put", asForm, "eventKey=webhook.x&enabled=yes", "enabled"},
		"a fraction where an integer belongs":                       {"webhook.put", asJSON, `{"eventKey":"webhook.x","maxPayloadLength":10.5}`, "maxPayloadLength"},
		"a boolean where an integer belongs":                        {"webhook.put", asJSON, `{"eventKey":"webhook.x","maxPayloadLength":true}`, "maxPayloadLength"},
		"a parameter that is no UTF-8":                              {"webhook.put?eventKey=%ff", "", "", "UTF-8"},
	} {
		t.Run(name, func(t *testing.T) {
			detail := s.in(t).run(http.MethodPost, sent.target, sent.contentType, sent.body).refused(http.StatusBadRequest)
			if !strings.Contains(detail, sent.named) {
				t.Errorf("the detail %q does not name %s", detail, sent.named)
			}
			if strings.Contains(detail, "hunter2") {
				t.Errorf("the detail %q repeats the secret", detail)
			}
		})
	}
}
