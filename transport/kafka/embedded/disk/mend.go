package disk

import (
	"errors"
	"log/slog"
	"os"
)

// mend is one thing to do before the broker may open the folder.
type mend struct {
	do  func() error
	say func(*slog.Logger)
}

// Mend does what the check found necessary: it cuts torn writes, writes indexes
// that do not fit their records, and removes what the broker is not to read. A
// crash on the way leaves a folder that the next check accepts again.
func (c *Checked) Mend(log *slog.Logger) error {
	for _, d := range c.lost {
		log.Warn("Going on without what the log has lost", "file", d.File, "reason", d.Reason)
	}
	for _, m := range c.mends {
		if err := m.do(); err != nil {
			return err
		}
		m.say(log)
	}
	c.mends = nil
	return nil
}

// Lost says which ends are missing, and are gone on without.
func (c *Checked) Lost() []string {
	reasons := make([]string, len(c.lost))
	for i, d := range c.lost {
		reasons[i] = d.File + ": " + d.Reason
	}
	return reasons
}

// Torn is how many bytes of torn writes Mend cuts off.
func (c *Checked) Torn() int64 { return c.torn }

// cut shortens a file to the part that is in order.
func (c *check) cut(path string, size, was int64) {
	c.torn += was - size
	c.mends = append(c.mends, mend{
		do: func() error { return truncate(path, size) },
		say: func(log *slog.Logger) {
			log.Warn("Cut a torn write off the log", "file", path, "offset", size, "bytes", was-size)
		},
	})
}

// reopen takes the list's last word back: from here on the broker may write.
func (c *check) reopen(path string) {
	c.mends = append(c.mends, mend{
		do:  func() error { return truncate(path, c.list.closedAt) },
		say: func(*slog.Logger) {},
	})
}

func (c *check) rewrite(path string, index []byte) {
	c.mends = append(c.mends, mend{
		do:  func() error { return replace(path, index) },
		say: func(log *slog.Logger) { log.Info("Wrote an index of the log again", "file", path) },
	})
}

func (c *check) remove(path string) {
	c.mends = append(c.mends, mend{
		do: func() error {
			if err := os.Remove(path); !errors.Is(err, os.ErrNotExist) {
				return err
			}
			return nil
		},
		say: func(*slog.Logger) {},
	})
}

func truncate(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	err = f.Truncate(size)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}
