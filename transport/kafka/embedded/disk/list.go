package disk

import (
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// List is the list of a running broker. It only grows.
type List struct {
	dir string

	mu    sync.Mutex // never held while the disk is waited for
	known *listed

	writing sync.Mutex
	file    *os.File
}

// StartList writes down what was found by a check, and goes on from there. The
// broker runs by then, so that all of its files exist.
func (c *Checked) StartList() (*List, error) {
	meta, err := readMeta(c.dir)
	if err != nil {
		return nil, err
	}
	c.found.begin.Cluster = meta.Cluster
	l := &List{dir: c.dir, known: c.found}
	for name := range c.found.topics {
		if err := os.MkdirAll(l.folder(name), 0o700); err != nil {
			return nil, err
		}
	}
	if err := l.syncFolders(); err != nil {
		return nil, err
	}
	text, err := c.found.encode()
	if err != nil {
		return nil, err
	}
	path := filepath.Join(c.dir, listFile)
	if err := replace(path, text); err != nil {
		return nil, err
	}
	if l.file, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, err
	}
	return l, nil
}

// Has reports that the topic is listed.
func (l *List) Has(topic string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, there := l.known.topics[topic]
	return there
}

// Count counts the topics with the prefix.
func (l *List) Count(prefix string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for name := range l.known.topics {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	return n
}

// Add lists topics that the broker has just made, and returns when that is
// durable. Their folders are made too: from now on, a missing one is a loss.
func (l *List) Add(topics []Topic) error {
	lines := make([]line, 0, len(topics))
	for i := range topics {
		if err := os.MkdirAll(l.folder(topics[i].Name), 0o700); err != nil {
			return err
		}
		lines = append(lines, line{Topic: &topics[i]})
	}
	if err := l.syncFolders(); err != nil {
		return err
	}
	if err := l.append(lines); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, t := range topics {
		l.known.topics[t.Name] = t
	}
	return nil
}

// append writes the lines, or as if it had never begun.
func (l *List) append(lines []line) error {
	if len(lines) == 0 {
		return nil
	}
	var text []byte
	for _, one := range lines {
		var err error
		if text, err = appendLine(text, one); err != nil {
			return err
		}
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	size, err := l.file.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if _, err = l.file.Write(text); err == nil {
		err = l.file.Sync()
	}
	if err != nil {
		return errors.Join(err, l.file.Truncate(size))
	}
	return nil
}

// Close lists every segment, and says how the broker has left its groups. It
// comes after the broker's own end.
func (l *List) Close() error {
	_, err := l.measure(func(size, first int64) bool { return size >= first })
	groups, unread := os.ReadFile(filepath.Join(l.dir, LogFolder, groupsFile))
	if err = errors.Join(err, unread); err == nil {
		err = l.append([]line{{Closed: &closed{GroupsSize: int64(len(groups)), GroupsSum: crc32.Checksum(groups, castagnoli)}}})
	}
	return errors.Join(err, l.file.Close())
}

func (l *List) folder(topic string) string {
	return filepath.Join(l.dir, LogFolder, partitionsFolder, folderOf(topic))
}

// syncFolders makes the names of the broker's files durable, which it does not
// do itself.
func (l *List) syncFolders() error {
	log := filepath.Join(l.dir, LogFolder)
	err := syncFolder(filepath.Join(log, partitionsFolder))
	if errors.Is(err, os.ErrNotExist) { // as long as there are no topics
		err = nil
	}
	return errors.Join(err, syncFolder(log))
}
