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
	// Held is what lies there: "" where nothing does, or the place does not tell.
	Held(ctx context.Context) (string, error)
}

// maxHeld fits the checkpoint of thousands of partitions.
const maxHeld = 16 << 20

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

// Put implements Sink.
func (s urlSink) Put(ctx context.Context, note string) error {
	status, _, err := s.do(ctx, http.MethodPut, strings.NewReader(note))
	if err == nil && (status < 200 || status > 299) {
		err = fmt.Errorf("the sink answered %d", status)
	}
	if err != nil {
		return fmt.Errorf("put the checkpoint: %w", err)
	}
	return nil
}

// Held implements Sink. A place that takes PUT alone refuses to tell.
func (s urlSink) Held(ctx context.Context) (string, error) {
	status, body, err := s.do(ctx, http.MethodGet, http.NoBody)
	if err == nil && status >= 500 && status != http.StatusNotImplemented {
		err = fmt.Errorf("the sink answered %d", status)
	}
	if err != nil {
		return "", fmt.Errorf("look at the checkpoint in the sink: %w", err)
	}
	if status != http.StatusOK {
		return "", nil
	}
	return body, nil
}

// do asks the URL. Errors do not tell it: it may hold a credential.
func (s urlSink) do(ctx context.Context, method string, body io.Reader) (status int, answer string, err error) {
	req, err := http.NewRequestWithContext(ctx, method, s.url, body)
	if err != nil {
		return 0, "", errors.New("the URL of the sink cannot be used")
	}
	if method == http.MethodPut {
		req.Header.Set("Content-Type", "text/plain; charset=utf-8")
	}
	resp, err := s.client.Do(req)
	if err != nil {
		var about *url.Error
		if errors.As(err, &about) {
			err = about.Err
		}
		return 0, "", err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxHeld))
	return resp.StatusCode, string(text), err
}

type fileSink string

// Held implements Sink.
func (s fileSink) Held(context.Context) (string, error) {
	text, err := os.ReadFile(string(s))
	if errors.Is(err, os.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

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
