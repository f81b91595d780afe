package commands_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"hooklog/domain/access"
	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/transport/commands"
	"hooklog/transport/keyring"
)

var monday = time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)

// callID is the correlation id of the n-th call of the tests.
func callID(n int) string { return fmt.Sprintf("c0ffee00-1234-4abc-8def-%012d", n) }

// runWorld has, besides the commands, calls with their runs.
type runWorld struct {
	*realmWorld
	t     *testing.T
	ring  *keyring.Ring
	calls map[string]call.History
	// behind is what the log has and the fold has not, and down why it cannot catch up.
	behind []call.History
	down   error
	// room is how many more records of calls the log takes; -1 is all.
	room   int
	waited []record.Position
}

func newRuns(t *testing.T) *runWorld {
	t.Helper()
	w := &runWorld{realmWorld: newRealm(), t: t, ring: newRing(t), calls: map[string]call.History{}, room: -1}
	w.state.policy = access.Policy{
		{Name: "nobody", Users: []string{"nobody"}, Commands: []string{"*"}, Keys: []string{"*"}},
		{Name: "reader", Roles: []string{"reader"}, Commands: []string{"run.get"}, Keys: []string{"orders"}},
		{Name: "retrier", Roles: []string{"retrier"}, Commands: []string{"run.retry"}, Keys: []string{"orders"}},
	}
	return w
}

func (w *runWorld) dispatcher() *commands.Dispatcher {
	return commands.New(commands.Config{Timeout: 10 * time.Second, ResultDeadline: 30 * time.Minute}, commands.Deps{
		Log: slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil)), Now: func() time.Time { return monday.Add(time.Hour) },
		Journal: w, Registry: w, Runs: w, Ring: w.ring, AccessPartitions: func() int32 { return 1 },
	})
}

func (w *runWorld) AppendWait(ctx context.Context, r *record.Record) (record.Position, error) {
	if r.Topic != record.TopicCall {
		return w.realmWorld.AppendWait(ctx, r)
	}
	if w.room == 0 {
		return record.Position{}, errDown
	}
	w.room--
	decoded, err := call.Decode(r)
	if err != nil {
		return record.Position{}, err
	}
	retried := decoded.(call.Retried)
	h, _ := w.calls[retried.CorrelationID].Retry(retried)
	w.calls[retried.CorrelationID] = h
	at := r.Position
	at.Offset = int64(len(w.appended))
	_, err = w.world.AppendWait(ctx, r)
	return at, err
}

func (w *runWorld) Append(r *record.Record, done func(record.Position, error)) {
	done(w.AppendWait(context.Background(), r))
}

func (w *runWorld) Run(id string) (call.History, bool, error) {
	h, known := w.calls[id]
	return h, known, nil
}

// List numbers the runs, the newest first; a place is the number of a run.
func (w *runWorld) List(f call.RunFilter, after string, limit int) (runs []call.Run, next string, err error) {
	var all []call.Run
	for _, h := range w.calls {
		for _, l := range h.Listeners {
			all = append(all, h.Run(l))
		}
	}
	slices.SortFunc(all, func(a, b call.Run) int {
		return cmp.Or(b.Call.Received.Compare(a.Call.Received), strings.Compare(a.Listener, b.Listener))
	})
	all = slices.DeleteFunc(all, func(r call.Run) bool { return !f.Takes(r) })
	from, _ := strconv.Atoi(after)
	to := min(from+limit, len(all))
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	return all[from:to], next, nil
}

func (w *runWorld) Current(context.Context) error {
	if w.down != nil {
		return w.down
	}
	for _, h := range w.behind {
		w.calls[h.CorrelationID] = h
	}
	return nil
}

func (w *runWorld) Wait(_ context.Context, at record.Position) error {
	w.waited = append(w.waited, at)
	return nil
}

// call makes the n-th call, whose runs have ended as said: "orders@7 error".
func (w *runWorld) call(n int, runs ...string) call.History {
	w.t.Helper()
	h := call.History{Partition: 2, Accepted: call.Accepted{
		CorrelationID: callID(n), TraceID: fmt.Sprintf("abc123:%010d", n), EventKey: "webhook.orders",
		Received: monday.Add(time.Duration(n) * time.Minute),
	}}
	for _, run := range runs {
		listener, _, _ := strings.Cut(run, " ")
		h.Listeners = append(h.Listeners, listener)
	}
	for _, run := range runs {
		if listener, status, ended := strings.Cut(run, " "); ended {
			h, _ = h.Complete(w.completed(h, listener, 1, call.Status(status)))
		}
	}
	w.calls[h.CorrelationID] = h
	return h
}

// end ends an attempt of a call's run.
func (w *runWorld) end(n int, listener string, attempt int, status call.Status) {
	w.t.Helper()
	h, changed := w.calls[callID(n)].Complete(w.completed(w.calls[callID(n)], listener, attempt, status))
	if !changed {
		w.t.Fatalf("attempt %d of %s had ended", attempt, listener)
	}
	w.calls[callID(n)] = h
}

func (w *runWorld) completed(h call.History, listener string, attempt int, status call.Status) call.Completed {
	w.t.Helper()
	c := call.Completed{
		CorrelationID: h.CorrelationID, Listener: listener, Attempt: attempt, Status: status,
		Principal: "anonymousUser", Effective: "stock", Owner: "ann",
		Started: h.Received.Add(time.Second), Finished: h.Received.Add(2 * time.Second),
	}
	detail := call.Detail{Steps: []call.Step{{
		Path: "2", Command: "webhook.get", Started: c.Started, Finished: c.Finished, Attempt: 1, User: "stock", CommandID: "d1",
	}}}
	if status == call.Failed {
		detail.Error, detail.Steps[0].Error = "Step 2 failed: 4711 is no UUID.", "4711 is no UUID."
	}
	plain, err := json.Marshal(detail)
	if err != nil {
		w.t.Fatal(err)
	}
	sealed, err := w.ring.Seal(call.DetailField, c.ValueID(), plain)
	if err != nil {
		w.t.Fatal(err)
	}
	c.Detail = sealed.Reveal()
	return c
}

// run carries out a command and gives the lines of the page that it answers.
func (w *runWorld) run(name string, roles []string, params ...string) (lines []string, err error) {
	w.t.Helper()
	answer, err := w.dispatcher().Run(w.t.Context(), request(w.t, name, roles, params...))
	if err != nil {
		return nil, err
	}
	for _, r := range answer.(commands.Page[commands.Run]).Items {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s@%d %d %s %s", r.Pipeline, r.Version, r.Attempt, r.Status, r.Error)))
	}
	return lines, nil
}

// retries are the records of calls that were appended.
func (w *runWorld) retries() (all []call.Retried) {
	w.t.Helper()
	for _, r := range w.appended {
		if r.Topic != record.TopicCall {
			continue
		}
		decoded, err := call.Decode(&r)
		if err != nil || r.Partition != 2 {
			w.t.Fatalf("appended to partition %d: %v, %v", r.Partition, decoded, err)
		}
		all = append(all, decoded.(call.Retried))
	}
	return all
}
