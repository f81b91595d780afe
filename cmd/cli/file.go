package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
)

// writeFile writes a file as a whole, readable by its owner alone.
func writeFile(path string, content []byte) error {
	return createFile(path, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// createFile gives a file its name when all of it is written, so that nobody takes
// a part for the whole.
func createFile(path string, write func(io.Writer) error) error {
	part, err := os.CreateTemp(filepath.Dir(path), ".hooklog-") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part.Name()) }()
	if err := errors.Join(write(part), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), path)
}
