package embedded

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"hooklog/domain/record"
	"hooklog/transport/kafka/embedded/disk"
)

// Flaw is returned by Offline where the files hold no record that can be read.
type Flaw = disk.Flaw

// Offline reads the log of a folder without a broker, which would write to it.
type Offline struct {
	lock   *DirLock
	reader *disk.Reader
}

// OpenOffline opens a folder that no service uses, until it is closed.
func OpenOffline(dir string) (*Offline, error) {
	if _, err := os.Stat(filepath.Join(dir, disk.LogFolder)); errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("%s holds no log", dir)
	}
	lock, err := Observe(dir)
	if err != nil {
		return nil, err
	}
	return &Offline{lock: lock, reader: disk.NewReader(dir, messageMaxBytes)}, nil
}

// Topics gives the names of all topics, in order.
func (o *Offline) Topics() ([]string, error) { return o.reader.Topics() }

// End is the offset behind the last record of a topic's one partition.
func (o *Offline) End(topic string) (int64, error) { return o.reader.End(topic) }

// Read hands on the records of a topic from one offset up to another, in runs
// that hold during the call only. It is a *Flaw that one of them cannot be read.
func (o *Offline) Read(topic string, from, to int64, visit func([]record.Record) error) error {
	return o.reader.Read(topic, from, to, visit)
}

// Close lets the folder go.
func (o *Offline) Close() error { return o.lock.Close() }
