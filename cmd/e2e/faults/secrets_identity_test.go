//go:build faults

package faults_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

const tokenPath = "/auth/realms/hooklog/protocol/openid-connect/token"

// identity is the secrets of a user that an operator keeps, before and after a
// change of its password, and those that the service has issued.
type identity struct {
	user, changed canary
	// clientSecret, access and refresh are the newest of each that was issued.
	clientSecret, access, refresh string
	issued                        []canary
	networks                      int
}

func newIdentity() identity {
	return identity{user: newPasswordCanary("user's password"), changed: newPasswordCanary("user's changed password")}
}

func authorization(scheme, value string) string { return "Authorization: " + scheme + " " + value }

func basicOf(user, password string) string {
	return authorization("Basic", base64.StdEncoding.EncodeToString([]byte(user+":"+password)))
}

func form(pairs ...string) string {
	fields := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		fields.Add(pairs[i], pairs[i+1])
	}
	return fields.Encode()
}

// elsewhere sends each request from a network of its own: nobody is held up.
func (s *spies) elsewhere(requests []request) []request {
	for i := range requests {
		s.networks++
		requests[i].headers = append(requests[i].headers, fmt.Sprintf("X-Forwarded-For: 10.%d.%d.1", s.networks/250, s.networks%250))
	}
	return requests
}

// ask sends a request that must succeed, and gives what the answer holds.
func (s *spies) ask(t *testing.T, p *process, r request) map[string]any {
	t.Helper()
	host := strings.TrimPrefix(p.url, "http://")
	answer, err := http.ReadResponse(bufio.NewReader(strings.NewReader(exchange(t, host, s.elsewhere([]request{r})[0].raw(host), false))), nil)
	if err != nil {
		t.Fatal(err)
	}
	var held map[string]any
	if err := json.NewDecoder(answer.Body).Decode(&held); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", r.target, answer.Status, err)
	}
	return held
}

// manage runs a command of the administrator that must succeed.
func (s *spies) manage(t *testing.T, p *process, name, body string) map[string]any {
	t.Helper()
	return s.ask(t, p, request{method: "POST", target: "/api/v3/command/" + name, headers: []string{basicOf("admin", s.admin.text), asForm}, body: body})
}

// take makes canaries of the tokens in an answer. The last part of each is random,
// and so is the first of a refresh token.
func (s *spies) take(answer map[string]any) {
	s.access, s.refresh = answer["access_token"].(string), answer["refresh_token"].(string)
	signature := s.access[strings.LastIndexByte(s.access, '.')+1:]
	family, key, _ := strings.Cut(s.refresh, ".")
	s.issued = append(s.issued,
		newCanary("access token", s.access, signature), newCanary("refresh token", s.refresh, key), newCanary("family of the refresh token", s.refresh, family))
}

// logIns drives the secrets of users and clients through all paths.
func (s *spies) logIns(t *testing.T, p *process) {
	t.Helper()
	name := s.plant // which is found wherever users are named
	s.manage(t, p, "user.put", form("username", name, "password", s.user.text, "roles", "administrator"))
	s.clientSecret = s.manage(t, p, "client.put", form("id", "portal"))["secret"].(string)
	s.issued = append(s.issued, newCanary("client secret", s.clientSecret, s.clientSecret))
	grants := s.grants(s.user.text)
	for _, r := range grants[:2] {
		s.take(s.ask(t, p, r))
	}
	older := s.refresh
	s.take(s.ask(t, p, s.rotation(older)))
	s.drive(t, p.url, s.elsewhere(s.refused()))
	s.drive(t, p.url, s.elsewhere(s.used(s.tokens[0].text)))

	s.take(s.ask(t, p, s.rotation(s.refresh)))
	s.drive(t, p.url, s.elsewhere([]request{s.rotation(older), s.rotation(s.refresh)})) // which ends the family
	s.manage(t, p, "key.rotate", "")
	s.manage(t, p, "user.put", form("username", name, "password", s.changed.text))
	s.drive(t, p.url, s.elsewhere(append(s.used(s.tokens[0].text), grants...)))
	s.clientSecret = s.manage(t, p, "client.put", form("id", "portal", "newSecret", "true"))["secret"].(string)
	s.issued = append(s.issued, newCanary("client's new secret", s.clientSecret, s.clientSecret))
	s.take(s.ask(t, p, s.grants(s.changed.text)[0])) // a family that lives on
}

// grants are the ways to log in with a password.
func (s *spies) grants(password string) []request {
	ask := []string{"grant_type", "password", "username", s.plant, "password", password}
	return []request{
		{method: "POST", target: tokenPath, headers: []string{asForm}, body: form(append(ask, "client_id", "portal", "client_secret", s.clientSecret)...)},
		{method: "POST", target: tokenPath, headers: []string{asForm, basicOf("portal", url.QueryEscape(s.clientSecret))}, body: form(ask...)},
	}
}

func (s *spies) rotation(refresh string) request {
	return request{
		method: "POST", target: tokenPath, headers: []string{asForm},
		body: form("grant_type", "refresh_token", "client_id", "portal", "client_secret", s.clientSecret, "refresh_token", refresh),
	}
}

