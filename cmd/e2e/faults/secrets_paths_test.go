//go:build faults

package faults_test

import (
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"
)

// request is what is sent, byte by byte: no client cleans it.
type request struct {
	method, target string
	// headers are lines, without the token's.
	headers []string
	body    string
	// shows says that the answer is meant to show the token, cut that the caller
	// sends no more than this, although it announces more.
	shows, cut bool
}

func (r request) raw(host string) string {
	lines := append([]string{r.method + " " + r.target + " HTTP/1.1", "Host: " + host, "Connection: close"}, r.headers...)
	if r.body != "" {
		lines = append(lines, fmt.Sprint("Content-Length: ", len(r.body)))
	}
	return strings.Join(lines, "\r\n") + "\r\n\r\n" + r.body
}

// exchange sends bytes and gives all that comes back.
func exchange(t *testing.T, address, sent string, cut bool) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(patience))
	// A refused body is not read to its end: then writing fails, and the answer is
	// there all the same.
	go func() {
		_, _ = io.WriteString(conn, sent)
		if cut {
			_ = conn.(*net.TCPConn).CloseWrite()
		}
	}()
	answer, _ := io.ReadAll(conn)
	return string(answer)
}

const (
	asJSON = "Content-Type: application/json"
	asForm = "Content-Type: application/x-www-form-urlencoded"
	asText = "Content-Type: text/plain; charset=utf-8"
)

// calls are all ways to a webhook that repeat its token somewhere: accepted, and
// refused for every reason.
func calls(token string) []request {
	get := func(target string, headers ...string) request {
		return request{method: "GET", target: target, headers: headers}
	}
	post := func(body string, headers ...string) request {
		return request{method: "POST", target: receivePath, headers: append([]string{"token: " + token}, headers...), body: body}
	}
	there := receivePath + "?token=" + token
	all := []request{get(there), get(there + "&" + token + "=1&x=" + token + "&x[" + token + "]=" + token + "&" + token)}
	all = append(all, unclean(token, get)...)
	all = append(all, echoes(token, post)...)
	all = append(all, refusedCalls(token, get, post)...)
	return append(all, multiparts(token, post)...)
}

// unclean are paths that are nearly the right one.
func unclean(token string, get func(string, ...string) request) []request {
	var all []request
	for _, path := range []string{
		"//api/v3/command/webhook.receive", "/api/v3//command/webhook.receive", "/api/v3/command//webhook.receive",
		receivePath + "/", receivePath + "//" + token, receivePath + "/" + token, "/api/v3/command/" + token, "/" + token, "//" + token,
		"/api/v3/command/webhook.receive%2F" + token, "/api/v3%2Fcommand%2Fwebhook.receive", "/api/v3/command/%2e%2e/command/webhook.receive",
		"/./api/v3/../v3/command/webhook.receive", "http://" + token + receivePath, "/healthz", "/readyz", "/api/v3/openapi.yaml",
		"/api/v3/result", "/api/v3/result/" + token, "/%", "/%zz" + token, "*", token,
	} {
		all = append(all, get(path+"?token="+token), request{method: "POST", target: path + "?token=" + token, headers: []string{asJSON}, body: `{"token":"` + token + `"}`})
	}
	return all
}

// echoes are accepted calls whose headers and bodies repeat the token.
func echoes(token string, post func(string, ...string) request) []request {
	link := "https://proxy.example//api/v3/command/webhook.receive?token=" + token
	var headers []string
	for _, name := range []string{
		"Referer", "X-Original-URI", "X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Uri", "X-Forwarded-Host", "X-Forwarded-Proto",
		"X-Forwarded-For", "Forwarded", "Origin", "User-Agent", "Via", "Traceparent", "Tracestate", "Baggage", "X-Request-Id",
		"Accept", "Accept-Language", "If-None-Match", "X-Webhook-Token", token, "X-" + token, strings.ToUpper(token),
	} {
		headers = append(headers, name+": "+link, name+": "+token)
	}
	headers = append(headers, "Connection: x-hop", "X-Hop: "+token, "Transfer: "+token)
	inside := `{"a":"` + token + `","` + token + `":[1,"x` + token + `y"],"url":"` + link + `"}`
	form := url.Values{"a": {token}, token: {link}, "token": {token}}.Encode()
	text := "the token is " + token + "\n" + link + "\n" + token + token
	return []request{
		post("", headers...),
		post(inside, append(headers, asJSON)...),
		post(inside, `Content-Type: application/json; profile="`+token+`"`),
		post(`{"broken":"`+token, asJSON),
		post(form, asForm),
		post(text, asText),
		post(text, "Content-Type: "+token),
		post("x"+text, "Content-Type: application/octet-stream"),
		post("xx" + text),
		// The token is nowhere but in the body.
		{method: "POST", target: receivePath, headers: []string{asJSON}, body: `{"token":"` + token + `","again":"` + token + `"}`},
		{method: "POST", target: receivePath, headers: []string{asForm}, body: "token=" + token + "&again=" + token},
		// Host is a header too.
		{method: "GET", target: receivePath + "?token=" + token, headers: []string{"X-Forwarded-Host: " + token}},
		{method: "GET", target: "http://" + token + ".example" + receivePath + "?token=" + token},
		{method: "GET", target: receivePath + "?pollingRedirectEnabled=true&token=" + token},
	}
}

