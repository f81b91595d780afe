package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"hooklog/domain/proof"
	"hooklog/domain/record"
)

const (
	fetchTimeout = 30 * time.Second
	// maxInput fits the checkpoint of thousands of partitions.
	maxInput = 16 << 20
)

// ReadKey reads the file of a pinned public key.
func ReadKey(path string) (note.Verifier, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the public key: %w", err)
	}
	key, err := note.NewVerifier(strings.TrimSpace(string(text)))
	if err != nil {
		return nil, fmt.Errorf("the public key in %s: %w", path, err)
	}
	return key, nil
}

// ReadCheckpoint reads the signed checkpoint that a file or a URL holds. It comes
// over HTTPS, or from this machine: else an older one could be put in its place.
func ReadCheckpoint(ctx context.Context, place string) ([]byte, error) {
	if !strings.Contains(place, "://") {
		return os.ReadFile(place)
	}
	at, err := url.Parse(place)
	if err != nil || at.Scheme != "https" && (at.Scheme != "http" || !onLoopback(at.Hostname())) {
		return nil, errors.New("write a file or a URL that begins with https://")
	}
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, place, nil)
	if err != nil {
		return nil, err
	}
	response, err := fetcher.Do(request)
	if err != nil {
		var about *url.Error
		if errors.As(err, &about) { // without the URL, which may hold a credential
			err = about.Err
		}
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %d", at.Host, response.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxInput+1))
	if err == nil && len(text) > maxInput {
		err = errors.New("it is too large")
	}
	return text, err
}

// fetcher follows nobody elsewhere.
var fetcher = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
}

func onLoopback(host string) bool {
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// Proved is what a receipt proves.
type Proved struct {
	Key       string    `json:"key"`
	Topic     string    `json:"topic"`
	Partition int32     `json:"partition"`
	Offset    int64     `json:"offset"`
	Time      time.Time `json:"time"`
	// Signed is when the checkpoint was signed that covers the record.
	Signed time.Time `json:"signed"`
}

// CheckReceipt checks a receipt with the pinned key alone. An error says why it
// proves nothing.
func CheckReceipt(text []byte, key note.Verifier) (Proved, error) {
	var r proof.Receipt
	if err := json.Unmarshal(text, &r); err != nil {
		return Proved{}, err
	}
	c, err := Open([]byte(r.Checkpoint), key)
	if err != nil {
		return Proved{}, fmt.Errorf("the receipt's checkpoint: %w", err)
	}
	if err := r.Check(c); err != nil {
		return Proved{}, err
	}
	at := r.Record.Position
	return Proved{Key: key.Name(), Topic: at.Topic, Partition: at.Partition, Offset: at.Offset, Time: r.Record.Time, Signed: c.Time}, nil
}

// Write writes for people what was proved.
func (p Proved) Write(w io.Writer) error {
	at := record.Position{Topic: p.Topic, Partition: p.Partition, Offset: p.Offset}
	_, err := fmt.Fprintf(w, "Proved: %s of %s was on the log of %s when its checkpoint was signed at %s.\n",
		at, p.Time.Format(time.RFC3339Nano), p.Key, p.Signed.Format(time.RFC3339Nano))
	return err
}