// refused are token requests and commands that go wrong with secrets in them.
func (s *spies) refused() []request {
	token := func(query, body string, headers ...string) request {
		return request{method: "POST", target: tokenPath + query, headers: headers, body: body}
	}
	run := func(name, body string, headers ...string) request {
		return request{method: "POST", target: "/api/v3/command/" + name, headers: append(headers, basicOf("admin", s.admin.text)), body: body}
	}
	password, wrong := s.user.text, s.wrong.text
	whole := form("grant_type", "password", "client_id", "portal", "client_secret", s.clientSecret, "username", s.plant, "password", password)
	quoted, _ := json.Marshal(password)
	return []request{
		token("?"+whole, ""), token("?password="+url.QueryEscape(password), whole, asForm), token("", whole, asJSON), token("", whole), token("/"+s.refresh, whole, asForm),
		token("", whole+"&password=x", asForm), token("", whole+"&scope="+url.QueryEscape(password), asForm), token("", whole+"%zz", asForm),
		token("", whole, asForm, basicOf("portal", s.clientSecret)), token("", whole, asForm, authorization("Bearer", s.access)),
		token("", form("grant_type", password, "client_id", s.clientSecret), asForm), token("", form("grant_type", "password", "client_id", password, "username", password, "password", s.clientSecret), asForm),
		token("", form("grant_type", "password", "client_id", "hooklog", "username", s.plant, "password", wrong), asForm),
		token("", form("grant_type", "password", "client_id", "portal", "client_secret", s.clientSecret+"x", "username", s.plant, "password", password), asForm),
		token("", form("grant_type", "refresh_token", "client_id", "hooklog", "refresh_token", s.refresh), asForm),
		token("", form("grant_type", "refresh_token", "client_id", "hooklog", "refresh_token", s.access), asForm),
		{method: "GET", target: tokenPath + "?" + whole},
		// What an operator may get wrong.
		run("user.put", form("username", password, "password", password), asForm), run("user.put", `{"username":"`+s.plant+`","password":[`+string(quoted)+`]}`, asJSON),
		run("user.put?password="+url.QueryEscape(password)+"&username=x", ""), run("user.put", form("username", "x", "password", strings.Repeat(password, 30)), asForm),
		run("user.put", form("username", "x", "roles", password+"\x01", "password", password), asForm), run("user.put", form("username", "x", password, password), asForm),
		run("user.put", form("username", "anonymousUser", "password", password), asForm), run("user.put", form("username", "x", "password", password, "password", wrong), asForm),
		run("client.put", form("id", "portal", "secret", s.clientSecret), asForm), run("client.put?secret="+s.clientSecret+"&id=portal", ""),
		run("client.put", form("id", "portal", "public", s.clientSecret), asForm), run("client.get", form("id", password), asForm), run("user.get", form("username", password), asForm),
		run("policy.put", form("name", password, "users", "x", "commands", "x"), asForm), run("policy.put", form("name", "x", "users", "x", "commands", password), asForm),
		run("webhook.list", "", "Idempotency-Key: "+s.refresh), run("user.get", "", asForm, "Idempotency-Key: "+s.clientSecret),
	}
}

// used are the secrets in the authorization header, where they belong and where
// they do not, and on their way to a webhook.
func (s *spies) used(token string) []request {
	var all []request
	for _, header := range []string{
		authorization("Bearer", s.access), authorization("Refresh", s.refresh), basicOf(s.plant, s.user.text), basicOf(s.plant, s.changed.text),
		authorization("Bearer", s.refresh), authorization("Refresh", s.access), authorization("Basic", s.access), authorization("Digest", s.refresh),
		authorization("Bearer", s.access+"x"), authorization("Refresh", s.refresh+"x"), basicOf("portal", s.clientSecret), basicOf(s.user.text, s.plant), "Authorization: " + s.refresh,
	} {
		all = append(all,
			request{method: "POST", target: "/api/v3/command/webhook.list", headers: []string{header}},
			request{method: "POST", target: "/api/v3/command/user.get", headers: []string{header, "Referer: http://x/?access_token=" + s.access}},
			request{method: "POST", target: receivePath, headers: []string{"token: " + token, header, asText}, body: "payload"})
	}
	return all
}

// audited asks what the audit shows of all that, with secrets in the questions.
func (s *spies) audited() []request {
	token, admin := s.tokens[0].text, basicOf("admin", s.admin.text)
	var all []request
	for _, query := range []string{
		"audit.get?limit=1000", "audit.export", "audit.get?webhook=" + token, "audit.export?webhook=" + token, "audit.get?user=" + token, "audit.get?cursor=" + token,
		"audit.get?from=" + token, "audit.get?user=" + url.QueryEscape(s.user.text), "audit.get?outcome=" + url.QueryEscape(s.admin.text), "audit.get?user=" + s.refresh,
		"audit.export?command=" + s.access, "run.get?correlationId=" + token, "run.get?pipeline=" + token, "webhook.get?uuid=" + token + "&at=" + token,
		"webhook.get?at=" + url.QueryEscape(s.user.text), "audit.get?limit=1000", "audit.export",
	} {
		all = append(all, request{method: "GET", target: "/api/v3/command/" + query, headers: []string{admin}})
	}
	return all
}
