package e2e_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// exchangeIdentity runs the commands about users, clients, the policy and keys.
func (s *service) exchangeIdentity() {
	s.t.Helper()
	const (
		user, client, policy = commandPath + "user.", commandPath + "client.", commandPath + "policy."
		rotate               = commandPath + "key.rotate"
	)
	for _, e := range []exchange{
		{"POST", user + "put", asJSON, `{"username":"ann","password":"long enough","roles":"a, b"}`, manage("Idempotency-Key", "ann"), 200},
		{"POST", user + "put", asForm, "username=ann&roles=", manage(), 200},
		{"POST", user + "put", asForm, "username=ann&roles=b", manage("Idempotency-Key", "ann"), 409},
		{"POST", user + "put", asForm, "username=anonymousUser&password=long+enough", manage(), 409},
		{"POST", client + "put", asJSON, `{"id":"shop"}`, manage(), 200},
		{"POST", client + "put", asForm, "id=shop&newSecret=true", manage(), 200},
		{"POST", client + "put", asJSON, `{"id":"desk","public":true}`, manage(), 200},
		{"POST", client + "put", asForm, "id=hooklog", manage(), 409},
		{"POST", policy + "put", asJSON, `{"name":"shop","roles":"a,b","commands":"webhook.*","keys":"webhook.shop.*,webhook.x"}`, manage("Idempotency-Key", "shop"), 200},
		{"POST", policy + "put", asForm, "name=shop&users=ann&runAs=*", manage(), 200},
		{"POST", policy + "put", asForm, "name=shop&users=ann&runAs=kim", manage("Idempotency-Key", "shop"), 409},
	} {
		s.exchange(e)
	}
	for path, name := range map[string]string{user: "username=ann", client: "id=shop", policy: "name=shop"} {
		parameter, value, _ := strings.Cut(name, "=")
		for _, e := range []exchange{
			{"GET", path + "get", "", "", manage("Idempotency-Key", "all"), 200},
			{"GET", path + "get?" + name, "", "", manage(), 200},
			{"GET", path + "get?" + name, "", "", manage("Idempotency-Key", "all"), 409},
			{"GET", path + "get?" + parameter + "=nobody", "", "", manage(), 404},
			{"POST", path + "get", "", "", manage(), 200},
			{"POST", path + "get", asJSON, `{"` + parameter + `":"` + value + `"}`, manage(), 200},
			{"POST", path + "get", asForm, name, manage("Idempotency-Key", "all"), 409},
			{"POST", path + "get", asForm, parameter + "=nobody", manage(), 404},
			{"POST", path + "delete", asForm, parameter + "=nobody", manage("Idempotency-Key", "gone"), 404},
			{"POST", path + "delete", asForm, name, manage("Idempotency-Key", "gone"), 409},
			{"POST", path + "delete", asJSON, `{"` + parameter + `":"` + value + `"}`, manage(), 200},
		} {
			s.exchange(e)
		}
	}
	for range 4 {
		s.exchange(exchange{"POST", rotate, asJSON, `{}`, manage(), 200})
	}
	s.exchange(exchange{"POST", rotate, "", "", manage(), 409})
}

// exchangeIdentityParameters is exchangeParameters for these commands.
func (s *service) exchangeIdentityParameters(d *documented) {
	s.t.Helper()
	for _, e := range []exchange{
		{"POST", commandPath + "user.put", asJSON, `{"password":"long enough"}`, manage(), 400},
		{"POST", commandPath + "user.put", asJSON, `{"username":"a:b","password":"long enough"}`, manage(), 400},
		{"POST", commandPath + "user.put", asJSON, `{"username":"ann","password":"short"}`, manage(), 400},
		{"POST", commandPath + "user.put", asJSON, `{"username":"ann","roles":["a"]}`, manage(), 400},
		{"GET", commandPath + "user.get?username=a:b", "", "", manage(), 400},
		{"POST", commandPath + "user.delete", asForm, "username=", manage(), 400},
		{"POST", commandPath + "client.put", asJSON, `{"id":"shop","public":"yes"}`, manage(), 400},
		{"POST", commandPath + "client.put", asJSON, `{"id":"shop","secret":"of my own"}`, manage(), 400},
		{"POST", commandPath + "policy.put", asJSON, `{"users":"ann","commands":"*"}`, manage(), 400},
		{"POST", commandPath + "key.rotate", asJSON, `{"id":"mine"}`, manage(), 400},
		{"POST", tokenPath, asForm, "grant_type=client_credentials&client_id=hooklog", nil, 400},
		{"POST", tokenPath, asForm, "grant_type=password&client_id=hooklog&username=kim", nil, 400},
		{"POST", tokenPath, asJSON, `{"grant_type":"password"}`, nil, 400},
	} {
		s.refusedByBoth(d, e)
	}
}

