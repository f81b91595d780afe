package settings

import (
	"net/url"
	"strings"
	"time"
)

// minCheckpointInterval keeps svc.checkpoint, which is kept for ever, small.
const minCheckpointInterval = time.Second

func (c Config) checkCheckpoints(f *faults) {
	if c.CheckpointInterval != 0 {
		f.between("checkpoint-interval", c.CheckpointInterval, minCheckpointInterval, month)
	}
	if !strings.Contains(c.CheckpointSink, "://") {
		if strings.HasSuffix(c.CheckpointSink, "/") {
			f.add("checkpoint-sink", "write the name of a file, not of a folder")
		}
		return
	}
	u, err := url.Parse(c.CheckpointSink)
	switch {
	case err != nil || u.Host == "":
		f.add("checkpoint-sink", "write the name of a file, or a whole URL such as https://example.org/checkpoint")
	case u.User != nil:
		f.add("checkpoint-sink", "leave the user and the password out")
	case u.Scheme != "https" && (u.Scheme != "http" || !onLoopback(u.Hostname())):
		f.add("checkpoint-sink", "only https:// keeps others from putting a checkpoint in its place")
	}
}
