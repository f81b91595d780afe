package disk

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Options of a check.
type Options struct {
	// MaxBatchBytes is the most that the broker takes in one batch.
	MaxBatchBytes int64
	// AcceptTruncation goes on where only ends are missing.
	AcceptTruncation bool
}

// Checked is a folder that was found in order, but for what Mend does.
type Checked struct {
	// Bytes is the size of the records that were read.
	Bytes int64

	dir   string
	found *listed
	mends []mend
	torn  int64
	lost  []*Damage // and accepted
}

// check is one run of Check.
type check struct {
	Checked
	opts Options
	// list is our own, and nil as long as there is none.
	list *listed
	scan *scanner
}

// Check reads everything in the folder and changes nothing. What it refuses is a
// *Damage. It accepts what an orderly end leaves, and what a process leaves that
// is killed at any moment.
func Check(dir string, opts Options) (*Checked, error) {
	c := &check{
		Checked: Checked{dir: dir, found: newListed("")},
		opts:    opts,
		scan:    newScanner(opts.MaxBatchBytes),
	}
	if err := c.run(); err != nil {
		return nil, err
	}
	c.Bytes = c.scan.bytes
	return &c.Checked, nil
}

func (c *check) run() (err error) {
	path := filepath.Join(c.dir, listFile)
	c.list, err = readList(path)
	if err := c.accept(err); err != nil {
		return err
	}
	fresh, err := c.names()
	if err != nil || fresh {
		return err
	}
	if err := c.meta(); err != nil {
		return err
	}
	topics, err := c.topics()
	if err != nil {
		return err
	}
	if c.list == nil && len(topics) > 0 {
		if err := c.accept(whole(path, "the list of topics is missing").shorter()); err != nil {
			return err
		}
	}
	if err := c.groups(); err != nil {
		return err
	}
	if c.list != nil && c.list.closed != nil {
		c.reopen(path)
	}
	return c.partitions(topics)
}

// accept passes on what is not to be gone on with, and notes the rest.
func (c *check) accept(err error) error {
	var d *Damage
	if !errors.As(err, &d) || !d.Shorter || !c.opts.AcceptTruncation {
		return err
	}
	c.lost = append(c.lost, d)
	return nil
}

// names looks for what does not belong into the log's folder, and reports that
// the broker was never started on it. The broker writes meta.json first, so
// without it there is nothing but what it was about to become.
func (c *check) names() (fresh bool, err error) {
	log := filepath.Join(c.dir, LogFolder)
	entries, err := os.ReadDir(log)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return false, err
	}
	fresh = true
	known := append([]string{metaFile, topicsFile, groupsFile}, removed...)
	for _, e := range entries {
		name, temporary := strings.CutSuffix(e.Name(), temporarySuffix)
		if e.Name() != partitionsFolder && !slices.Contains(known, name) {
			return false, foreign(filepath.Join(log, e.Name()))
		}
		fresh = fresh && temporary
		if !temporary && slices.Contains(removed, name) {
			c.remove(filepath.Join(log, name))
		}
	}
	if fresh && c.list != nil {
		return false, whole(metaPath(c.dir), "it is missing, and the list of topics says that there is a log")
	}
	return fresh, nil
}

// meta names the log.
type meta struct {
	Version int    `json:"version"`
	Cluster string `json:"cluster_id"`
}

func metaPath(dir string) string { return filepath.Join(dir, LogFolder, metaFile) }

func readMeta(dir string) (meta, error) {
	path := metaPath(dir)
	var m meta
	there, err := readJSON(path, &m)
	switch {
	case err != nil:
		return m, err
	case !there:
		return m, whole(path, "it is missing, and other files of the log are there")
	case m.Version != formatVersion:
		return m, whole(path, "it has version %d and this release reads %d", m.Version, formatVersion)
	case m.Cluster == "":
		return m, whole(path, "it names no cluster")
	}
	return m, nil
}

func (c *check) meta() error {
	m, err := readMeta(c.dir)
	if err != nil {
		return err
	}
	if c.list != nil && m.Cluster != c.list.begin.Cluster {
		return whole(metaPath(c.dir), "it names the cluster %q where %q was before", m.Cluster, c.list.begin.Cluster)
	}
	return nil
}
