package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
)

const lockFile = "lock"

// ErrLocked is returned by Lock when another process holds the folder.
var ErrLocked = errors.New("another hooklog runs on this folder; stop it first or choose another --data-dir")

// DirLock holds a folder for this process until it is closed or ends.
type DirLock struct{ file *os.File }

// Lock makes the folder where it is missing, closes it to everybody but its
// owner, and takes it for this process alone.
func Lock(dir string) (*DirLock, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	// The broker's files are readable by all; the folder is what protects them.
	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a folder needs its x
		return nil, err
	}
	path := filepath.Join(dir, lockFile)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	return locked(file, syscall.LOCK_EX)
}

func locked(file *os.File, how int) (*DirLock, error) {
	err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if err == nil {
		return &DirLock{file: file}, nil
	}
	_ = file.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, fmt.Errorf("%s: %w", filepath.Dir(file.Name()), ErrLocked)
	}
	return nil, fmt.Errorf("lock %s: %w", file.Name(), err)
}

// Observe keeps services away from a folder that is only read, which it leaves as
// it is: several may observe at a time, also on a disk that cannot be written.
func Observe(dir string) (*DirLock, error) {
	path := filepath.Join(dir, lockFile)
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) { // a copy: a service would have made it
		return &DirLock{}, nil
	}
	if err != nil {
		return nil, err
	}
	return locked(file, syscall.LOCK_SH)
}

// Close lets the folder go. The file stays: removing it would let two processes
// hold locks on two files of the same name.
func (l *DirLock) Close() error {
	if l.file == nil {
		return nil
	}
	return l.file.Close()
}
