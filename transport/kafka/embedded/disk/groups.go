package disk

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
)

// An entry of the groups' log: length of version and text, checksum of both,
// version, JSON text; little-endian.
const (
	entryHeader     = 10
	entryTextOffset = 8 // the version counts as part of the text's length
	entryMinLength  = 2
)

// groups checks the log of the groups' committed offsets. The broker reads it up
// to the first flaw and later appends behind the flaw, where it never reads
// again.
func (c *check) groups() error {
	path := filepath.Join(c.dir, LogFolder, groupsFile)
	raw, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		if c.list == nil { // a crash in the very first start
			return nil
		}
		return c.accept(whole(path, "it is missing").shorter())
	}
	if err != nil {
		return err
	}
	pos := 0
	for pos < len(raw) {
		n, reason := entry(raw[pos:])
		if reason != "" {
			return at(path, int64(pos), "%s", reason)
		}
		if n == 0 {
			c.cut(path, int64(pos), int64(len(raw)))
			break
		}
		pos += n
	}
	if c.list == nil || c.list.closed == nil {
		return nil
	}
	was := c.list.closed
	if int64(len(raw)) != was.GroupsSize || crc32.Checksum(raw, castagnoli) != was.GroupsSum {
		return c.accept(whole(path, "it is not as the last orderly end has left it").shorter())
	}
	return nil
}

// entry gives the size of the first entry, 0 for one that was torn while it was
// written, or what is wrong with it.
func entry(raw []byte) (size int, reason string) {
	if len(raw) < entryHeader || len(bytes.Trim(raw, "\x00")) == 0 {
		return 0, ""
	}
	length := int64(binary.LittleEndian.Uint32(raw))
	if length < entryMinLength {
		return 0, "the entry has an impossible length"
	}
	if end := entryTextOffset + length; end <= int64(len(raw)) {
		if crc32.Checksum(raw[entryTextOffset:end], castagnoli) != binary.LittleEndian.Uint32(raw[4:]) {
			return 0, "the entry's checksum does not fit"
		}
		if binary.LittleEndian.Uint16(raw[entryTextOffset:]) != formatVersion {
			return 0, "the entry has an unknown version"
		}
		return int(end), ""
	}
	// The file ends inside the entry. A torn one has only a part of its text;
	// where the text is whole, its length was changed.
	var text json.RawMessage
	err := json.NewDecoder(bytes.NewReader(raw[entryHeader:])).Decode(&text)
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return 0, ""
	}
	return 0, "the entry's length does not fit"
}
