package httpapi

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"hooklog/domain/catalog"
	"hooklog/domain/event"
	"hooklog/domain/fault"
)

const (
	contentJSON      = "application/json"
	contentForm      = "application/x-www-form-urlencoded"
	contentMultipart = "multipart/form-data"
)

// maxCommandBody is the largest body of a management command in bytes.
const maxCommandBody = 1 << 20

// parameters collects what a management command was given, from the query and
// from a form or JSON body, whatever the method.
func parameters(w http.ResponseWriter, r *http.Request) ([]catalog.Given, error) {
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, errQuery()
	}
	given := fromValues(nil, query, catalog.Query)
	given, err = bodyParameters(given, w, r)
	if err != nil {
		return nil, err
	}
	for _, g := range given {
		if !utf8.ValidString(g.Name) || !utf8.ValidString(g.Value) {
			return nil, fault.New(fault.Invalid, "Parameters must be UTF-8.")
		}
	}
	return given, nil
}

func errQuery() error { return fault.New(fault.Invalid, "The query is malformed.") }

func bodyParameters(given []catalog.Given, w http.ResponseWriter, r *http.Request) ([]catalog.Given, error) {
	c, err := wholeBody(w, r, maxCommandBody)
	defer c.release()
	if err != nil || c.size == 0 {
		return given, err
	}
	switch kind := mediaType(r.Header); {
	case kind == contentForm:
		form, err := url.ParseQuery(string(c.body))
		if err != nil {
			return nil, fault.New(fault.Invalid, "The form is malformed.")
		}
		return fromValues(given, form, catalog.Body), nil
	case event.IsJSONType(kind):
		return fromJSON(given, c.body)
	default:
		return nil, fault.New(fault.Unsupported, "The body must be %s or %s.", contentJSON, contentForm)
	}
}

// wholeBody reads the body of a request that is no call. What it lies in must be
// released.
func wholeBody(w http.ResponseWriter, r *http.Request, limit int) (c content, err error) {
	if hasContentEncoding(r.Header) {
		return c, errContentEncoding()
	}
	in, err := newInflow(w, r, limit, nil)
	if err != nil {
		return c, err
	}
	err = c.receiveWhole(&in)
	return c, err
}

func errContentEncoding() error {
	return fault.New(fault.Unsupported, "Content-Encoding is not supported.")
}

func fromValues(given []catalog.Given, values url.Values, source catalog.Source) []catalog.Given {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		for _, value := range values[name] {
			given = append(given, catalog.Given{Name: name, Value: value, Source: source})
		}
	}
	return given
}

// fromJSON reads the members of one object one by one, because a decoder into a
// map would hide a name that is given twice.
func fromJSON(given []catalog.Given, body []byte) ([]catalog.Given, error) {
	malformed := fault.New(fault.Invalid, "The body must be one JSON object.")
	if !utf8.Valid(body) {
		return nil, malformed
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil, malformed
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, malformed
		}
		value, err := d.Token()
		if err != nil {
			return nil, malformed
		}
		text, ok := valueText(value)
		if !ok {
			return nil, fault.New(fault.Invalid, "The members of the JSON object must be strings, numbers or booleans.")
		}
		given = append(given, catalog.Given{Name: name.(string), Value: text, Source: catalog.Body})
	}
	if _, err := d.Token(); err != nil {
		return nil, malformed
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, malformed
	}
	return given, nil
}

func valueText(token json.Token) (string, bool) {
	switch v := token.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return strconv.FormatBool(v), true
	default:
		return "", false
	}
}

// mediaType is the lower-cased type of the body, without parameters.
func mediaType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(kind))
}
