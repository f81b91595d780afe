package httpapi

import (
	_ "embed" // the documents are part of the binary
	"net/http"
)

var (
	//go:embed openapi.yaml
	openAPIDocument []byte
	//go:embed asyncapi.yaml
	asyncAPIDocument []byte
)

// document serves a description of the interface. Everybody may read it: it
// names no webhook.
func document(text []byte) handler {
	return func(w http.ResponseWriter, _ *http.Request) error {
		write(w, http.StatusOK, "application/yaml", text)
		return nil
	}
}
