package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
)

// documented stands between a client and a service and holds every exchange
// against the OpenAPI document: an answer must be one that is documented, and a
// request that is served must be one, too.
type documented struct {
	t      *testing.T
	doc    *openapi3.T
	router routers.Router
	next   http.RoundTripper
	// seen are the answers so far, as "METHOD path status".
	seen map[string]bool
	// schemes are the security schemes that a served request came with.
	schemes map[string]bool
}

// documentOf reads the document that the service serves. The services at the
// URLs are held against it.
func documentOf(t *testing.T, s *service, urls ...string) *documented {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(s.send(http.MethodGet, "/api/v3/openapi.yaml", nil).want(http.StatusOK).body)
	if err != nil {
		t.Fatal(err)
	}
	doc.Servers = nil
	for _, url := range urls {
		doc.Servers = append(doc.Servers, &openapi3.Server{URL: url})
	}
	if err := doc.Validate(t.Context()); err != nil {
		t.Fatal(err)
	}
	router, err := gorillamux.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	d := &documented{t: t, doc: doc, router: router, next: s.http.Transport, seen: map[string]bool{}, schemes: map[string]bool{}}
	s.http.Transport = d
	return d
}

// RoundTrip sends the request and checks both sides of the exchange.
func (d *documented) RoundTrip(req *http.Request) (*http.Response, error) {
	d.t.Helper()
	sent, err := keep(&req.Body)
	if err != nil {
		return nil, err
	}
	resp, err := d.next.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	if _, err := keep(&resp.Body); err != nil {
		return nil, err
	}
	asked := req.Clone(req.Context())
	asked.Body = io.NopCloser(bytes.NewReader(sent))
	if err := d.check(asked, resp); err != nil {
		d.t.Errorf("%s %s answered %d: %v", req.Method, req.URL.Path, resp.StatusCode, err)
	}
	return resp, nil
}

// CloseIdleConnections is what stopping a service asks of its client.
func (d *documented) CloseIdleConnections() {
	d.next.(interface{ CloseIdleConnections() }).CloseIdleConnections()
}

// keep reads a body and puts it back.
func keep(body *io.ReadCloser) ([]byte, error) {
	if *body == nil {
		return nil, nil
	}
	read, err := io.ReadAll(*body)
	_ = (*body).Close()
	*body = io.NopCloser(bytes.NewReader(read))
	return read, err
}

func (d *documented) check(req *http.Request, resp *http.Response) error {
	route, params, err := d.router.FindRoute(req)
	switch {
	case errors.Is(err, routers.ErrMethodNotAllowed):
		return d.checkMethodNotAllowed(req, resp)
	case err != nil:
		return fmt.Errorf("%s: %w", req.URL.Path, err)
	}
	if err := d.checkAnswer(req, route, resp); err != nil {
		return err
	}
	if resp.StatusCode < http.StatusBadRequest {
		return d.checkRequest(req, route, params)
	}
	return nil
}

// checkMethodNotAllowed holds the answer against every operation of the path,
// because it belongs to none of them.
func (d *documented) checkMethodNotAllowed(req *http.Request, resp *http.Response) error {
	if resp.StatusCode != http.StatusMethodNotAllowed {
		return errors.New("the method is served but not documented")
	}
	for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodPost} {
		asked := req.Clone(req.Context())
		asked.Method = method
		route, _, err := d.router.FindRoute(asked)
		if err != nil {
			continue // not documented for this path
		}
		if err := d.checkAnswer(req, route, resp); err != nil {
			return err
		}
	}
	return nil
}

func (d *documented) checkAnswer(req *http.Request, route *routers.Route, resp *http.Response) error {
	d.seen[fmt.Sprintf("%s %s %d", route.Method, route.Path, resp.StatusCode)] = true
	body, err := keep(&resp.Body)
	if err != nil {
		return err
	}
	return openapi3filter.ValidateResponse(req.Context(), &openapi3filter.ResponseValidationInput{
		RequestValidationInput: &openapi3filter.RequestValidationInput{Request: req, Route: route},
		Status:                 resp.StatusCode,
		Header:                 resp.Header,
		Body:                   io.NopCloser(bytes.NewReader(body)),
		Options:                &openapi3filter.Options{IncludeResponseStatus: true},
	})
}

func (d *documented) checkRequest(req *http.Request, route *routers.Route, params map[string]string) error {
	return openapi3filter.ValidateRequest(req.Context(), &openapi3filter.RequestValidationInput{
		Request:    req,
		PathParams: params,
		Route:      route,
		Options:    &openapi3filter.Options{SkipSettingDefaults: true, AuthenticationFunc: d.authenticate},
	})
}

// authenticate looks for the scheme of the header that a documented one asks for.
func (d *documented) authenticate(_ context.Context, input *openapi3filter.AuthenticationInput) error {
	scheme := map[string]string{"basic": "Basic ", "client": "Basic ", "bearer": "Bearer ", "refresh": "Refresh "}[input.SecuritySchemeName]
	given := input.RequestValidationInput.Request.Header.Get("Authorization")
	if scheme == "" || !strings.HasPrefix(given, scheme) {
		return fmt.Errorf("no authorization by %s", input.SecuritySchemeName)
	}
	d.schemes[input.SecuritySchemeName] = true
	return nil
}

// refuses fails the test where the document has nothing against a request.
func (d *documented) refuses(req *http.Request) {
	d.t.Helper()
	route, params, err := d.router.FindRoute(req)
	if err != nil {
		d.t.Fatal(err)
	}
	if d.checkRequest(req, route, params) == nil {
		d.t.Errorf("the document allows %s %s as it is", req.Method, req.URL.Path)
	}
}

// operation is one method of a path as the service has it.
type operation struct {
	method, path string
	*openapi3.Operation
}

// operations lists everything that can be asked.
func (d *documented) operations() (all []operation) {
	for path, item := range d.doc.Paths.Map() {
		for method, op := range item.Operations() {
			all = append(all, operation{method, strings.ReplaceAll(path, "{namespace}", "hooklog"), op})
		}
	}
	return all
}

// managed reports a management command: the one kind without rules of its own.
func (o operation) managed() bool { return o.Security == nil }

// answers lists the documented answers, as seen does.
func (d *documented) answers() []string {
	var all []string
	for path, item := range d.doc.Paths.Map() {
		for method, op := range item.Operations() {
			for status := range op.Responses.Map() {
				all = append(all, method+" "+path+" "+status)
			}
		}
	}
	return all
}

// unseen lists the documented answers that no exchange had.
func (d *documented) unseen() []string {
	return slices.Sorted(slices.Values(slices.DeleteFunc(d.answers(), func(a string) bool { return d.seen[a] })))
}

// undocumented lists the answers of exchanges that are not documented. For HEAD
// nothing else looks at the status.
func (d *documented) undocumented() []string {
	known := d.answers()
	return slices.DeleteFunc(slices.Sorted(maps.Keys(d.seen)), func(a string) bool { return slices.Contains(known, a) })
}
