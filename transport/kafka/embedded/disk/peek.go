package disk

import (
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// beginning is how much of a topic's first segment is looked at.
const beginning = 256 << 10

// Topics are the names in the list of topics, which a broker may run on; none
// where there is no list.
func Topics(dir string) ([]string, error) {
	list, err := readList(filepath.Join(dir, listFile))
	if err != nil || list == nil {
		return nil, err
	}
	return slices.Sorted(maps.Keys(list.topics)), nil
}

// Beginning gives the first bytes of a topic's records as they stand on disk,
// and none where the topic has none.
func Beginning(dir, topic string) ([]byte, error) {
	f, err := os.Open(filepath.Join(dir, LogFolder, partitionsFolder, folderOf(topic), fileOf(0, recordsSuffix)))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	return io.ReadAll(io.LimitReader(f, beginning))
}