// exchangeTokens asks the own realm, at the places that it names itself.
func (s *service) exchangeTokens() {
	s.t.Helper()
	const discovery = realmPath + "/.well-known/openid-configuration"
	found := s.exchange(exchange{method: "GET", path: discovery, status: 200}).object()
	s.exchange(exchange{method: "GET", path: found["jwks_uri"].(string), status: 200})
	s.exchange(exchange{method: "GET", path: strings.Replace(discovery, "hooklog", "elsewhere", 1), status: 404})
	s.exchange(exchange{method: "GET", path: strings.Replace(realmPath, "hooklog", "elsewhere", 1) + "/protocol/openid-connect/certs", status: 404})
	s.exchange(exchange{method: "POST", path: strings.Replace(tokenPath, "hooklog", "elsewhere", 1), status: 404})

	s.user("kim", kimsPassword)
	secret, _ := s.command("client.put", "id=till").want(http.StatusOK).object()["secret"].(string)
	first := s.passwordGrant("kim", kimsPassword, "scope=openid roles").granted()
	s.rotate(first.Refresh).granted()
	token := found["token_endpoint"].(string)
	login := []string{"grant_type=password", "username=kim", "password=" + kimsPassword}
	s.post(token, append(login, "client_id=till", "client_secret="+secret)).granted()
	s.post(token, login, "Authorization", basic("till", secret)).granted()
	s.post(token, append(login, "client_id=till", "client_secret=wrong")).denied(http.StatusUnauthorized, "invalid_client")
	s.passwordGrant("kim", "wrong").denied(http.StatusBadRequest, "invalid_grant")
	s.passwordGrant("kim", kimsPassword, "scope=all").denied(http.StatusBadRequest, "invalid_scope")
	s.grant("grant_type=client_credentials", "client_id=hooklog").denied(http.StatusBadRequest, "unsupported_grant_type")
	s.grant("client_id=hooklog").denied(http.StatusBadRequest, "invalid_request")
}

// exchangeSchemes comes with every security scheme that is documented.
func (s *service) exchangeSchemes(d *documented) {
	s.t.Helper()
	clear(d.schemes)
	g := s.passwordGrant("admin", adminPassword).granted()
	for _, authorization := range []string{basic("admin", adminPassword), "Bearer " + g.Access, "Refresh " + g.Refresh} {
		s.exchange(exchange{"GET", listPath, "", "", []string{"Authorization", authorization}, 200})
	}
	s.post(tokenPath, []string{"grant_type=refresh_token", "refresh_token=" + g.Refresh}, "Authorization", basic("hooklog", "")).granted()
	for name := range d.doc.Components.SecuritySchemes {
		if !d.schemes[name] {
			s.t.Errorf("nobody came with the scheme %s", name)
		}
	}
}

// exchangeForbidden sends the documented examples as somebody who may do nothing:
// all that is wrong with them is who sends them.
func (s *service) exchangeForbidden(d *documented) {
	s.t.Helper()
	s.user("guest", kimsPassword)
	guest := []string{"Authorization", "Bearer " + s.passwordGrant("guest", kimsPassword).granted().Access}
	for _, op := range d.operations() {
		if !op.managed() {
			continue
		}
		if op.RequestBody == nil {
			s.exchange(exchange{op.method, op.path + requiredQuery(op), "", "", guest, 403})
			continue
		}
		for _, example := range jsonExamples(s, op) {
			s.exchange(exchange{op.method, op.path, asJSON, example, guest, 403})
		}
	}
}

// requiredQuery has the examples of the parameters that an operation needs.
func requiredQuery(op operation) string {
	query := url.Values{}
	for _, p := range op.Parameters {
		if p.Value.In == "query" && p.Value.Required {
			query.Set(p.Value.Name, p.Value.Example.(string))
		}
	}
	return "?" + query.Encode()
}

// jsonExamples are the bodies that the document shows for an operation.
func jsonExamples(s *service, op operation) (bodies []string) {
	s.t.Helper()
	for _, example := range op.RequestBody.Value.Content[asJSON].Examples {
		body, err := json.Marshal(example.Value.Value)
		if err != nil {
			s.t.Fatal(err)
		}
		bodies = append(bodies, string(body))
	}
	if len(bodies) == 0 {
		s.t.Errorf("%s %s has no example", op.method, op.path)
	}
	return bodies
}

// manageIdentity runs the commands about users, clients, the policy and keys, in
// every form that gives another record.
func (s *service) manageIdentity() {
	s.t.Helper()
	for _, run := range [][]string{
		{"user.put", "username=ann", "password=long enough", "roles=a,b"},
		{"user.put", "username=ann", "roles="},
		{"user.get"},
		{"user.get", "username=ann"},
		{"user.delete", "username=ann"},
		{"client.put", "id=shop"},
		{"client.put", "id=shop", "public=false", "newSecret=true"},
		{"client.get"},
		{"client.get", "id=shop"},
		{"client.delete", "id=shop"},
		{"policy.put", "name=shop", "users=ann", "roles=a,b", "commands=webhook.*", "keys=*", "runAs=kim"},
		{"policy.get"},
		{"policy.get", "name=shop"},
		{"policy.delete", "name=shop"},
		{"key.rotate"},
	} {
		s.command(run[0], run[1:]...).want(http.StatusOK)
	}
}

// logInAndOut takes refresh tokens through their life, and fails once.
func (s *service) logInAndOut() {
	s.t.Helper()
	first := s.passwordGrant("admin", adminPassword, "scope=openid").granted()
	second := s.rotate(first.Refresh).granted()
	s.rotate(second.Refresh).granted()
	s.rotate(first.Refresh).denied(http.StatusBadRequest, "invalid_grant") // which ends the family
	s.passwordGrant("admin", "wrong").denied(http.StatusBadRequest, "invalid_grant")
}
