package httpapi

import (
	"context"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"hooklog/domain/call"
	"hooklog/domain/catalog"
	"hooklog/domain/fault"
)

const (
	paramCorrelationID   = "svc-result-correlationid"
	paramPollingRedirect = "pollingRedirectEnabled"
)

// result answers a poll. Whoever knows the correlation id may poll.
func (a *API) result(w http.ResponseWriter, r *http.Request) error {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return errQuery()
	}
	id, err := single(query, paramCorrelationID)
	if err != nil {
		return err
	}
	if id == "" {
		return fault.New(fault.Invalid, "%s is missing.", paramCorrelationID)
	}
	redirect, given, err := pollingRedirect(query)
	if err != nil {
		return err
	}
	seen, err := a.find(r.Context(), id)
	if err == nil && seen.processing() && redirect {
		seen, err = a.hold(r.Context(), id)
	}
	switch {
	case err != nil:
		return err
	case !seen.alive:
		return errGone()
	case seen.ready():
		return a.writeResult(w, seen, redirect)
	case redirect:
		a.redirectToResult(w, id)
		return nil
	}
	pace, inPace := a.paces.poll(id, a.deps.Now())
	switch {
	case !inPace:
		return fault.New(fault.TooMany, "The result was polled too soon; the wait grows with every early poll.").After(pace.Wait())
	case given:
		setRetryAfter(w.Header(), pace.Wait())
		return a.writeResult(w, seen, false)
	default:
		a.redirectToResult(w, id)
		return nil
	}
}

// hold waits for a result as long as a poll may be held.
func (a *API) hold(ctx context.Context, id string) (sight, error) {
	ctx, cancel := context.WithTimeout(ctx, a.cfg.PollHold)
	defer cancel()
	released, leave := a.holds.enter(id)
	defer leave()
	w := a.watch(id)
	defer func() { w.stop() }()
	return a.await(ctx, id, &w, released)
}

func (a *API) writeResult(w http.ResponseWriter, seen sight, redirect bool) error {
	value, err := a.value(seen)
	if err != nil {
		return err
	}
	result := call.Result{
		CorrelationID:          seen.CorrelationID,
		TraceID:                seen.TraceID,
		Status:                 seen.status,
		Value:                  value,
		PollingRedirectEnabled: redirect,
	}
	write(w, http.StatusOK, contentJSON, result.AppendJSON(make([]byte, 0, resultRoom+len(value))))
	return nil
}

// redirectToResult sends the caller to a poll that is held.
func (a *API) redirectToResult(w http.ResponseWriter, id string) {
	w.Header().Set("Location", a.polled+id+"&"+paramPollingRedirect+"=true")
	w.WriteHeader(http.StatusFound)
}

// errGone is the one answer to malformed, unknown and expired ids.
func errGone() error {
	return fault.New(fault.Gone, "There is no result with this correlation id, or no longer.")
}

// pollingRedirect reads the parameter of receive and result.
func pollingRedirect(query url.Values) (enabled, given bool, err error) {
	text, err := single(query, paramPollingRedirect)
	if err != nil || len(query[paramPollingRedirect]) == 0 {
		return false, false, err
	}
	enabled, err = catalog.ParseBool(paramPollingRedirect, text)
	return enabled, true, err
}

// single gives a parameter that may be repeated, but not contradicted.
func single(query url.Values, name string) (string, error) {
	for _, value := range query[name] {
		if value != query[name][0] {
			return "", fault.New(fault.Invalid, "%s is given twice with different values.", name)
		}
	}
	return query.Get(name), nil
}

// isCorrelationID accepts only the form in which ids are given out.
func isCorrelationID(s string) bool {
	id, err := uuid.Parse(s)
	return err == nil && id.String() == s
}
