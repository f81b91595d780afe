package doctor

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"hooklog/cmd/app"
	"hooklog/domain/record"
	"hooklog/transport/kafka"
	"hooklog/transport/kafka/embedded"
	"hooklog/transport/keyring"
)

func (e *examination) ring(ctx context.Context, n *notes) {
	path := e.cfg.KeyRingPath()
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		e.noRing(n, path)
		return
	case err != nil:
		n.fail("run this as the service's user", "%v", err)
		return
	case info.Mode().Perm()&0o077 != 0:
		n.fail("chmod 600 "+path, "%s may be read by others (mode %04o); no service starts with it", path, info.Mode().Perm())
		return
	}
	ring, err := keyring.Load(path)
	if err != nil {
		n.fail("restore the ring from a backup", "%v", err)
		return
	}
	first, err := e.firstCommands(ctx)
	if err != nil {
		n.warn("mend what the other checks say about the log, then look again", "%s can be read, and could not be held against the log: %v", path, err)
		return
	}
	fits, known := app.RingFits(ring, first)
	switch {
	case !known:
		n.ok("%s can be read; the log has nothing yet to hold it against", path)
	case fits:
		n.ok("%s is the one of this log", path)
	default:
		n.fail("start with the ring that the log was made with, from another instance or a backup", "%s is not the ring of this log", path)
	}
}

func (e *examination) noRing(n *notes, path string) {
	_, err := os.Stat(filepath.Join(e.cfg.DataDir, "log"))
	switch {
	case !e.cfg.Embedded():
		n.fail("copy it from another instance; for a new installation: hooklog keys init "+path, "%s is missing", path)
	case err == nil:
		n.fail("restore it from a backup; without it the secrets on the log cannot be read", "%s is missing, and the log was sealed with it", path)
	default:
		n.ok("%s is not there yet; the first start makes it", path)
	}
}

// firstCommands are some records at the beginning of the commands; none on an
// empty log.
func (e *examination) firstCommands(ctx context.Context) ([]record.Record, error) {
	if e.cfg.Embedded() {
		return embedded.FirstRecords(e.cfg.DataDir, record.TopicCommand)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	log, err := e.openLog(ctx)
	if err != nil {
		return nil, err
	}
	defer log.Close()
	first, err := log.ReadAt(ctx, record.Position{Topic: record.TopicCommand})
	if kafka.MissesTopic(err) || errors.As(err, new(*kafka.RangeError)) {
		return nil, nil
	}
	return []record.Record{first}, err
}
