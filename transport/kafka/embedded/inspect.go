package embedded

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/record"
	"hooklog/transport/kafka/embedded/disk"
)

// What is asked here is answered from the files of a log, without opening or
// changing it. A service may run on the folder, but where Held tells otherwise.

// Held reports that a process holds the folder's lock. To see that, it takes the
// lock for an instant, together with everybody else who only looks.
func Held(dir string) (bool, error) {
	file, err := os.Open(filepath.Join(dir, lockFile))
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }() // which gives the lock back
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return true, nil
	}
	return false, err
}

// Room is what a log has and may have on this machine.
type Room struct {
	// Bytes is the size of the log's files; MaxBytes what the guard allows.
	Bytes, MaxBytes int64
	// Memory is what the process may have; math.MaxInt64 where that is not known.
	Memory int64
	// EventTopics is how many there are, TopicLimit how many the process can hold,
	// and LimitReason what sets that.
	EventTopics, TopicLimit int
	LimitReason             string
}

// KnowsMemory reports that Memory is a real figure.
func (r Room) KnowsMemory() bool { return r.Memory < math.MaxInt64 }

// MeasureRoom measures the log in the folder; maxBytes is as in Config.
func MeasureRoom(dir string, maxBytes int64) (Room, error) {
	var g guard
	g.init(maxBytes)
	room := Room{MaxBytes: g.max, Memory: memory()}
	var err error
	if room.TopicLimit, room.LimitReason, err = topicLimit(); err != nil {
		return room, err
	}
	topics, err := disk.Topics(dir)
	if err != nil {
		return room, err
	}
	for _, name := range topics {
		if strings.HasPrefix(name, record.EventTopicPrefix) {
			room.EventTopics++
		}
	}
	room.Bytes, err = sizeOf(filepath.Join(dir, disk.LogFolder))
	return room, err
}

// sizeOf adds up the files below a folder, of which some may go meanwhile.
func sizeOf(folder string) (total int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// Damage is why a start refuses a log.
type Damage = disk.Damage

// Scan makes the check of a start, and returns a *Damage where that would refuse
// the log. It means nothing while the folder is held. What a start would cut off
// as torn by a crash is in torn, in bytes.
func Scan(dir string) (torn int64, err error) {
	checked, err := disk.Check(dir, disk.Options{MaxBatchBytes: messageMaxBytes})
	if err != nil {
		return 0, err
	}
	return checked.Torn(), nil
}

// FirstRecords are some of the first records of a topic; none where the topic has
// none yet.
func FirstRecords(dir, topic string) ([]record.Record, error) {
	raw, err := disk.Beginning(dir, topic)
	if err != nil {
		return nil, err
	}
	batches := kmsg.NewFetchResponseTopicPartition()
	batches.RecordBatches = raw
	batches.HighWatermark, batches.LastStableOffset = math.MaxInt64, math.MaxInt64
	read, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Topic: topic}, &batches, kgo.DefaultDecompressor(), nil)
	if len(raw) > 0 && len(read.Records) == 0 {
		return nil, errors.Join(errors.New("the beginning of "+topic+" cannot be read"), read.Err)
	}
	records := make([]record.Record, len(read.Records))
	for i, r := range read.Records {
		records[i] = record.Record{
			Position: record.Position{Topic: topic, Offset: r.Offset}, Time: r.Timestamp.UTC(), Key: r.Key, Value: r.Value,
		}
		for _, h := range r.Headers {
			records[i].Headers = append(records[i].Headers, record.Header(h))
		}
	}
	return records, nil
}
