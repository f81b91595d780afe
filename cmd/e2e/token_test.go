package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

func TestTokenPlaces(t *testing.T) {
	s := startOnOne(t)
	const key = "webhook.places"
	id := s.put("eventKey="+key, "payloadType=raw").UUID
	inHeader := map[string][]string{"token": {id}}
	multipartType, multipartToken := multipartBody(part{name: "token", content: id})
	_, multipartForeign := multipartBody(part{name: "token", content: "theirs"}, part{name: "token", content: "again"})
	const slack = "token=gIkuvaNzQIHg97ATvDxqgjtO&team_id=T0001"
	const twice = `{"token":"theirs","token":"again"}`

	tests := []struct {
		name string
		call request
		// payload is as in the message; empty means absent.
		payload string
	}{
		{"the token may be sent as an HTTP request header", request{header: inHeader, contentType: asJSON, body: `1`}, `1`},
		{"header keys are case-insensitive: Token", request{header: map[string][]string{"Token": {id}}}, ``},
		{"header keys are case-insensitive: TOKEN", request{header: map[string][]string{"TOKEN": {id}}}, ``},
		{"header keys are case-insensitive: tOkEn", request{header: map[string][]string{"tOkEn": {id}}}, ``},
		{"as a query parameter", request{query: "token=" + id, contentType: asJSON, body: `2`}, `2`},
		{"in the body of a POST: form field", request{contentType: asForm, body: "a=1&token=" + id}, `"a=1&token=` + nilUUID + `"`},
		{"in the body of a POST: multipart field", request{contentType: multipartType, body: multipartToken}, `{"files":[]}`},
		{
			"in the body of a POST: the top-level JSON member exactly token",
			request{contentType: asJSON, body: `{"a":{"token":"x"},"token":"` + id + `"}`},
			`{"a":{"token":"x"},"token":"` + nilUUID + `"}`,
		},
		{"by GET in the header", request{method: http.MethodGet, header: inHeader}, ``},
		{"by GET in the query", request{method: http.MethodGet, query: "token=" + id}, ``},
		{"header and query may carry the same token", request{header: inHeader, query: "token=" + id}, ``},
		{"with a header token, a token in a form is payload", request{header: inHeader, contentType: asForm, body: slack}, `"` + slack + `"`},
		{"with a query token, a token in a form is payload", request{query: "token=" + id, contentType: asForm, body: slack}, `"` + slack + `"`},
		{"with a header token, a token in JSON is payload, twice too", request{header: inHeader, contentType: asJSON, body: twice}, twice},
		{"with a query token, a token in JSON is payload, twice too", request{query: "token=" + id, contentType: asJSON, body: twice}, twice},
		{"with a header token, a token in multipart is none, twice too", request{header: inHeader, contentType: multipartType, body: multipartForeign}, `{"files":[]}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := s.in(t)
			got := s.message(key, s.receive(tt.call).accepted())
			if diff := cmp.Diff(tt.payload, string(got.Payload)); diff != "" {
				t.Errorf("payload (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTokenRefusals(t *testing.T) {
	s := startOnOne(t)
	id := s.put("eventKey=webhook.mine", "payloadType=raw").UUID
	other := s.put("eventKey=webhook.other", "payloadType=raw").UUID
	inHeader := map[string][]string{"token": {id}}
	multipartType, twoParts := multipartBody(part{name: "token", content: id}, part{name: "token", content: id})
	_, longPart := multipartBody(part{name: "token", content: id + strings.Repeat(" ", 29)})
	_, paddedPart := multipartBody(part{name: "token", content: id + " "})

	tests := []struct {
		name   string
		call   request
		status int
	}{
		{"header and query carry different tokens: 400", request{header: inHeader, query: "token=" + other}, 400},
		{"header and query carry different tokens, one malformed: 400", request{header: inHeader, query: "token=x"}, 400},
		{"token twice in the place that counts, the header: 400", request{header: map[string][]string{"token": {id, id}}}, 400},
		{"token twice in the place that counts, the query: 400", request{query: "token=" + id + "&token=" + id}, 400},
		{"token twice in the place that counts, a form: 400", request{contentType: asForm, body: "token=" + id + "&token=" + id}, 400},
		{"token twice in the place that counts, multipart: 400", request{contentType: multipartType, body: twoParts}, 400},
		{"token twice in the place that counts, JSON: 400", request{contentType: asJSON, body: `{"token":"` + id + `","token":"` + id + `"}`}, 400},
		{"only when header and query are absent, the body: a malformed header counts", request{header: map[string][]string{"token": {"x"}}, contentType: asForm, body: "token=" + id}, 404},
		{"only when header and query are absent, the body: an empty query token counts", request{query: "token=", contentType: asForm, body: "token=" + id}, 404},
		{"the member is exactly token, not Token", request{contentType: asJSON, body: `{"Token":"` + id + `"}`}, 404},
		{"the member is top-level, not nested", request{contentType: asJSON, body: `{"a":{"token":"` + id + `"}}`}, 404},
		{"the member is of an object, not of an array", request{contentType: asJSON, body: `[{"token":"` + id + `"}]`}, 404},
		{"a multipart field of at most 64 bytes", request{contentType: multipartType, body: longPart}, 404},
		{"nothing but 36 characters parses", request{contentType: multipartType, body: paddedPart}, 404},
		{"the body of a POST, not of a GET", request{method: http.MethodGet, contentType: asForm, body: "token=" + id}, 404},
		{"a form field, not a line of text", request{contentType: asText, body: "token=" + id}, 404},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := s.in(t).receive(tt.call)
			wantProblem(t, a, tt.status, false)
			if strings.Contains(string(a.body), id) {
				t.Errorf("the answer repeats the token: %s", a.body)
			}
		})
	}
	if n := len(s.events("webhook.mine")) + len(s.events("webhook.other")); n != 0 {
		t.Errorf("%d events of refused calls", n)
	}
}

func TestNoOracle(t *testing.T) {
	s := startOnOne(t)
	living := s.put("eventKey=webhook.living").UUID
	disabled := s.put("eventKey=webhook.disabled", "enabled=false").UUID
	deleted := s.put("eventKey=webhook.deleted").UUID
	s.command("webhook.delete", "uuid="+deleted).want(200)

	for name, call := range map[string]request{
		"missing by GET":                 {method: http.MethodGet},
		"missing in a JSON body":         {contentType: asJSON, body: `{"a":1}`},
		"missing in a form":              {contentType: asForm, body: `a=1`},
		"empty":                          {header: map[string][]string{"token": {""}}},
		"unknown":                        {header: map[string][]string{"token": {uuid.NewString()}}},
		"unknown in the query":           {query: "token=" + uuid.NewString()},
		"unknown in the body":            {contentType: asForm, body: "token=" + uuid.NewString()},
		"malformed, in capitals":         {header: map[string][]string{"token": {strings.ToUpper(living)}}},
		"malformed, without hyphens":     {header: map[string][]string{"token": {strings.ReplaceAll(living, "-", "")}}},
		"malformed, one character more":  {query: "token=" + living + "0"},
		"malformed, one character fewer": {query: "token=" + living[:35]},
		"malformed, with an escape":      {query: "token=" + strings.Replace(living, "-", "%2D", 1)},
		"disabled":                       {header: map[string][]string{"token": {disabled}}},
		"disabled in the query of a GET": {method: http.MethodGet, query: "token=" + disabled},
		"disabled in the body":           {contentType: asJSON, body: `{"token":"` + disabled + `"}`},
		"deleted":                        {header: map[string][]string{"token": {deleted}}},
		"deleted, with a bad parameter":  {query: "pollingRedirectEnabled=x&token=" + deleted},
		"deleted, with an encoding":      {header: map[string][]string{"token": {deleted}, "Content-Encoding": {"gzip"}}},
		"deleted, with a body too large": {query: "token=" + deleted, body: strings.Repeat("x", 512001)},
	} {
		t.Run("404 with one identical body for a token that is "+name, func(t *testing.T) {
			s := s.in(t)
			nothing := s.receive(request{})
			wantProblem(t, nothing, 404, false)
			wantIdentical(t, nothing, s.receive(call))
		})
	}

	t.Run("enabled=false keeps the token for later", func(t *testing.T) {
		s := s.in(t)
		s.put("uuid="+disabled, "enabled=true")
		s.receive(request{header: map[string][]string{"token": {disabled}}}).want(200)
	})
	t.Run("a living token is taken", func(t *testing.T) {
		s.in(t).receive(request{query: "token=" + living}).want(200)
	})
}
