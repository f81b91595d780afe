package contexts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"go.yaml.in/yaml/v3"
)

// File is the file of the contexts.
type File struct {
	path string
	// homeless says why there is no place for a file. Scripts do without one.
	homeless error
}

// Open names the file, which need not exist. An empty path means the user's
// folder for settings.
func Open(path string) File {
	if path != "" {
		return File{path: path}
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return File{homeless: fmt.Errorf("find the contexts: %w", err)}
	}
	return File{path: filepath.Join(folder, "hooklog", "contexts.yaml")}
}

// Path is where the file is.
func (f File) Path() string { return f.path }

// Folder is where more may be kept beside the file.
func (f File) Folder() (string, error) { return filepath.Dir(f.path), f.homeless }

// Read gives what the file holds; no file holds nothing.
func (f File) Read() (Set, error) {
	if f.homeless != nil {
		return Set{}, nil
	}
	text, err := os.ReadFile(f.path)
	if errors.Is(err, os.ErrNotExist) {
		return Set{}, nil
	}
	if err != nil {
		return Set{}, fmt.Errorf("read the contexts: %w", err)
	}
	if info, err := os.Stat(f.path); err == nil && info.Mode().Perm()&0o077 != 0 {
		return Set{}, fmt.Errorf("%s is open to others (mode %04o), and so are your log-ins: chmod 600 %s", f.path, info.Mode().Perm(), f.path)
	}
	var set Set
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&set); err != nil && !errors.Is(err, io.EOF) {
		// What the decoder says may quote a token.
		return Set{}, fmt.Errorf("%s is no file of contexts; mend or remove it, then hooklog login", f.path)
	}
	return set, nil
}

// Change lets one process at a time change the file. What change does is written
// unless it fails.
func (f File) Change(ctx context.Context, change func(*Set) error) error {
	if f.homeless != nil {
		return f.homeless
	}
	if err := os.MkdirAll(filepath.Dir(f.path), 0o700); err != nil {
		return fmt.Errorf("write the contexts: %w", err)
	}
	unlock, err := f.lock(ctx)
	if err != nil {
		return fmt.Errorf("lock the contexts: %w", err)
	}
	defer unlock()
	set, err := f.Read()
	if err != nil {
		return err
	}
	if err := change(&set); err != nil {
		return err
	}
	if err := f.write(set); err != nil {
		return fmt.Errorf("write the contexts: %w", err)
	}
	return nil
}

// write replaces the file as a whole, readable by its owner alone.
func (f File) write(set Set) error {
	text, err := yaml.Marshal(set)
	if err != nil {
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(f.path), ".contexts-") // mode 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part.Name()) }()
	_, err = part.Write(text)
	if err := errors.Join(err, part.Sync(), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), f.path)
}

// again is how often a held lock is asked for.
const again = 20 * time.Millisecond

// lock waits for the file beside the contexts; their own is replaced.
func (f File) lock(ctx context.Context) (unlock func(), err error) {
	file, err := os.OpenFile(f.path+".lock", os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return func() { _ = file.Close() }, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, errors.Join(err, file.Close())
		}
		select {
		case <-ctx.Done():
			return nil, errors.Join(ctx.Err(), file.Close())
		case <-time.After(again):
		}
	}
}
