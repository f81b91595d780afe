// Package binary gives the suites below cmd/e2e the program that they drive from
// outside. It builds it and no more: how it is run is each suite's own.
package binary

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	_ "hooklog/cmd/cli" // what is in the binary, so that no result of another one is taken for this one's
)

// folder holds the binary for the whole run.
var folder string

// Main runs a suite and gives its exit code. It is for TestMain, of every suite
// that asks for Path.
func Main(m *testing.M) int {
	var err error
	if folder, err = os.MkdirTemp("", "hooklog-e2e-"); err != nil {
		panic(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	return m.Run()
}

// Path builds the program once, as it is released: without cgo.
var Path = sync.OnceValues(func() (string, error) {
	path := filepath.Join(folder, "hooklog")
	build := exec.Command("go", "build", "-buildvcs=false", "-o", path, "hooklog/cmd/hooklog") //nolint:gosec // into the folder of this run
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if text, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the binary: %w\n%s", err, text)
	}
	return path, nil
})
