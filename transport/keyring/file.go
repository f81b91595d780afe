package keyring

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// The file has a line for each key, "<id> <base64 of 32 bytes>", the one that
// seals first. Empty lines and lines that begin with # are skipped.
const fileHead = "# hooklog key ring. Whoever has it can read the sealed secrets on the log; without it they are lost.\n"

// Create makes a ring with one new key. It never overwrites a file.
func Create(path string) error {
	var id [4]byte
	var material [keyLength]byte
	if _, err := rand.Read(id[:]); err != nil {
		return err
	}
	if _, err := rand.Read(material[:]); err != nil {
		return err
	}
	text := fileHead + hex.EncodeToString(id[:]) + " " + base64.StdEncoding.EncodeToString(material[:]) + "\n"
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("make folder of key ring: %w", err)
	}
	return writeNew(path, []byte(text))
}

// writeNew writes a file that must not exist yet, and makes it last: the first
// record sealed with a ring that a power cut takes away could never be read.
func writeNew(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return fmt.Errorf("key ring %s exists already; it is not overwritten", path)
	}
	if err != nil {
		return fmt.Errorf("create key ring: %w", err)
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("write key ring: %w", err)
	}
	return syncFolder(filepath.Dir(path))
}

func syncFolder(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Load reads a ring; a file that others may read is refused.
func Load(path string) (*Ring, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read key ring: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("key ring %s may be read by others; run: chmod 600 %s", path, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read key ring: %w", err)
	}
	ring, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("key ring %s: %w", path, err)
	}
	return ring, nil
}

func parse(data []byte) (*Ring, error) {
	ring := &Ring{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		id, text, _ := strings.Cut(line, " ")
		material, err := base64.StdEncoding.DecodeString(text)
		if err != nil || len(material) != keyLength || id == "" || strings.Contains(id, ".") {
			return nil, fmt.Errorf("line %d is not \"<id> <base64 of %d bytes>\"", n, keyLength)
		}
		ring.keys = append(ring.keys, key{id: id, secret: material})
	}
	if len(ring.keys) == 0 {
		return nil, errors.New("the file holds no key")
	}
	return ring, nil
}
