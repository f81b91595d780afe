package e2e_test

import "github.com/getkin/kin-openapi/openapi3filter"

// JSON Lines are a text to the document.
func init() {
	openapi3filter.RegisterBodyDecoder("application/x-ndjson", openapi3filter.RegisteredBodyDecoder("text/plain"))
}

const auditCommands = commandPath + "audit."

// exchangeAudit asks for what the exchanges before have left on the audit: every
// kind of entry must be as documented.
func (s *service) exchangeAudit() {
	s.t.Helper()
	const get, export = auditCommands + "get", auditCommands + "export"
	const filter = "from=2026-01-01T00:00:00Z&to=2126-01-01T00:00:00Z&user=admin&outcome=ok"
	for _, e := range []exchange{
		{"GET", get + "?limit=1000", "", "", manage(), 200},
		{"GET", get + "?" + filter + "&command=webhook.put&webhook=webhook.one", "", "", manage(), 200},
		{"POST", get, "", "", manage(), 200},
		{"POST", get, asForm, filter, manage(), 200},
		{"POST", get, asJSON, `{"webhook":"e1f3a9","limit":3}`, manage(), 200},

		{"GET", export, "", "", manage(), 200},
		{"GET", export + "?" + filter, "", "", manage(), 200},
		{"POST", export, "", "", manage(), 200},
		{"POST", export, asForm, filter, manage(), 200},
		{"POST", export, asJSON, `{"command":"login"}`, manage(), 200},
	} {
		s.exchange(e)
	}
	next := s.exchange(exchange{"POST", get, asJSON, `{"limit":1}`, manage(), 200}).object()["next"].(string)
	s.exchange(exchange{"GET", get + "?limit=1&cursor=" + next, "", "", manage(), 200})
}

// exchangePast asks for webhooks as they were.
func (s *service) exchangePast() {
	s.t.Helper()
	hook := s.put("eventKey=webhook.past")
	for _, e := range []exchange{
		{"GET", getPath + "?uuid=" + hook.UUID + "&at=1", "", "", manage(), 404},
		{"GET", getPath + "?uuid=" + hook.UUID + "&at=" + hook.Created.Format("2006-01-02T15:04:05.000Z"), "", "", manage(), 200},
		{"POST", getPath, asJSON, `{"uuid":"` + hook.UUID + `","at":"999999"}`, manage(), 400},
	} {
		s.exchange(e)
	}
}

func (s *service) exchangeAuditParameters(d *documented) {
	s.t.Helper()
	for _, e := range []exchange{
		{"GET", auditCommands + "get?limit=0", "", "", manage(), 400},
		{"GET", auditCommands + "get?from=yesterday", "", "", manage(), 400},
		{"GET", auditCommands + "get?cursor=*", "", "", manage(), 400},
		{"POST", auditCommands + "export", asJSON, `{"limit":1}`, manage(), 400},
		{"POST", auditCommands + "export", asJSON, `{"to":"1"}`, manage(), 400},
		{"GET", getPath + "?uuid=2f1d0c52-7a3e-4c55-9c1b-0b5a6de1f3a9&at=now", "", "", manage(), 400},
		{"POST", getPath, asJSON, `{"at":"1"}`, manage(), 400},
	} {
		s.refusedByBoth(d, e)
	}
}
