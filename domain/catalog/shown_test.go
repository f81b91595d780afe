package catalog_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/catalog"
)

func TestArgumentsAreShownWithoutSecrets(t *testing.T) {
	const token = "5eedc0de-1234-4abc-8def-012345678901"
	command := catalog.Command{Name: "x", Params: []catalog.Param{
		{Name: "uuid", Type: catalog.Token},
		{Name: "password", Type: catalog.Password},
		{Name: "correlationId", Type: catalog.String},
		{Name: "pipeline", Type: catalog.String},
		{Name: "user", Type: catalog.String},
		{Name: "outcome", Type: catalog.String},
		{Name: "from", Type: catalog.String},
		{Name: "cursor", Type: catalog.String},
		{Name: "limit", Type: catalog.Integer},
		{Name: "receipt", Type: catalog.Boolean},
		{Name: "keys", Type: catalog.List},
	}}
	given := map[string]string{
		"uuid": token, "password": "correct horse", "correlationId": token, "pipeline": "orders.to-stock", "user": strings.Repeat("x", 65),
		"outcome": "a password: of many", "from": "2026-03-02T08:00:00.5+01:00",
		"cursor": "d2ViaG9vay5h", "limit": "10", "receipt": "true", "keys": "a,b",
	}
	var list []catalog.Given
	for name, value := range given {
		list = append(list, catalog.Given{Name: name, Value: value, Source: catalog.Body})
	}
	args, err := command.Bind(list)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"uuid": "…678901", "correlationId": "…678901", "pipeline": "orders.to-stock", "user": "…",
		"outcome": "…", "from": "2026-03-02T08:00:00.5+01:00",
		"limit": 10, "receipt": true, "keys": []string{"a", "b"},
	}
	if diff := cmp.Diff(want, args.Shown()); diff != "" {
		t.Errorf("shown (-want +got):\n%s", diff)
	}
}
