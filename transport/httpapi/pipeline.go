package httpapi

import (
	"bytes"
	"net/http"

	"hooklog/domain/catalog"
	"hooklog/domain/event"
	"hooklog/domain/fault"
	"hooklog/transport/commands"
)

const (
	pipelinePath = "/api/v3/pipeline"
	// maxPipeline is the largest pipeline in bytes.
	maxPipeline = 256 << 10
)

// pipeline runs the pipeline of the body once, as the caller, and answers its
// final body. In policies and on the log it is pipeline.run.
func (a *API) pipeline(w http.ResponseWriter, r *http.Request, req commands.Request) (err error) {
	req.Command, _ = catalog.Lookup(catalog.PipelineRun)
	if req.IdempotencyKey, err = idempotencyKey(r.Header); err != nil {
		return err
	}
	if r.URL.RawQuery != "" {
		return fault.New(fault.Invalid, "A pipeline takes no parameters; write them into it.")
	}
	source, err := pipelineSource(w, r)
	if err != nil {
		return err
	}
	answer, err := a.deps.Commands.RunSource(r.Context(), req, source)
	if err != nil {
		return err
	}
	return writeAnswer(w, catalog.PipelineRun, answer)
}

// pipelineSource reads the body as text: JSON is YAML too.
func pipelineSource(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	switch kind := mediaType(r.Header); {
	case kind == "application/yaml", kind == "application/x-yaml", kind == "text/yaml", event.IsJSONType(kind):
	default:
		return nil, fault.New(fault.Unsupported, "The body must be application/yaml or %s.", contentJSON)
	}
	c, err := wholeBody(w, r, maxPipeline)
	defer c.release()
	return bytes.Clone(c.body), err // c's memory is lent
}
