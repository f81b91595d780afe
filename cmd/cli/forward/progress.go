package forward

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Progress is how far the calls were forwarded: a cursor, and the calls behind it
// that were answered. It is kept in a file that one process at a time has.
type Progress struct {
	path string
	lock *os.File
	kept kept
}

type kept struct {
	Cursor   string   `json:"cursor"`
	Answered []string `json:"answered,omitempty"`
}

// ErrInUse is returned when another process forwards the same calls.
var ErrInUse = errors.New("another process forwards these calls already")

// OpenProgress opens the one of whatever the names name together, in a folder
// that is made where it is missing. It must be closed.
func OpenProgress(folder string, names ...string) (*Progress, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(strings.Join(names, "\x00")))
	p := &Progress{path: filepath.Join(folder, hex.EncodeToString(sum[:12])+".json")}
	var err error
	if p.lock, err = os.OpenFile(p.path+".lock", os.O_CREATE|os.O_RDWR, 0o600); err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(p.lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrInUse
		}
		return nil, errors.Join(err, p.Close())
	}
	if err := p.read(); err != nil {
		return nil, errors.Join(err, p.Close())
	}
	return p, nil
}

func (p *Progress) read() error {
	text, err := os.ReadFile(p.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err == nil && json.Unmarshal(text, &p.kept) != nil {
		err = fmt.Errorf("%s cannot be read; remove it to begin anew", p.path)
	}
	return err
}

// Close lets others have it.
func (p *Progress) Close() error { return p.lock.Close() }

// Cursor is where to go on; empty means that nothing was forwarded yet.
func (p *Progress) Cursor() string { return p.kept.Cursor }

// Answered reports that a call behind the cursor needs not be sent again.
func (p *Progress) Answered(call string) bool { return slices.Contains(p.kept.Answered, call) }

// Mark remembers that a call was answered.
func (p *Progress) Mark(call string) error {
	p.kept.Answered = append(p.kept.Answered, call)
	return p.write()
}

// Move remembers that all calls up to the cursor were answered.
func (p *Progress) Move(cursor string) error {
	if cursor == p.kept.Cursor {
		return nil
	}
	p.kept = kept{Cursor: cursor}
	return p.write()
}

// write replaces the file as a whole.
func (p *Progress) write() error {
	text, err := json.Marshal(p.kept)
	if err != nil {
		return err
	}
	part := p.path + ".part" // nobody else writes it: the lock is ours
	if err := os.WriteFile(part, text, 0o600); err != nil {
		return err
	}
	return os.Rename(part, p.path)
}
