package e2e_test

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"golang.org/x/mod/sumdb/note"

	"hooklog/cmd/settings"
	"hooklog/domain/proof"
	"hooklog/domain/record"
)

// checkpointAnswer is what the commands about checkpoints answer.
type checkpointAnswer struct {
	Origin, Note, PublicKey string
	Time                    time.Time
	Trees                   []struct {
		Topic       string
		Partition   int32
		Begun, Size int64
		Root        []byte
	}
}

// checkpoint signs one now, and opens it with the key that the operator finds in
// the data folder.
func (s *service) checkpoint() (checkpointAnswer, proof.Checkpoint) {
	s.t.Helper()
	var a checkpointAnswer
	s.command("checkpoint.put").want(http.StatusOK).json(&a)
	return a, s.verified(a.Note)
}

func (s *service) verified(signed string) proof.Checkpoint {
	s.t.Helper()
	key, err := os.ReadFile(filepath.Join(s.cfg.DataDir, "keys", "checkpoint.pub"))
	if err != nil {
		s.t.Fatal(err)
	}
	verifier, err := note.NewVerifier(strings.TrimSuffix(string(key), "\n"))
	if err != nil {
		s.t.Fatal(err)
	}
	opened, err := note.Open([]byte(signed), note.VerifierList(verifier))
	if err != nil {
		s.t.Fatalf("%v:\n%s", err, signed)
	}
	c, err := proof.ParseCheckpoint(opened.Text)
	if err != nil {
		s.t.Fatalf("%v:\n%s", err, opened.Text)
	}
	return c
}

// recordOf is a record as it was read by an ordinary client.
func recordOf(r *kgo.Record) record.Record {
	out := record.Record{
		Position: record.Position{Topic: r.Topic, Partition: r.Partition, Offset: r.Offset},
		Time:     r.Timestamp, Key: r.Key, Value: r.Value,
	}
	for _, h := range r.Headers {
		out.Headers = append(out.Headers, record.Header(h))
	}
	return out
}

// provenBy is a service with a checkpoint of its log.
type provenBy struct {
	*service
	proof.Checkpoint
}

// proves holds a topic as an ordinary client reads it against a checkpoint, and
// counts the records that it covers.
func (c provenBy) proves(topic string) (covered int) {
	c.t.Helper()
	trees := map[int32]*proof.Tree{}
	records := c.records(topic)
	slices.SortStableFunc(records, func(a, b *kgo.Record) int { return cmp.Compare(a.Offset, b.Offset) })
	for _, r := range records {
		head, known := c.Head(topic, r.Partition)
		if !known || r.Offset >= head.Size {
			continue
		}
		tree, begun := trees[r.Partition]
		if !begun {
			tree = new(proof.Tree)
			trees[r.Partition] = tree
		}
		leaf := recordOf(r)
		tree.Append(proof.LeafHash(&leaf))
		covered++
	}
	for _, h := range c.Heads {
		if h.Topic != topic {
			continue
		}
		if tree := trees[h.Partition]; tree == nil || tree.Size() != h.Size || tree.Root() != h.Root {
			c.t.Errorf("%s/%d at size %d has another root than was signed", topic, h.Partition, h.Size)
		}
	}
	return covered
}

// readable are the proved topics that an ordinary client can read.
func (s *service) readable() []string {
	if s.cfg.Embedded() {
		return []string{record.TopicCall}
	}
	return []string{record.TopicAccess, record.TopicCall, record.TopicCommand}
}

func TestACheckpointProvesWhatWasOnTheLog(t *testing.T) {
	onBothLogs(t, func(t *testing.T, start func(...option) *service) {
		s := start()
		hook := s.put("eventKey=webhook.proved")
		s.command("webhook.list").want(http.StatusOK)
		for range 5 {
			s.called(hook.UUID, asText, "hello")
		}
		shown, first := s.checkpoint()
		if covered := (provenBy{s, first}).proves(record.TopicCall); covered != 5 {
			t.Errorf("%d of 5 calls are covered", covered)
		}
		if shown.Origin != first.Origin || len(shown.Trees) != len(first.Heads) || !shown.Time.Equal(first.Time) {
			t.Errorf("shown is %+v of\n%s", shown, first.Text())
		}
		for i, h := range first.Heads {
			if tree := shown.Trees[i]; tree.Topic != h.Topic || tree.Size != h.Size || !bytes.Equal(tree.Root, h.Root[:]) {
				t.Errorf("shown is %+v of\n%s", tree, first.Text())
			}
		}
		var again checkpointAnswer
		s.command("checkpoint.get").want(http.StatusOK).json(&again)
		if again.Note != shown.Note || again.PublicKey != shown.PublicKey {
			t.Errorf("checkpoint.get answers %+v after %+v", again, shown)
		}

		for name, change := range map[string]func(){
			"after a restart": func() {},
			"after a rebuild": func() {
				if err := os.RemoveAll(s.cfg.StateDir()); err != nil {
					t.Fatal(err)
				}
			},
		} {
			s.stop()
			change()
			s.start()
			s.called(hook.UUID, asText, name)
			_, next := s.checkpoint()
			for _, topic := range s.readable() {
				provenBy{s, first}.proves(topic)
				provenBy{s, next}.proves(topic)
			}
			for _, h := range next.Heads {
				if before, _ := first.Head(h.Topic, h.Partition); h.Size < before.Size || h.Begun != 0 || next.Origin != first.Origin {
					t.Errorf("%s: from size %d to %d, begun at %d", name, before.Size, h.Size, h.Begun)
				}
			}
			first = next
		}
	})
}

