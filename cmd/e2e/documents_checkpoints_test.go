package e2e_test

import "net/http"

// exchangeCheckpoints runs the commands about checkpoints, of which there is none
// yet.
func (s *service) exchangeCheckpoints() {
	s.t.Helper()
	const put, get = commandPath + "checkpoint.put", commandPath + "checkpoint.get"
	for _, e := range []exchange{
		{"GET", get, "", "", manage(), 404},
		{"POST", get, "", "", manage(), 404},
		{"POST", put, "", "", manage(), 200},
		{"POST", put, asJSON, `{}`, manage("Idempotency-Key", "checkpoint"), 200},
		{"POST", put, asForm, "", manage("Idempotency-Key", "checkpoint"), 200},
		{"GET", get, "", "", manage(), 200},
		{"POST", get, asJSON, `{}`, manage(), 200},
	} {
		s.exchange(e)
	}
}

// manageCheckpoints runs the commands about checkpoints, in every form that gives
// another record.
func (s *service) manageCheckpoints() {
	s.t.Helper()
	s.command("checkpoint.get").want(http.StatusNotFound)
	s.command("checkpoint.put").want(http.StatusOK)
	s.command("checkpoint.get").want(http.StatusOK)
}
