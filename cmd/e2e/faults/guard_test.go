//go:build faults

package faults_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestSizeGuard fills the embedded log up to its limit: calls are refused, and
// commands go on.
func TestSizeGuard(t *testing.T) {
	embeddedOnly(t)
	t.Parallel()
	const limit = 64 << 20
	args := []string{"--data-dir", filepath.Join(t.TempDir(), "data"), "--embedded-max-bytes"}
	p := serve(t, nil, append(args, strconv.Itoa(limit))...)
	all := newLedger()
	hook := p.put(t, "eventKey=webhook.full", "maxPayloadLength=4194304")
	all.targets = []webhook{hook}

	for size := 3 << 20; size >= 1; size /= 8 {
		all.fill(t, p.client, bytes.Repeat([]byte{'x'}, size))
	}
	if taken, _ := all.counts(); taken < 10 {
		t.Errorf("only %d calls were taken", taken)
	}
	manageable(t, p.client, "first")
	used := 0
	for _, text := range folder(args[1]).contents(t, "log") {
		used += len(text)
	}
	if used > limit {
		t.Errorf("the log has %d bytes, more than %d", used, limit)
	}
	p.terminate(t)

	p = serve(t, nil, append(args, strconv.Itoa(limit))...)
	all.fill(t, p.client, []byte("still full"))
	manageable(t, p.client, "second")
	all.verify(t, p)
	p.terminate(t)

	p = serve(t, nil, append(args, strconv.Itoa(2*limit))...)
	p.called(t, hook.UUID, []byte("there is room again"))
	p.terminate(t)
	calls, _ := all.counts()
	t.Logf("%d calls were acknowledged until the log had %d of %d bytes; none is lost, and commands went on", calls, used, limit)
}

// fill makes calls until one is refused, as it must be.
func (l *ledger) fill(t *testing.T, c *client, body []byte) {
	t.Helper()
	for range 1000 {
		status, answer, err := c.do(http.MethodPost, receivePath, bytes.NewReader(body), "token", l.targets[0].UUID)
		var called result
		switch {
		case err == nil && status == http.StatusOK && json.Unmarshal(answer, &called) == nil:
			l.calls[called.CorrelationID] = sha256.Sum256(body)
			continue
		case err != nil || status != http.StatusServiceUnavailable || !strings.Contains(string(answer), "The log is full"):
			t.Fatalf("a full log answers %d %s %v", status, answer, err)
		}
		return
	}
	t.Fatal("the log does not get full")
}

// manageable fails the test unless webhooks can be made, edited and deleted.
func manageable(t *testing.T, c *client, name string) {
	t.Helper()
	for i := range 20 {
		hook := c.put(t, fmt.Sprintf("eventKey=webhook.%s-%d", name, i))
		c.put(t, "uuid="+hook.UUID, "maxPayloadLength=1")
		if status, answer, err := c.command("webhook.delete", "uuid="+hook.UUID); err != nil || status != http.StatusOK {
			t.Fatalf("webhook.delete: %d %s %v", status, answer, err)
		}
		if _, status, err := c.call(hook.UUID, nil); err != nil || status != http.StatusNotFound {
			t.Fatalf("a call of a deleted webhook: %d %v", status, err)
		}
	}
}
