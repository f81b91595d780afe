package httpapi_test

import (
	"net/http"
	"strings"
	"testing"

	"hooklog/domain/fault"
)

const pipelines = "/api/v3/pipeline"

func TestAPipelineIsRunAsItsCaller(t *testing.T) {
	const source = "pipeline:\n  - set: {value: 1}\n"
	for _, kind := range []string{"application/yaml", "text/yaml; charset=utf-8", "application/x-yaml", jsonType} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			r := newPost(pipelines, kind, source)
			r.SetBasicAuth("ada", "secret")
			r.Header.Set("Idempotency-Key", "k-1")
			rec := w.do(r)
			wantStatus(t, rec, http.StatusOK)
			req := w.commands.requests[0]
			if req.Caller.Principal != "ada" || req.Command.Name != "pipeline.run" || req.IdempotencyKey != "k-1" || w.commands.source != source {
				t.Errorf("request %+v with %q", req, w.commands.source)
			}
			if got := rec.Body.String(); got != `{"plain":"<json>"}` || rec.Header().Get("Content-Type") != jsonType {
				t.Errorf("answer %s of %s", got, rec.Header().Get("Content-Type"))
			}
		})
	}
}

func TestWhatIsNoPipelineIsNotRun(t *testing.T) {
	large := strings.Repeat("#", 256<<10+1)
	encoded := newPost(pipelines, "application/yaml", "x")
	encoded.Header.Set("Content-Encoding", "gzip")
	for name, c := range map[string]struct {
		r    *http.Request
		want fault.Kind
	}{
		"a form":                 {newPost(pipelines, formType, "x=1"), fault.Unsupported},
		"no type":                {newPost(pipelines, "", "x"), fault.Unsupported},
		"an encoded body":        {encoded, fault.Unsupported},
		"parameters in a query":  {newPost(pipelines+"?name=x", "application/yaml", "x"), fault.Invalid},
		"too large":              {newPost(pipelines, "application/yaml", large), fault.TooLarge},
		"too large, unannounced": {chunked(newPost(pipelines, "application/yaml", large)), fault.TooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			wantProblem(t, w.do(c.r), c.want)
			if len(w.commands.requests) != 0 {
				t.Error("it was run")
			}
		})
	}
	t.Run("from nobody", func(t *testing.T) {
		w := newWorld(t, func(w *world) { w.auth = fault.New(fault.Unauthenticated, "Who?") })
		wantProblem(t, w.do(newPost(pipelines, "application/yaml", "x")), fault.Unauthenticated)
	})
}
