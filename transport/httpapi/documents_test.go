package httpapi_test

import (
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"go.yaml.in/yaml/v3"

	"hooklog/domain/catalog"
	"hooklog/domain/fault"
	"hooklog/domain/registry"
)

const (
	openAPIPath  = "/api/v3/openapi.yaml"
	asyncAPIPath = "/api/v3/asyncapi.yaml"
)

var anyOrder = cmpopts.SortSlices(strings.Compare)

func TestDocumentsAreServed(t *testing.T) {
	w := newWorld(t)
	for path, file := range map[string]string{openAPIPath: "openapi.yaml", asyncAPIPath: "asyncapi.yaml"} {
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rec := w.get(path)
		wantStatus(t, rec, http.StatusOK)
		if got := rec.Header().Get("Content-Type"); got != "application/yaml" {
			t.Errorf("%s: Content-Type %q", path, got)
		}
		if rec.Body.String() != string(want) {
			t.Errorf("%s is not %s", path, file)
		}
	}
}

// openAPI is the document as served, which must be valid with its examples.
func openAPI(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromData(newWorld(t).get(openAPIPath).Body.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if err := doc.Validate(t.Context(), openapi3.EnableExamplesValidation()); err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestOpenAPIHasThePathsThatAreServed(t *testing.T) {
	documented := map[string][]string{}
	for path, item := range openAPI(t).Paths.Map() {
		if ofTheRealm(path) {
			continue // a handler of its own, which may be missing
		}
		documented[path] = slices.Collect(maps.Keys(item.Operations()))
	}
	served := newWorld(t).api.PublicRoutes()
	const anyOtherCommand = "/api/v3/command/{command}" // answers 404 whatever it is asked
	if methods, ok := served[anyOtherCommand]; !ok || methods != nil {
		t.Errorf("%s has methods %v", anyOtherCommand, methods)
	}
	delete(served, anyOtherCommand)
	if diff := cmp.Diff(served, documented, anyOrder); diff != "" {
		t.Errorf("served and documented methods differ (-served +documented):\n%s", diff)
	}
}

func TestOpenAPIHasTheCommandsOfTheCatalog(t *testing.T) {
	doc := openAPI(t)
	for _, c := range catalog.All() {
		t.Run(c.Name, func(t *testing.T) {
			item := doc.Paths.Value("/api/v3/command/" + c.Name)
			if item == nil {
				t.Fatal("not documented")
			}
			if item.Post == nil || (item.Get != nil) != c.ReadOnly() {
				t.Errorf("documented for %v", slices.Sorted(maps.Keys(item.Operations())))
			}
			if c.Kind == catalog.Receive {
				wantReceive(t, c, item)
				return
			}
			for method, op := range item.Operations() {
				wantCommand(t, c, method, op)
			}
		})
	}
	for path := range doc.Paths.Map() {
		name, ok := strings.CutPrefix(path, "/api/v3/command/")
		if _, known := catalog.Lookup(name); ok && !known {
			t.Errorf("%s is not in the catalog", name)
		}
	}
}

// wantCommand checks one operation of a management command: its parameters are
// in the query of a GET, and in the form or JSON body of a POST.
func wantCommand(t *testing.T, c catalog.Command, method string, op *openapi3.Operation) {
	t.Helper()
	if op.Security != nil {
		t.Errorf("%s does not take the authentication of all commands", method)
	}
	if keyed := op.Parameters.GetByInAndName("header", "Idempotency-Key") != nil; keyed != (c.Kind != catalog.Look) {
		t.Errorf("%s: Idempotency-Key documented: %t", method, keyed)
	}
	if method == http.MethodGet {
		wantParams(t, c, queryOf(op))
		return
	}
	for _, kind := range []string{"application/json", "application/x-www-form-urlencoded"} {
		media := op.RequestBody.Value.Content[kind]
		if media == nil {
			t.Fatalf("no %s body", kind)
		}
		schema := media.Schema.Value
		if closed := schema.AdditionalProperties.Has; closed == nil || *closed {
			t.Errorf("%s: parameters that the command does not have are allowed", kind)
		}
		wantParams(t, c, schema)
	}
	if len(op.RequestBody.Value.Content) != 2 {
		t.Errorf("bodies %v", slices.Sorted(maps.Keys(op.RequestBody.Value.Content)))
	}
}

// queryOf gives the query parameters as the properties of an object.
func queryOf(op *openapi3.Operation) *openapi3.Schema {
	query := openapi3.NewObjectSchema()
	for _, p := range op.Parameters {
		if p.Value.In != "query" {
			continue
		}
		schema := *p.Value.Schema.Value
		schema.Description = p.Value.Description
		query.WithProperty(p.Value.Name, &schema)
		if p.Value.Required {
			query.Required = append(query.Required, p.Value.Name)
		}
	}
	return query
}

func wantParams(t *testing.T, c catalog.Command, documented *openapi3.Schema) {
	t.Helper()
	var names, required []string
	for _, p := range c.Params {
		names = append(names, p.Name)
		if p.Alias != "" {
			names = append(names, p.Alias)
			wantParam(t, p, p.Alias, documented)
		}
		if p.Required {
			required = append(required, p.Name)
		}
		wantParam(t, p, p.Name, documented)
	}
	if diff := cmp.Diff(names, slices.Collect(maps.Keys(documented.Properties)), anyOrder); diff != "" {
		t.Errorf("parameters (-catalog +documented):\n%s", diff)
	}
	if diff := cmp.Diff(required, documented.Required, anyOrder, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("required parameters (-catalog +documented):\n%s", diff)
	}
}

func wantParam(t *testing.T, p catalog.Param, name string, documented *openapi3.Schema) {
	t.Helper()
	ref := documented.Properties[name]
	if ref == nil {
		return // named by the comparison of all names
	}
	want := map[catalog.Type]string{
		catalog.String: "string", catalog.Integer: "integer", catalog.Boolean: "boolean", catalog.Token: "string",
		catalog.Password: "string", catalog.List: "string",
	}[p.Type]
	if !ref.Value.Type.Is(want) {
		t.Errorf("%s is documented as %v, not as %s", name, ref.Value.Type, want)
	}
	// Of a text the document may say more.
	format := map[catalog.Type]string{catalog.Token: "uuid", catalog.Password: "password"}[p.Type]
	if p.Type != catalog.String && ref.Value.Format != format {
		t.Errorf("%s has the format %q, not %q", name, ref.Value.Format, format)
	}
	var values []string
	for _, v := range ref.Value.Enum {
		values = append(values, v.(string))
	}
	if diff := cmp.Diff(p.Enum, values, anyOrder, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("values of %s (-catalog +documented):\n%s", name, diff)
	}
	if ref.Value.Description == "" {
		t.Errorf("%s is not explained", name)
	}
}

// wantReceive checks the one command with rules of its own: the token may stand
// in several places, so none of them can be required.
func wantReceive(t *testing.T, c catalog.Command, item *openapi3.PathItem) {
	t.Helper()
	optional := c
	optional.Params = slices.Clone(c.Params)
	for i := range optional.Params {
		optional.Params[i].Required = false
	}
	for method, op := range item.Operations() {
		wantParams(t, optional, queryOf(op))
		if op.Security == nil || len(*op.Security) != 0 {
			t.Errorf("%s needs more than the token", method)
		}
		if op.Parameters.GetByInAndName("header", "token") == nil {
			t.Errorf("%s takes no token in the header", method)
		}
	}
	bodies := item.Post.RequestBody.Value.Content
	for _, kind := range []string{"application/x-www-form-urlencoded", "multipart/form-data"} {
		if bodies[kind].Schema.Value.Properties["token"] == nil {
			t.Errorf("%s takes no token", kind)
		}
	}
	if bodies["*/*"] == nil {
		t.Error("not every content type is welcome")
	}
}

// Every documented error is the problem that the service writes for its status.
func TestOpenAPIHasTheProblemsOfTheService(t *testing.T) {
	kinds := map[int]fault.Kind{}
	for k := fault.Internal; k <= fault.Unavailable; k++ {
		kinds[k.Status()] = k
	}
	documented := map[int]bool{}
	checked := map[*openapi3.Schema]bool{} // most operations share theirs
	for path, item := range openAPI(t).Paths.Map() {
		for method, op := range item.Operations() {
			for status, kind := range kinds {
				response := op.Responses.Status(status)
				if response == nil || method == http.MethodHead {
					continue
				}
				media := response.Value.Content["application/problem+json"]
				if media == nil {
					if !ofTheRealm(path) { // whose errors are those of OAuth
						t.Errorf("%s %s %d is no problem document", method, path, status)
					}
					continue
				}
				documented[status] = true
				schema := media.Schema.Value
				if checked[schema] {
					continue
				}
				checked[schema] = true
				if err := schema.VisitJSON(problemOf(kind, path), openapi3.EnableJSONSchema2020()); err != nil {
					t.Errorf("%s %s %d: %v", method, path, status, err)
				}
				for _, other := range kinds {
					if other != kind && schema.VisitJSON(problemOf(other, path), openapi3.EnableJSONSchema2020()) == nil {
						t.Errorf("%s %s %d also takes %s", method, path, status, other)
					}
				}
			}
		}
	}
	for status, kind := range kinds {
		if !documented[status] {
			t.Errorf("%d %s is not documented", status, kind)
		}
	}
}

// ofTheRealm reports a path of the own realm, which the whole service is asked for.
func ofTheRealm(path string) bool { return strings.HasPrefix(path, "/auth/realms/") }

func problemOf(k fault.Kind, path string) map[string]any {
	if ofTheRealm(path) {
		path = "/" // what is wrong there is wrong everywhere
	}
	return map[string]any{
		"type": fault.ProblemType(k), "title": k.Title(), "status": k.Status(),
		"detail": "Something is wrong.", "instance": path,
	}
}

// Every command that leaves a record is documented with the form of its record.
func TestAsyncAPIHasTheCommandsOfTheCatalog(t *testing.T) {
	type named struct {
		Properties struct {
			Name struct {
				Enum []string
			}
		}
	}
	var doc struct {
		Components struct {
			Schemas map[string]yaml.Node
		}
	}
	if err := yaml.Unmarshal(newWorld(t).get(asyncAPIPath).Body.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	commands := []string{registry.ClusterInit, registry.AdminReset, registry.KeyInit, registry.CheckpointInit, registry.LogAccept}
	var looks []string
	for _, c := range catalog.All() {
		switch c.Kind {
		case catalog.Change, catalog.RegistryRead:
			commands = append(commands, c.Name)
		case catalog.Look:
			looks = append(looks, c.Name)
		}
	}
	for schema, want := range map[string][]string{"Command": commands, "Look": looks} {
		var documented named
		node := doc.Components.Schemas[schema]
		if err := node.Decode(&documented); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, documented.Properties.Name.Enum, anyOrder); diff != "" {
			t.Errorf("%s (-catalog +documented):\n%s", schema, diff)
		}
	}
}