func TestCheckpointsAreSignedOnASchedule(t *testing.T) {
	var mu sync.Mutex
	var got []string
	outside := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.Method+" "+string(body))
	}))
	defer outside.Close()
	file := filepath.Join(t.TempDir(), "outside")
	one, two := startTwo(t,
		func(c *settings.Config) { c.CheckpointInterval, c.CheckpointSink = time.Second, file },
		func(c *settings.Config) { c.CheckpointInterval, c.CheckpointSink = time.Second, outside.URL },
	)
	hook := one.put("eventKey=webhook.scheduled")
	eventually(t, "four checkpoints are on the log", func() bool {
		one.called(hook.UUID, asText, "more")
		return len(one.records(record.TopicCheckpoint)) >= 4
	})
	var all []proof.Checkpoint
	for _, r := range one.records(record.TopicCheckpoint) {
		all = append(all, two.verified(string(r.Value)))
	}
	for i, c := range all {
		for _, topic := range one.readable() {
			provenBy{one, c}.proves(topic)
		}
		if i > 0 && c.Time.Sub(all[i-1].Time) < 400*time.Millisecond {
			t.Errorf("two instances signed at %s and %s", all[i-1].Time, c.Time)
		}
	}
	eventually(t, "the file outside has a checkpoint", func() bool {
		text, err := os.ReadFile(file)
		return err == nil && one.verified(string(text)).Origin == all[0].Origin
	})
	eventually(t, "the server outside has a checkpoint", func() bool {
		mu.Lock()
		defer mu.Unlock()
		if len(got) == 0 {
			return false
		}
		method, text, _ := strings.Cut(got[len(got)-1], " ")
		return method == http.MethodPut && two.verified(text).Origin == all[0].Origin
	})
	if logs := one.logs.String() + two.logs.String(); !strings.Contains(logs, "Checkpoint signed") || !strings.Contains(logs, all[0].Origin) {
		t.Error("no log line tells of a checkpoint")
	}
}

// Retention removes the beginning of a partition. Where a checkpoint covers what
// is gone, a new instance goes on from there.
func TestATreeOutlivesItsBeginning(t *testing.T) {
	for name, tt := range map[string]struct{ start, begun int64 }{
		"it goes on from a checkpoint that covers what is gone": {start: 7, begun: 0},
		"it is begun anew where none does":                      {start: 11, begun: 11},
	} {
		t.Run(name, func(t *testing.T) {
			s := startOnBrokers(t, func(c *settings.Config) { c.Partitions = 1 })
			hook := s.put("eventKey=webhook.kept")
			for _, calls := range []int{5, 4, 4} {
				s.checkpoint()
				for range calls {
					s.called(hook.UUID, asText, "hello")
				}
			}
			tree := proof.Begin(tt.begun)
			for _, r := range s.records(record.TopicCall)[tt.begun:] {
				leaf := recordOf(r)
				tree.Append(proof.LeafHash(&leaf))
			}
			s.stop()
			gone := kadm.Offsets{}
			gone.AddOffset(record.TopicCall, 0, tt.start, -1)
			deleted, err := kadm.NewClient(s.kafka()).DeleteRecords(t.Context(), gone)
			if err := errors.Join(err, deleted.Error()); err != nil {
				t.Fatal(err)
			}
			if err := os.RemoveAll(s.cfg.StateDir()); err != nil {
				t.Fatal(err)
			}
			s.start()
			for range 2 { // also what follows agrees
				_, c := s.checkpoint()
				if h, _ := c.Head(record.TopicCall, 0); h.Begun != tt.begun || h.Size != 13 || h.Root != tree.Root() {
					t.Errorf("begun at %d with size %d and root %x, want %d, 13 and %x", h.Begun, h.Size, h.Root, tt.begun, tree.Root())
				}
			}
		})
	}
}

func TestCheckpointsAreForWhoMay(t *testing.T) {
	s := startOnOne(t)
	s.command("user.put", "username=ann", "password=long enough").want(http.StatusOK)
	ann := s.as("Authorization", basic("ann", "long enough"))
	ann.forbidden("checkpoint.put")
	ann.forbidden("checkpoint.get")
	s.command("policy.put", "name=proof", "users=ann", "commands=checkpoint.get").want(http.StatusOK)
	ann.run("checkpoint.get").want(http.StatusNotFound)
	ann.forbidden("checkpoint.put")
	s.command("policy.put", "name=proof", "users=ann", "commands=checkpoint.*").want(http.StatusOK)
	ann.run("checkpoint.put").want(http.StatusOK)
	ann.run("checkpoint.get").want(http.StatusOK)
}

func TestAPinnedKeyIsNotReplaced(t *testing.T) {
	s := startEmbedded(t)
	path := s.cfg.CheckpointKeyPath()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s.stop()
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	s.start()
	if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, text) {
		t.Errorf("written again as %q: %v", again, err)
	}
	s.stop()
	if err := os.WriteFile(path, []byte("another\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	refused(t, 1, serveIn(s.cfg.DataDir), path+" holds another key")
}
