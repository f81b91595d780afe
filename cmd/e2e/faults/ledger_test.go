//go:build faults

package faults_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"hooklog/domain/record"
)

// ledger is what a service has acknowledged, over all of its lives.
type ledger struct {
	mu    sync.Mutex
	calls map[string]record.Digest // of the payload, by correlation id
	hooks map[string]*tracked      // by event key
	// targets are the webhooks that are called.
	targets []webhook

	commands int
	refused  map[int]int // answers other than 200, by status
}

// state is what a command can change of a webhook; zero when there is none.
type state struct{ version, limit int }

// tracked is a webhook that one worker changes.
type tracked struct {
	token string
	// states are those that it may be in: one, or two while nobody has
	// acknowledged the last command.
	states []state
}

func newLedger() *ledger {
	return &ledger{calls: map[string]record.Digest{}, hooks: map[string]*tracked{}, refused: map[int]int{}}
}

// open makes the webhooks that are called.
func (l *ledger) open(t *testing.T, c *client, n int) {
	t.Helper()
	for i := range n {
		l.targets = append(l.targets, c.put(t, fmt.Sprintf("eventKey=webhook.target-%d", i)))
	}
}

func (l *ledger) targetKeys() []string {
	keys := make([]string, len(l.targets))
	for i, target := range l.targets {
		keys[i] = target.EventKey
	}
	return keys
}

func (l *ledger) counts() (calls, commands int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls), l.commands
}

// refusals counts the answers other than 200.
func (l *ledger) refusals() (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, of := range l.refused {
		n += of
	}
	return n
}

// payload is mostly small, and sometimes larger than what is written at once.
func payload(random *rand.Rand) []byte {
	size := 1 + random.IntN(2<<10)
	if random.IntN(50) == 0 {
		size = random.IntN(256 << 10)
	}
	body := make([]byte, size)
	for i := range body {
		body[i] = byte(random.Uint32())
	}
	return body
}

// call calls webhooks until the service is gone. Each answer but 200 is counted.
func (l *ledger) call(c *client, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	for {
		body := payload(random)
		called, status, err := c.call(l.targets[random.IntN(len(l.targets))].UUID, body)
		if err != nil {
			return
		}
		l.mu.Lock()
		if status == http.StatusOK {
			l.calls[called.CorrelationID] = sha256.Sum256(body)
		} else {
			l.refused[status]++
		}
		l.mu.Unlock()
	}
}

// manage creates, edits and deletes webhooks of its own until the service is
// gone.
func (l *ledger) manage(c *client, name string) {
	const before = 512000 // the default limit
	for n := 0; ; n++ {
		key := fmt.Sprintf("webhook.%s.n-%d", name, n)
		if !l.command(c, key, state{1, before}, "webhook.put", "eventKey="+key) ||
			!l.command(c, key, state{2, n + 1}, "webhook.put", fmt.Sprintf("maxPayloadLength=%d", n+1), "version=1") ||
			!l.command(c, key, state{3, n + 2}, "webhook.put", fmt.Sprintf("maxPayloadLength=%d", n+2), "version=2") {
			return
		}
		if n%2 == 0 && !l.command(c, key, state{}, "webhook.delete") {
			return
		}
	}
}

// command runs a command that brings the webhook of a key into a state, and
// reports that it was acknowledged.
func (l *ledger) command(c *client, key string, then state, name string, params ...string) bool {
	l.mu.Lock()
	hook := l.hooks[key]
	if hook == nil {
		hook = &tracked{states: []state{{}}}
		l.hooks[key] = hook
	}
	hook.states = append(hook.states, then)
	if hook.token != "" {
		params = append(params, "uuid="+hook.token)
	}
	l.mu.Unlock()

	var answered webhook
	status, answer, err := c.command(name, params...)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		return false
	case status != http.StatusOK || json.Unmarshal(answer, &answered) != nil:
		l.refused[status]++
		return false
	}
	hook.token, hook.states = answered.UUID, []state{then}
	l.commands++
	return true
}

