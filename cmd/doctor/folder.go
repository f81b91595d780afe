package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"hooklog/transport/kafka/embedded"
)

const (
	// leastFree is what no service can go on without; lowFree what an operator
	// should hear of in time.
	leastFree = 64 << 20
	lowFree   = 1 << 30

	// As access(2) takes them.
	mayRead, mayWrite, mayEnter = 4, 2, 1
)

func (e *examination) folder(_ context.Context, n *notes) {
	dir := e.cfg.DataDir
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, os.ErrNotExist):
		parent := existing(dir)
		if syscall.Access(parent, mayWrite|mayEnter) != nil {
			n.fail(fmt.Sprintf("make %s for the service's user, or choose another data-dir", dir),
				"%s is not there, and this user may not make it in %s", dir, parent)
			return
		}
		n.ok("%s is not there yet; the first start makes it", dir)
		return
	case err != nil:
		n.fail("run this as the service's user, or choose another data-dir", "%v", err)
		return
	case !info.IsDir():
		n.fail("choose another data-dir", "%s is a file and no folder", dir)
		return
	}
	sound := e.modeOf(n, info)
	sound = e.ownersIn(n, info) && sound
	if syscall.Access(dir, mayRead|mayWrite|mayEnter) != nil {
		n.fail("run this as the service's user, or give it the folder: chown -R USER "+dir, "this user may not write in %s", dir)
		sound = false
	}
	switch {
	case sound && e.held:
		n.ok("%s is closed to others; a service runs on it", dir)
	case sound:
		n.ok("%s is closed to others; no service runs on it", dir)
	}
}

func (e *examination) modeOf(n *notes, info os.FileInfo) bool {
	mode := info.Mode().Perm()
	switch {
	case mode&0o077 != 0:
		n.fail("chmod 700 "+e.cfg.DataDir, "%s is open to others (mode %04o), and so is what was sent to the webhooks", e.cfg.DataDir, mode)
	case mode != 0o700:
		n.fail("chmod 700 "+e.cfg.DataDir, "%s has mode %04o, with which its owner cannot use it", e.cfg.DataDir, mode)
	}
	return mode == 0o700
}

// ownersIn looks for what a start by another user has left.
func (e *examination) ownersIn(n *notes, dir os.FileInfo) bool {
	owner, sound := ownerOf(dir), true
	if me := os.Geteuid(); me != 0 && owner != me {
		n.fail("run this as the service's user, or: chown -R USER "+e.cfg.DataDir,
			"%s belongs to user %d, and this is user %d", e.cfg.DataDir, owner, me)
		return false
	}
	entries, err := os.ReadDir(e.cfg.DataDir)
	if err != nil {
		n.fail("run this as the service's user", "%v", err)
		return false
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && ownerOf(info) != owner {
			n.fail(fmt.Sprintf("chown -R %d %s", owner, e.cfg.DataDir),
				"%s belongs to user %d and the folder to user %d", filepath.Join(e.cfg.DataDir, entry.Name()), ownerOf(info), owner)
			sound = false
		}
	}
	return sound
}

func ownerOf(info os.FileInfo) int {
	if stat, is := info.Sys().(*syscall.Stat_t); is {
		return int(stat.Uid)
	}
	return os.Geteuid()
}

// existing is the folder itself, or the nearest above it that exists.
func existing(dir string) string {
	path, err := filepath.Abs(dir)
	if err != nil {
		return dir
	}
	for path != filepath.Dir(path) {
		if _, err := os.Stat(path); err == nil {
			break
		}
		path = filepath.Dir(path)
	}
	return path
}

func (e *examination) disk(_ context.Context, n *notes) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(existing(e.cfg.DataDir), &stat); err != nil {
		n.warn("look yourself: df -h "+e.cfg.DataDir, "the free space is not known: %v", err)
		return
	}
	free := int64(stat.Bavail) * int64(stat.Bsize) //nolint:unconvert // the width differs by platform
	var growth int64
	if e.cfg.Embedded() {
		if room, err := embedded.MeasureRoom(e.cfg.DataDir, int64(e.cfg.EmbeddedMaxBytes)); err == nil {
			growth = max(room.MaxBytes-room.Bytes, 0)
		}
	}
	judgeDisk(n, free, growth)
}

// judgeDisk holds the free bytes against what the log may yet take.
func judgeDisk(n *notes, free, growth int64) {
	switch {
	case free < leastFree:
		n.fail("make room on the disk of data-dir now", "only %s are free", size(free))
	case free < lowFree:
		n.warn("make room on the disk of data-dir", "only %s are free", size(free))
	case free < growth:
		n.warn("make room, or set a lower embedded-max-bytes: a full disk stops commands too",
			"%s are free, and the log may grow by %s yet before calls are refused", size(free), size(growth))
	default:
		n.ok("%s are free", size(free))
	}
}
