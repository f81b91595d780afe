package checkpoints

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
)

// Sink is a place outside of the log for the newest checkpoint: a log that was
// rolled back does not roll back what lies there.
type Sink interface {
	Put(ctx context.Context, note string) error
}

// NewSink is the sink of a setting: a URL that takes PUT, or else a file. None is
// nil.
func NewSink(target string) Sink {
	switch {
	case target == "":
		return nil
	case strings.HasPrefix(target, "https://"), strings.HasPrefix(target, "http://"):
		return urlSink{target, &http.Client{
			// Who may see the checkpoint was decided with the URL.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		}}
	default:
		return fileSink(target)
	}
}

type urlSink struct {
	url    string
	client *http.Client
}

// Put implements Sink. Errors do not tell the URL: it may hold a credential.
func (s urlSink) Put(ctx context.Context, note string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, s.url, strings.NewReader(note))
	if err != nil {
		return errors.New("the URL of the sink cannot be used")
	}
	req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	resp, err := s.client.Do(req)
	if err != nil {
		var about *url.Error
		if errors.As(err, &about) {
			err = about.Err
		}
		return fmt.Errorf("put the checkpoint: %w", err)
	}
	defer func() { _ = resp.Body.Close() }()
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 64<<10)) // so that the connection can be used again
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return fmt.Errorf("put the checkpoint: the sink answered %d", resp.StatusCode)
	}
	return nil
}

type fileSink string

// Put implements Sink: the file holds one checkpoint or the other, at any moment.
func (s fileSink) Put(_ context.Context, note string) error {
	folder := filepath.Dir(string(s))
	f, err := os.CreateTemp(folder, filepath.Base(string(s))+".*.part")
	if err != nil {
		return err
	}
	_, err = f.WriteString(note)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), string(s))
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