// load keeps the service busy; wait returns when all have noticed its end.
func (l *ledger) load(c *client, name string, seed uint64, callers, managers int) (wait func()) {
	var busy sync.WaitGroup
	for i := range callers {
		busy.Go(func() { l.call(c, seed+uint64(i)) })
	}
	for i := range managers {
		busy.Go(func() { l.manage(c, fmt.Sprintf("%s-%d", name, i)) })
	}
	return busy.Wait
}

// verify fails the test unless all that was acknowledged is in effect: commands,
// events, accepted records and results.
func (l *ledger) verify(t *testing.T, p *process) {
	t.Helper()
	l.verifyCommands(t, p.client)
	found := p.log.audit(t, l.targetKeys()...)
	lost := 0
	for id, body := range l.calls {
		_, accepted := found.accepted[id]
		if event, there := found.events[id]; !there || event != body || !accepted {
			lost++
			t.Errorf("acknowledged call %s: event there %t, whole %t, accepted %t", id, there, event == body, accepted)
		}
	}
	l.verifyResults(t, p.client)
	if lost > 0 {
		t.Fatalf("%d of %d acknowledged calls are lost", lost, len(l.calls))
	}
}

// verifyCommands compares every webhook with the state that it must be in, and
// takes note of the one that it is in.
func (l *ledger) verifyCommands(t *testing.T, c *client) {
	t.Helper()
	status, answer, err := c.command("webhook.get")
	var list []webhook
	if err != nil || status != http.StatusOK || json.Unmarshal(answer, &list) != nil {
		t.Fatalf("webhook.get: %d %s %v", status, answer, err)
	}
	have := map[string]webhook{}
	for _, w := range list {
		have[w.EventKey] = w
	}
	for _, target := range l.targets {
		if have[target.EventKey] != target {
			t.Fatalf("%s is %+v", target.EventKey, have[target.EventKey])
		}
	}
	for key, hook := range l.hooks {
		w := have[key]
		is := state{w.Version, w.MaxPayloadLength}
		if !slices.Contains(hook.states, is) || is != (state{}) && hook.token != "" && w.UUID != hook.token {
			t.Fatalf("acknowledged command lost: %s is %+v, must be one of %+v", key, w, hook.states)
		}
		if hook.token == "" {
			hook.token = w.UUID
		}
		hook.states = []state{is}
	}
	l.verifyDeleted(t, c)
}

// verifyDeleted calls the deleted webhooks: none is taken.
func (l *ledger) verifyDeleted(t *testing.T, c *client) {
	t.Helper()
	const most = 20 // calls with unknown tokens are slowed down
	tried := 0
	for key, hook := range l.hooks {
		if hook.token == "" || hook.states[0] != (state{}) || tried == most {
			continue
		}
		tried++
		if _, status, err := c.call(hook.token, nil); err != nil || status != http.StatusNotFound {
			t.Fatalf("%s was deleted, and a call is answered %d, %v", key, status, err)
		}
	}
}

// verifyResults polls every acknowledged call.
func (l *ledger) verifyResults(t *testing.T, c *client) {
	t.Helper()
	ids := make(chan string)
	var wrong atomic.Int64
	var polling sync.WaitGroup
	for range 8 {
		polling.Go(func() {
			for id := range ids {
				polled, status, err := c.poll(id)
				if err != nil || status != http.StatusOK || polled.Status != "ok" || polled.CorrelationID != id {
					wrong.Add(1)
					t.Errorf("result of acknowledged call %s: %d %+v %v", id, status, polled, err)
				}
			}
		})
	}
	for id := range l.calls {
		ids <- id
	}
	close(ids)
	polling.Wait()
	if wrong.Load() > 0 {
		t.Fatalf("%d of %d results are wrong", wrong.Load(), len(l.calls))
	}
}
