package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"

	"hooklog/transport/kafka/embedded"
)

const (
	// fewFiles is below what the connections of a busy instance need.
	fewFiles = 4096
	// nearly is the share of a limit at which an operator should hear of it.
	nearly = 0.8
)

// embeddedLog makes the check of a start.
func (e *examination) embeddedLog(_ context.Context, n *notes) {
	if _, err := os.Stat(filepath.Join(e.cfg.DataDir, "log")); errors.Is(err, os.ErrNotExist) {
		n.ok("there is none yet")
		return
	}
	if e.held {
		n.ok("not read, because the service that runs on it writes it; it was read whole when that started")
		return
	}
	torn, err := embedded.Scan(e.cfg.DataDir)
	if begun, _ := embedded.Held(e.cfg.DataDir); begun {
		n.ok("not judged, because a service has started on it meanwhile")
		return
	}
	var damage *embedded.Damage
	switch {
	case errors.As(err, &damage):
		n.fail(damage.Remedy(), "%s", damage.Place())
	case err != nil:
		n.fail("run this as the service's user", "%v", err)
	case torn > 0:
		n.ok("read whole; a crash has torn a write that was never confirmed, and the next start cuts its %s off", size(torn))
	default:
		n.ok("read whole and found in order")
	}
}

// room holds the log's size and number of topics against what this machine bears.
func (e *examination) room(_ context.Context, n *notes) {
	room, err := embedded.MeasureRoom(e.cfg.DataDir, int64(e.cfg.EmbeddedMaxBytes))
	if err != nil {
		n.warn("mend what the other checks say about the log, then look again", "the log could not be measured: %v", err)
		return
	}
	judgeSize(n.about("log size"), room)
	judgeMemory(n.about("memory"), room)
	judgeTopics(n.about("open files"), room)
}

func judgeSize(n *notes, room embedded.Room) {
	const todo = "raise embedded-max-bytes where the memory allows it, or move to Kafka with brokers"
	switch {
	case room.Bytes >= room.MaxBytes:
		n.fail(todo, "the log has %s and may have %s: calls are refused", size(room.Bytes), size(room.MaxBytes))
	case float64(room.Bytes) >= nearly*float64(room.MaxBytes):
		n.warn(todo, "the log has %s and may have %s", size(room.Bytes), size(room.MaxBytes))
	default:
		n.ok("the log has %s and may have %s", size(room.Bytes), size(room.MaxBytes))
	}
}

func judgeMemory(n *notes, room embedded.Room) {
	switch {
	case !room.KnowsMemory():
		n.warn("compare embedded-max-bytes with the memory yourself", "this machine does not tell how much there is")
	case room.MaxBytes > room.Memory/2:
		n.warn("set embedded-max-bytes to at most a half of the memory, or give the service more",
			"the process may have %s, and a log that is as large as it may be needs %s at each start", size(room.Memory), size(room.MaxBytes))
	default:
		n.ok("the process may have %s", size(room.Memory))
	}
}

func judgeTopics(n *notes, room embedded.Room) {
	switch {
	case room.EventTopics > room.TopicLimit:
		n.fail(room.LimitReason, "there are %d topics of events, and a service with the limits of this shell holds %d", room.EventTopics, room.TopicLimit)
	case float64(room.EventTopics) >= nearly*float64(room.TopicLimit):
		n.warn(room.LimitReason, "there are %d topics of events, and a service with the limits of this shell holds %d", room.EventTopics, room.TopicLimit)
	default:
		n.ok("%d topics of events; a service with the limits of this shell holds %d", room.EventTopics, room.TopicLimit)
	}
}

// openFiles is for a service whose files are its connections.
func (e *examination) openFiles(_ context.Context, n *notes) {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil {
		n.warn("look yourself: ulimit -Hn", "the limit of open files is not known: %v", err)
		return
	}
	if files.Cur < fewFiles {
		n.warn("raise the hard limit (ulimit -Hn, LimitNOFILE)", "a service with the limits of this shell may open %d files, connections included", files.Cur)
		return
	}
	n.ok("a service with the limits of this shell may open %d", files.Cur)
}