// refusedCalls are those that go wrong in every way.
func refusedCalls(token string, get func(string, ...string) request, post func(string, ...string) request) []request {
	there := receivePath + "?token=" + token
	all := []request{
		get(there + "&token=" + token), get(there, "token: "+token[1:]+"0"), get(receivePath, "token: "+token, "token: "+token),
		get(receivePath + "?token=" + token + "0"), get(receivePath, "token: "+strings.ToUpper(token)), get(receivePath, "token: "+token+"/"),
		get(receivePath+"?token="+percent(token), "X-Original-URI: "+receivePath+"?token="+percent(token)),
		get(receivePath+"?token="+percent(token), "token: "+token, "X-Original-URI: "+receivePath+"?token="+percent(token)),
		get(there + "&pollingRedirectEnabled=" + token), get(there + "&x=%zz" + token), get(there + ";" + token),
		post(token, "Content-Encoding: "+token), post("\x00\x01"+token, asText), post("\xff\xfe"+token, asJSON),
		post(strings.Repeat(token, 1<<11), asText), // over the webhook's limit
		{method: "POST", target: there, headers: []string{"Transfer-Encoding: chunked", asText}, cut: true},
		{method: "POST", target: there, headers: []string{asText, "Content-Length: 99999999999"}},
		{method: "POST", target: there, headers: []string{asText, "Content-Length: 1000"}, cut: true},
		{method: "POST", target: there, headers: []string{asText, "Content-Length: " + token}},
		{method: "POST", target: there, headers: []string{"Expect: " + token, asText}, body: token},
		{method: "POST", target: receivePath, headers: []string{asJSON}, body: `{"token":"` + token + `","token":"` + token + `"}`},
		{method: "POST", target: receivePath, headers: []string{asJSON}, body: `{"token":["` + token + `"]}`},
		{method: "POST", target: receivePath, headers: []string{asForm}, body: "token=" + token + "&token=" + token},
		// What net/http refuses itself.
		get(there, "no colon "+token), get(there, "bad name "+token+": x"), get(there, "X-Long: "+strings.Repeat(token, 2000)),
		get(there, "Host: "+token+"/"), get(there + " " + token),
		{method: token, target: there},
		{method: "G ET", target: there},
		get("/api/v3/result?svc-result-correlationid=" + token), get("/api/v3/result?svc-result-correlationid=" + token + "&svc-result-correlationid=1"),
		get("/api/v3/result?svc-result-correlationid=1&pollingRedirectEnabled=" + token),
	}
	for _, method := range []string{"PUT", "DELETE", "PATCH", "HEAD", "OPTIONS", "TRACE", "CONNECT"} {
		all = append(all, request{method: method, target: there, headers: []string{"token: " + token}})
	}
	return all
}

// percent writes every character with an escape.
func percent(text string) string {
	escaped := ""
	for _, b := range []byte(text) {
		escaped += fmt.Sprintf("%%%02X", b)
	}
	return escaped
}

// multiparts are uploads, well formed and not.
func multiparts(token string, post func(string, ...string) request) []request {
	kind := "Content-Type: multipart/form-data; boundary=b"
	part := func(head, content string) string {
		return "--b\r\nContent-Disposition: form-data; " + head + "\r\n\r\n" + content + "\r\n"
	}
	file := part(`name="file"; filename="`+token+`.txt"`+"\r\nContent-Type: text/"+token, "x "+token+" y")
	field := part(`name="token"`, token)
	without := func(body string) request {
		return request{method: "POST", target: receivePath, headers: []string{kind}, body: body}
	}
	return []request{
		post(file+part(`name="`+token+`"`, token)+field+"--b--\r\n"+token, kind),
		post("--"+token+"\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\n\r\n"+token+"\r\n--"+token+"--\r\n",
			"Content-Type: multipart/form-data; boundary="+token),
		post(file+"--b--", kind+"; x="+token),
		post(file+token, kind), post(token, kind), post("--b\r\n"+token+"\r\n\r\n", kind), post(token, "Content-Type: multipart/form-data; "+token),
		post(strings.Repeat(part(`name="x"`, token), 65)+"--b--", kind),
		without(field + file + "--b--\r\n"), without(field + field + "--b--\r\n"), without(field + token), without(part(`name="token"`, token+token) + "--b--"),
	}
}

