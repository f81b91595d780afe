package disk

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// readJSON reads a file of the broker strictly; it reports false where there is
// none.
func readJSON(path string, into any) (bool, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	err = decoder.Decode(into)
	if err == nil && decoder.More() {
		err = errors.New("there is more after its end")
	}
	if err != nil && !errors.Is(err, io.EOF) || len(raw) == 0 {
		return false, whole(path, "it cannot be read: %v", err)
	}
	return true, nil
}

// topics reads the broker's list of topics and holds it against ours. The broker
// writes its own first, so that after a crash ours may lack topics; those were
// never written to.
func (c *check) topics() ([]Topic, error) {
	path := filepath.Join(c.dir, LogFolder, topicsFile)
	var kept struct {
		Version int `json:"version"`
		Topics  []struct {
			Topic
			Partitions int `json:"partitions"`
			Replicas   int `json:"replicas"`
		} `json:"topics"`
	}
	there, err := readJSON(path, &kept)
	switch {
	case err != nil:
		return nil, err
	case !there && c.list == nil: // a crash in the very first start
		return nil, nil
	case !there:
		return nil, whole(path, "it is missing")
	case kept.Version != formatVersion:
		return nil, whole(path, "it has version %d and this release reads %d", kept.Version, formatVersion)
	}
	topics := make([]Topic, 0, len(kept.Topics))
	ids := make(map[TopicID]string, len(kept.Topics))
	for _, t := range kept.Topics {
		_, again := c.found.topics[t.Name]
		switch {
		case t.Name == "" || again || ids[t.ID] != "":
			return nil, whole(path, "topic %q or its id stands there twice", t.Name)
		case t.Partitions != 1 || t.Replicas != 1:
			return nil, whole(path, "topic %s has %d partitions and %d copies, and never has but one", t.Name, t.Partitions, t.Replicas)
		}
		ids[t.ID] = t.Name
		c.found.topics[t.Name] = t.Topic
		topics = append(topics, t.Topic)
	}
	return topics, c.compare(path)
}

// compare holds what the broker knows of its topics against our list.
func (c *check) compare(path string) error {
	if c.list == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(c.list.topics)) {
		want := c.list.topics[name]
		have, there := c.found.topics[name]
		switch {
		case !there:
			return whole(path, "topic %s is not there any more", name)
		case have.ID != want.ID:
			return whole(path, "topic %s has the id %x where %x was before", name, have.ID, want.ID)
		case !maps.Equal(have.Configs, want.Configs):
			return whole(path, "topic %s has other settings than before: %v", name, have.Configs)
		}
	}
	return nil
}
