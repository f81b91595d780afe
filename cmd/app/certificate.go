package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificate serves a certificate from files and follows them: a new
// connection sees a replaced file without a restart.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu     sync.Mutex
	pair   *tls.Certificate
	seen   fileStamp
	failed fileStamp // of files that could not be loaded, so that it is said once
}

// fileStamp tells whether the files changed. The size stands beside the time,
// which is too coarse to tell a half-written file from the whole one.
type fileStamp struct {
	cert, key version
}

type version struct {
	modified time.Time
	size     int64
}

func newCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log}
	stamp, err := c.stamp()
	if err == nil {
		err = c.load(stamp)
	}
	if err != nil {
		return nil, fmt.Errorf("tls-cert: %w", err)
	}
	return c, nil
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	stamp, err := c.stamp()
	if err == nil && stamp != c.seen && stamp != c.failed {
		if err = c.load(stamp); err != nil {
			// Half of the pair may be replaced yet; the old one still serves.
			c.failed = stamp
			c.log.Warn("New certificate was not loaded; the old one stays", "error", err)
		} else {
			c.log.Info("New certificate was loaded", "file", c.certFile)
		}
	}
	return c.pair, nil
}

func (c *certificate) load(stamp fileStamp) error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.pair, c.seen = &pair, stamp
	return nil
}

func (c *certificate) stamp() (s fileStamp, err error) {
	if s.cert, err = versionOf(c.certFile); err != nil {
		return s, err
	}
	s.key, err = versionOf(c.keyFile)
	return s, err
}

func versionOf(path string) (version, error) {
	info, err := os.Stat(path)
	if err != nil {
		return version{}, err
	}
	return version{info.ModTime(), info.Size()}, nil
}
