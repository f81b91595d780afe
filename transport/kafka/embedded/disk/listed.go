package disk

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"slices"
)

// Topic is what the broker keeps of a topic; each has one partition, without
// copies.
type Topic struct {
	Name    string            `json:"name"`
	ID      TopicID           `json:"id"`
	Configs map[string]string `json:"configs,omitempty"`
}

// TopicID tells a topic from another one that had its name before. Its text is
// that of the broker's files.
type TopicID [16]byte

// MarshalText writes base64, as the broker does.
func (id TopicID) MarshalText() ([]byte, error) {
	return base64.StdEncoding.AppendEncode(nil, id[:]), nil
}

// UnmarshalText wants exactly sixteen bytes; the broker itself would take fewer
// and breaks down on more.
func (id *TopicID) UnmarshalText(text []byte) error {
	raw, err := base64.StdEncoding.Strict().DecodeString(string(text))
	if err != nil || len(raw) != len(id) {
		return fmt.Errorf("%q is no topic id", text)
	}
	copy(id[:], raw)
	return nil
}

// segment is one file of records. Head is the checksum of its first batch's
// header, which holds the checksum of the rest: it tells the file from another
// topic's.
type segment struct {
	Topic string `json:"topic"`
	Base  int64  `json:"base"`
	Head  uint32 `json:"head"`
}

type begin struct {
	Version int    `json:"version"`
	Cluster string `json:"cluster"`
}

// closed is the last word of an orderly end: how the groups were left.
type closed struct {
	GroupsSize int64  `json:"groups_size"`
	GroupsSum  uint32 `json:"groups_sum"`
}

// line is one line of the list; exactly one of its fields is set.
type line struct {
	Begin   *begin   `json:"begin,omitempty"`
	Topic   *Topic   `json:"topic,omitempty"`
	Segment *segment `json:"segment,omitempty"`
	Closed  *closed  `json:"closed,omitempty"`
}

// appendLine adds the line's checksum, its text and a line break.
func appendLine(dst []byte, l line) ([]byte, error) {
	text, err := json.Marshal(l)
	if err != nil {
		return nil, err
	}
	dst = fmt.Appendf(dst, "%08x ", crc32.Checksum(text, castagnoli))
	return append(append(dst, text...), '\n'), nil
}

// listed is what a list says.
type listed struct {
	begin    begin
	topics   map[string]Topic
	segments map[string]map[int64]uint32 // topic → base → head
	closed   *closed
	closedAt int64 // where that line stands
}

func newListed(cluster string) *listed {
	return &listed{
		begin:    begin{Version: formatVersion, Cluster: cluster},
		topics:   make(map[string]Topic),
		segments: make(map[string]map[int64]uint32),
	}
}

func (l *listed) add(s segment) {
	if l.segments[s.Topic] == nil {
		l.segments[s.Topic] = make(map[int64]uint32)
	}
	l.segments[s.Topic][s.Base] = s.Head
}

// readList reads the list, or nil where there is none. A last line without its
// end was torn while it was written, and does not count: a topic is listed
// before its first record is confirmed, so nothing follows from it.
func readList(path string) (*listed, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	l := newListed("")
	for pos := 0; ; {
		text, rest, ended := bytes.Cut(raw[pos:], []byte{'\n'})
		if !ended {
			break
		}
		if err := l.apply(text, int64(pos)); err != nil {
			return nil, at(path, int64(pos), "%v", err).shorter()
		}
		pos = len(raw) - len(rest)
	}
	if l.begin.Cluster == "" {
		return nil, whole(path, "the list of topics is empty").shorter()
	}
	return l, nil
}

func (l *listed) apply(text []byte, pos int64) error {
	body, found := bytes.CutPrefix(text, fmt.Appendf(nil, "%08x ", crc32.Checksum(text[min(9, len(text)):], castagnoli)))
	if !found {
		return errors.New("the checksum of the line does not fit")
	}
	var said line
	if err := json.Unmarshal(body, &said); err != nil {
		return err
	}
	switch {
	case (pos == 0) != (said.Begin != nil):
		return errors.New("the list of topics does not begin here")
	case said.Begin != nil && said.Begin.Version != formatVersion:
		return fmt.Errorf("the list has version %d and this release reads %d", said.Begin.Version, formatVersion)
	case said.Begin != nil:
		l.begin = *said.Begin
	case said.Topic != nil:
		l.topics[said.Topic.Name] = *said.Topic
	case said.Segment != nil:
		l.add(*said.Segment)
	case said.Closed != nil:
		l.closed, l.closedAt = said.Closed, pos
	}
	return nil
}

// encode gives the list in its shortest form, without how it was closed.
func (l *listed) encode() (dst []byte, err error) {
	lines := []line{{Begin: &l.begin}}
	for _, name := range slices.Sorted(maps.Keys(l.topics)) {
		topic := l.topics[name]
		lines = append(lines, line{Topic: &topic})
		for _, base := range slices.Sorted(maps.Keys(l.segments[name])) {
			lines = append(lines, line{Segment: &segment{Topic: name, Base: base, Head: l.segments[name][base]}})
		}
	}
	for _, one := range lines {
		if dst, err = appendLine(dst, one); err != nil {
			return nil, err
		}
	}
	return dst, nil
}
