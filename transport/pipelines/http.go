package pipelines

import (
	"context"
	"mime"
	"strings"

	"hooklog/transport/pipelines/outbound"
)

// HTTPRequest is the step http.request, for the catalog of a service that may
// send requests.
var HTTPRequest = Command{
	Name: "http.request",
	Params: []Param{
		{Name: "url", Type: Text, Required: true},
		{Name: "method", Type: Text, Enum: outbound.Methods},
		{Name: "headers", Type: Object},
		{Name: "body"},
	},
}

// DoHTTPRequest carries out the step. Its result has status, headers with
// lower-case keys, and body: a value where the answer is JSON, else a text or
// bytes. Any status is a result; what it means is for the pipeline to say.
func DoHTTPRequest(ctx context.Context, client *outbound.Client, call StepCall) (any, error) {
	request, err := httpRequest(call.Params)
	if err != nil {
		return nil, err
	}
	request.Traceparent = call.Span.String()
	answer, err := client.Do(ctx, request)
	if err != nil {
		return nil, err
	}
	headers := make(map[string]any, len(answer.Header))
	for name, value := range answer.Header {
		headers[name] = strings.ToValidUTF8(value, "�")
	}
	return map[string]any{"status": int64(answer.Status), "headers": headers, "body": answerBody(answer)}, nil
}

func httpRequest(params map[string]any) (outbound.Request, error) {
	r := outbound.Request{Method: "GET", Header: map[string]string{}}
	r.URL, _ = params["url"].(string)
	if method, ok := params["method"].(string); ok {
		r.Method = method
	}
	headers, _ := params["headers"].(map[string]any)
	typed := false
	for name, v := range headers {
		value, ok := v.(string)
		if !ok {
			return r, wrong("the header %s must be a text", shown(name))
		}
		typed = typed || strings.EqualFold(name, "content-type")
		r.Header[name] = value
	}
	body, given := params["body"]
	if !given {
		return r, nil
	}
	kind := "application/json"
	switch b := body.(type) {
	case string:
		r.Body, kind = []byte(b), "text/plain; charset=utf-8"
	case []byte:
		r.Body, kind = b, "application/octet-stream"
	default:
		data, err := Encode(b)
		if err != nil {
			return r, wrong("body %v", errNoJSON)
		}
		r.Body = data
	}
	if !typed {
		r.Header["Content-Type"] = kind
	}
	return r, nil
}

// answerBody reads an answer; what says that it is JSON and is not stays a text.
func answerBody(a outbound.Answer) any {
	if len(a.Body) == 0 {
		return nil
	}
	media, _, _ := mime.ParseMediaType(a.Header["content-type"])
	if media == "application/json" || strings.HasSuffix(media, "+json") {
		if v, err := Decode(a.Body); err == nil {
			return v
		}
	}
	return textOrBytes(a.Body)
}
