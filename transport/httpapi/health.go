package httpapi

import (
	"net/http"

	"hooklog/domain/fault"
)

var probes = []string{http.MethodGet, http.MethodHead}

// healthz says that the process serves, and no more.
func healthz(w http.ResponseWriter, _ *http.Request) error {
	write(w, http.StatusOK, contentJSON, []byte(`{"status":"ok"}`))
	return nil
}

// readyz hides the reason: it is for operators.
func (a *API) readyz(w http.ResponseWriter, _ *http.Request) error {
	a.writeReadiness(w, func(error) string { return "The service is not ready." })
	return nil
}

func (a *API) readyzWithReason(w http.ResponseWriter, _ *http.Request) error {
	a.writeReadiness(w, error.Error)
	return nil
}

// writeReadiness writes the problem itself, because a probe that finds the
// service not ready is no failed request to log.
func (a *API) writeReadiness(w http.ResponseWriter, detail func(error) string) {
	if err := a.deps.Ready(); err != nil {
		writeProblem(w, problem{Error: fault.New(fault.Unavailable, "%s", detail(err)), instance: "/readyz"})
		return
	}
	write(w, http.StatusOK, contentJSON, []byte(`{"status":"ready"}`))
}
