package httpapi

import (
	"log/slog"
	"net/http"

	"hooklog/domain/fault"
)

// Unable answers while the service cannot: before it has recovered, and after
// its fold has stopped. Health is answered as ever, all else with 503. Only
// operators are told the reason, and the metrics; the listener of callers has nil.
func Unable(log *slog.Logger, ready func() error, metrics http.Handler) http.Handler {
	a := &API{deps: Deps{Log: log, Ready: ready, Metrics: metrics}}
	routes := []route{
		{path: "/healthz", methods: probes, handle: healthz},
		{path: "/readyz", methods: probes, handle: a.readyz},
	}
	if metrics != nil {
		routes = a.probedRoutes()
	}
	return a.guard(a.router(append(routes, route{path: "/{anything:.*}", handle: notNow})))
}

// notNow writes the problem itself: that the service is not ready is logged once,
// not for each request.
func notNow(w http.ResponseWriter, _ *http.Request) error {
	writeProblem(w, problem{Error: fault.New(fault.Unavailable, "The service is not ready."), instance: "/"})
	return nil
}
