package e2e_test

import (
	"os"
	"strings"
	"testing"

	"hooklog/domain/catalog"
	"hooklog/transport/pipelines"
)

// Whoever writes a pipeline finds every step, with its parameters where the step
// is not a command of its own.
func TestDocumentsTellOfEveryStep(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	openAPI, err := os.ReadFile("../../transport/httpapi/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	steps := append(pipelines.Language(), pipelines.HTTPRequest,
		pipelines.Command{Name: "event.receive"}, pipelines.Command{Name: "event.send"}, pipelines.Command{Name: "message.send"})
	for _, c := range catalog.All() {
		if c.Step() {
			steps = append(steps, pipelines.Command{Name: c.Name})
		}
	}
	for name, text := range map[string]string{"README.md": string(readme), "openapi.yaml": string(openAPI)} {
		for _, step := range steps {
			row := rowOf(text, step.Name)
			if row == "" {
				t.Errorf("%s does not tell of %s", name, step.Name)
			}
			for _, p := range step.Params {
				if !strings.Contains(row, "`"+p.Name+"`") {
					t.Errorf("%s does not tell of %s of %s", name, p.Name, step.Name)
				}
			}
		}
	}
}

// rowOf finds the row of a table that begins with steps, this one among them.
func rowOf(text, step string) string {
	_, table, _ := strings.Cut(text, "| step")
	for line := range strings.Lines(table) {
		if names := strings.Split(line, "|"); len(names) > 1 && strings.Contains(names[1], "`"+step+"`") {
			return line
		}
	}
	return ""
}
