// Package disk knows the files of the embedded broker. Before the broker opens
// its folder, Check reads all of it and refuses whatever the broker would
// silently cut, skip or make anew; it changes nothing. Mend then does what a
// crash made necessary. List is our own record, beside the broker's files, of
// which topics and segments must be there.
//
// It is bound to the pinned version of the broker's library: its format is
// private to it. Only the embedded broker imports this package.
package disk

import (
	"hash/crc32"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// The instance's folder holds the broker's log and our list of what is in it.
const (
	LogFolder = "log"
	listFile  = "topics"
)

// The broker's files. What belongs to clients that ended with their process
// (sequence numbers, sessions), or is given to the broker at every start, is
// removed instead of checked: what is not read cannot mislead.
const (
	metaFile         = "meta.json"
	topicsFile       = "topics.json"
	groupsFile       = "groups.log"
	partitionsFolder = "partitions"
	snapshotFile     = "snapshot.json"

	recordsSuffix   = ".dat"
	indexSuffix     = ".idx"
	temporarySuffix = ".tmp"

	formatVersion = 1
)

var removed = []string{
	"acls.json", "sasl.json", "quotas.json", "broker_configs.json",
	"pids.log", "seq_windows.json", "session_state.json",
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// folderOf is the name of the folder of a topic's one partition.
func folderOf(topic string) string { return url.PathEscape(topic) + "-0" }

// baseOf reads the first offset from a segment's file name. Only the form that
// the broker writes counts: it would take 00.dat for a second 0.dat.
func baseOf(name, suffix string) (int64, bool) {
	digits, found := strings.CutSuffix(name, suffix)
	if !found {
		return 0, false
	}
	base, err := strconv.ParseInt(digits, 10, 64)
	return base, err == nil && base >= 0 && strconv.FormatInt(base, 10) == digits
}

func fileOf(base int64, suffix string) string { return strconv.FormatInt(base, 10) + suffix }

// replace writes a file so that a crash leaves the old one or the new one.
func replace(path string, data []byte) error {
	f, err := os.OpenFile(path+temporarySuffix, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(path+temporarySuffix, path)
	}
	if err == nil {
		err = syncFolder(filepath.Dir(path))
	}
	return err
}

// syncFolder makes the names in a folder durable.
func syncFolder(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	return f.Sync()
}