// commands are the management commands with secrets in all places.
func managed(token string, c secretsOfUsers) []request {
	basic := func(user, password string) string {
		return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	admin := basic("admin", c.admin.text)
	run := func(name, query, body string, headers ...string) request {
		return request{method: "POST", target: "/api/v3/command/" + name + query, headers: headers, body: body}
	}
	shown := func(r request) request { r.shows = true; return r }
	escaped := url.QueryEscape(c.admin.text)
	all := []request{
		shown(run("webhook.get", "?uuid="+token, "", admin)), shown(run("webhook.get", "", `{"uuid":"`+token+`"}`, admin, asJSON)),
		shown(run("webhook.get", "", "", admin, "Referer: http://x/?token="+token)),
		shown(run("webhook.put", "", "maxPayloadLength=60000&uuid="+token, admin, asForm, "X-Original-URI: /?uuid="+token)),
		shown(run("webhook.put", "", "maxPayloadLength=60001&uuid="+token, admin, asForm, "Idempotency-Key: "+token)),
		run("webhook.put", "", "maxPayloadLength=60002&uuid="+token, admin, asForm, "Idempotency-Key: "+token),
		run("webhook.put", "", "version=99&uuid="+token, admin, asForm), run("webhook.put", "", "eventKey="+token, admin, asForm),
		run("webhook.put", "", "payloadType="+token+"&uuid="+token, admin, asForm), run("webhook.put", "", "maxPayloadLength="+token, admin, asForm),
		run("webhook.put", "?"+token+"=1", "", admin), run("webhook.put", "", token+"=1", admin, asForm),
		run("webhook.put", "", `{"`+token+`":"`+token+`"}`, admin, asJSON), run("webhook.put", "", `{"`+token+`":{}}`, admin, asJSON),
		run("webhook.put", "", `{"uuid":"`+token, admin, asJSON), run("webhook.put", "", token, admin, "Content-Type: "+token),
		run("webhook.put", "", strings.Repeat(token, 1<<15), admin, asForm), run("webhook.put", "", token, admin, "Content-Encoding: "+token),
		run("webhook.get", "?uuid="+token+"&uuid="+token+"0", "", admin), run("webhook.get", "?uuid="+token+"0", "", admin),
		run("webhook.get", "?%zz"+token, "", admin), run("webhook.get", "?uuid="+token, "", admin, "Idempotency-Key: "+token+" "+token),
		run("webhook.delete", "?uuid="+c.unknown.text, "", admin), run("webhook.list", "?cursor="+token, "", admin), run("webhook.list", "?limit="+token, "", admin),
		run("webhook.list", "", "", admin, "X-Forwarded-For: "+lookedFrom), run("webhook."+token, "", "", admin), run(token, "?token="+token, token, admin, asForm),
		{method: "GET", target: "/api/v3/command/webhook.put?uuid=" + token, headers: []string{admin}},
		// A password where none belongs.
		run("webhook.put", "?password="+escaped, "", admin), run("webhook.put", "?secret="+escaped, "", admin), run("webhook.get", "?"+escaped+"=1", "", admin),
		run("webhook.put", "", "eventKey="+escaped, admin, asForm), run("webhook.put", "", "payloadType="+escaped, admin, asForm),
		run("webhook.get", "?uuid="+escaped, "", admin), run(escaped, "", "", admin), run("webhook.put", "", `{"password":"`+token+`"}`, admin, asJSON),
		// Log-ins that fail.
		run("webhook.get", "?uuid="+token, ""), run("webhook.get", "?uuid="+token, "", basic("admin", c.wrong.text)), run("webhook.get", "", "", basic(c.wrong.text, c.wrong.text)),
		run("webhook.get", "", "", basic(c.admin.text, "admin")), run("webhook.get", "", "", "Authorization: Basic "+c.bearer.text), run("webhook.get", "", "", "Authorization: "+c.bearer.text),
		run("webhook.get", "", "", "Authorization: Bearer "+c.bearer.text), run("webhook.get", "", "", "Authorization: Refresh "+c.bearer.text), run("webhook.get", "", "", admin, admin),
		run("webhook.get", "", "", "Authorization: Basic "+base64.StdEncoding.EncodeToString([]byte(c.wrong.text))), run("webhook.list", "", "", "Cookie: session="+c.cookie.text),
	}
	// Credentials on their way to a webhook.
	for _, header := range []string{"Authorization: Bearer " + c.bearer.text, admin, "Proxy-Authorization: Basic " + c.bearer.text, "Cookie: session=" + c.cookie.text} {
		all = append(all, request{method: "POST", target: receivePath, headers: []string{"token: " + token, header, asText}, body: "payload"})
	}
	return all
}

// secretsOfUsers are those that are no token of a webhook.
type secretsOfUsers struct {
	admin, wrong, bearer, cookie, unknown canary
}
