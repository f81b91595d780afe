//go:build faults

package faults_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	random "math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"hooklog/cmd/verify"
	"hooklog/domain/record"
)

// evidence is a service's folder at two moments, both with calls, commands, looks
// and signed checkpoints, and what was kept outside of the later one.
type evidence struct {
	early, late folder
	checkpoint  string // the file of the newest checkpoint
	proved      map[string]int64
	events      map[string]int64 // the number of each topic
}

func makeEvidence(t *testing.T) evidence {
	t.Helper()
	live := folder(filepath.Join(t.TempDir(), "data"))
	e := evidence{checkpoint: filepath.Join(t.TempDir(), "checkpoint"), proved: map[string]int64{}, events: map[string]int64{}}
	args := append(live.args(), "--checkpoint-interval", "0", "--checkpoint-sink", e.checkpoint)
	p := serve(t, nil, args...)
	hooks := []webhook{p.put(t, "eventKey=webhook.one"), p.put(t, "eventKey=webhook.two")}
	p.work(t, hooks, 3)
	p.terminate(t)
	e.early = live.copy(t)
	p = serve(t, nil, args...)
	p.work(t, hooks, 3)
	p.busy(t, hooks) // newer than the checkpoint
	p.terminate(t)
	e.late = live

	report := verified(t, live, 0, "--checkpoint", e.checkpoint)
	for _, tree := range report.Trees {
		e.proved[tree.Topic] = tree.Proved
		if tree.Proved < 5 {
			t.Fatalf("too little is proved of %s: %+v", tree.Topic, tree)
		}
	}
	for _, key := range []string{"webhook.one", "webhook.two"} {
		e.events[record.EventTopic(key)] = int64(len(live.recordsOf(t, record.EventTopic(key))))
	}
	if report.Outside.IsZero() || report.Events.Checked < 40 {
		t.Fatalf("too little was checked: %+v", report)
	}
	return e
}

// work makes rounds of everything that is proved, each with a checkpoint.
func (p *process) work(t *testing.T, hooks []webhook, rounds int) {
	t.Helper()
	for range rounds {
		p.busy(t, hooks)
		p.administer(t, "checkpoint.put")
	}
}

// busy makes some calls, commands and looks.
func (p *process) busy(t *testing.T, hooks []webhook) {
	t.Helper()
	for i := range 8 {
		p.called(t, hooks[i%len(hooks)].UUID, []byte(rand.Text()))
	}
	for _, hook := range hooks {
		p.put(t, "uuid="+hook.UUID, fmt.Sprintf("maxPayloadLength=%d", 1000+random.IntN(1000)))
		p.administer(t, "webhook.list")
	}
}

// administer runs a command as the administrator, which must succeed.
func (p *process) administer(t *testing.T, name string, params ...string) []byte {
	t.Helper()
	status, answer, err := p.manage(name, params...)
	if err != nil || status != http.StatusOK {
		t.Fatalf("%s: %d %s %v", name, status, answer, err)
	}
	return answer
}

// verified runs hooklog verify on a folder, which must end with the code.
func verified(t *testing.T, f folder, code int, args ...string) verify.Report {
	t.Helper()
	return verifiedWith(t, code, append(f.args(), args...)...)
}

func verifiedWith(t *testing.T, code int, args ...string) (report verify.Report) {
	t.Helper()
	got, stdout, stderr := runBinary(t, append([]string{"verify", "-o", "json"}, args...)...)
	if err := json.Unmarshal([]byte(stdout), &report); err != nil || got != code {
		t.Fatalf("exit code %d, want %d: %v\n%s\n%s", got, code, err, stdout, stderr)
	}
	if code == 1 && !strings.Contains(stderr, report.Differences[0].String()) {
		t.Errorf("the last line does not name the first difference: %s", stderr)
	}
	return report
}

// tampered is what was done to a copy of the folder, and where that shows first.
// Where nothing stored helps, a range is named, which must hold it.
type tampered struct {
	folder
	at   record.Position
	wide bool
	args []string
}

var tamperings = map[string]func(t *testing.T, e evidence) tampered{
	"an edited value": func(t *testing.T, e evidence) tampered {
		return e.change(t, e.tree(), func(records []record.Record, i int64) []record.Record {
			records[i].Value[random.IntN(len(records[i].Value))] ^= 1
			return records
		})
	},
	"an edited header": func(t *testing.T, e evidence) tampered {
		return e.change(t, e.tree(), func(records []record.Record, i int64) []record.Record {
			records[i].Headers = append(records[i].Headers, record.Header{Key: "svc-depth", Value: []byte("1")})
			return records
		})
	},
	"an edited time": func(t *testing.T, e evidence) tampered {
		return e.change(t, e.tree(), func(records []record.Record, i int64) []record.Record {
			records[i].Time = records[i].Time.AddDate(0, 0, -1)
			return records
		})
	},
	"a dropped record": func(t *testing.T, e evidence) tampered {
		return e.change(t, e.tree(), func(records []record.Record, i int64) []record.Record {
			return slices.Delete(records, int(i), int(i)+1)
		})
	},
	"two records in each other's place": func(t *testing.T, e evidence) tampered {
		return e.change(t, e.tree(), func(records []record.Record, i int64) []record.Record {
			j := i + 1 + random.Int64N(int64(len(records))-i-1)
			records[i], records[j] = records[j], records[i]
			return records
		})
	},
	"a forged record between": func(t *testing.T, e evidence) tampered {
		return e.change(t, e.tree(), func(records []record.Record, i int64) []record.Record {
			return slices.Insert(records, int(i), forged(records))
		})
	},
	"a forged record appended where the end was cut": func(t *testing.T, e evidence) tampered {
		return e.change(t, e.tree(), func(records []record.Record, i int64) []record.Record {
			return append(records[:i], forged(records))
		})
	},
	"a flipped bit": func(t *testing.T, e evidence) tampered {
		out := tampered{folder: e.late.copy(t), at: record.Position{Topic: e.tree()}}
		path := filepath.Join(out.partition(out.at.Topic), "0.dat")
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		raw[random.IntN(60)] ^= 1 // of the first batch
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		return out
	},
	"a deleted event": func(t *testing.T, e evidence) tampered {
		return e.change(t, e.event(), func(records []record.Record, i int64) []record.Record {
			return slices.Delete(records, int(i), int(i)+1)
		})
	},
	"an edited event": func(t *testing.T, e evidence) tampered {
		return e.change(t, e.event(), func(records []record.Record, i int64) []record.Record {
			records[i].Value[random.IntN(len(records[i].Value))] ^= 1
			return records
		})
	},
	"an edited header of an event": func(t *testing.T, e evidence) tampered {
		return e.change(t, e.event(), func(records []record.Record, i int64) []record.Record {
			records[i].Headers[random.IntN(len(records[i].Headers))].Value = []byte("other")
			return records
		})
	},
	"a topic of events that is gone": func(t *testing.T, e evidence) tampered {
		out := tampered{folder: e.late.copy(t), at: record.Position{Topic: e.event()}}
		if err := os.RemoveAll(out.partition(out.at.Topic)); err != nil {
			t.Fatal(err)
		}
		return out
	},
	"a proved topic that is gone": func(t *testing.T, e evidence) tampered {
		out := tampered{folder: e.late.copy(t), at: record.Position{Topic: e.tree()}}
		if err := os.RemoveAll(out.partition(out.at.Topic)); err != nil {
			t.Fatal(err)
		}
		return out
	},
	"a log that was rolled back": func(t *testing.T, e evidence) tampered {
		out := tampered{folder: e.early.copy(t), wide: true, args: []string{"--checkpoint", e.checkpoint}}
		out.at = record.Position{Topic: record.TopicCommand, Offset: int64(len(out.recordsOf(t, record.TopicCommand)))}
		if without := verified(t, out.folder, 0); !without.Outside.IsZero() {
			t.Error("a rollback was checked without an outside checkpoint")
		}
		return out
	},
	"checkpoints signed with another key": func(t *testing.T, e evidence) tampered {
		out := tampered{folder: e.late.copy(t), at: record.Position{Topic: record.TopicCheckpoint}}
		out.resign(t)
		return out
	},
	"a log that was cut, and its projections deleted": func(t *testing.T, e evidence) tampered {
		out := e.change(t, e.tree(), func(records []record.Record, i int64) []record.Record { return records[:i] })
		out.dropState(t)
		out.wide = true
		return out
	},
}

// forged is a record that looks like another one.
func forged(records []record.Record) record.Record {
	r := records[random.IntN(len(records))]
	r.Value = append(slices.Clone(r.Value), ' ')
	return r
}

func (e evidence) tree() string  { return anyOf(e.proved) }
func (e evidence) event() string { return anyOf(e.events) }

func anyOf(topics map[string]int64) string {
	names := slices.Sorted(maps.Keys(topics))
	return names[random.IntN(len(names))]
}

// change lets a copy of the folder have other records from a random offset on,
// which is signed or accepted.
func (e evidence) change(t *testing.T, topic string, do func([]record.Record, int64) []record.Record) tampered {
	t.Helper()
	out := tampered{folder: e.late.copy(t), at: record.Position{Topic: topic}}
	below, isTree := e.proved[topic]
	if !isTree {
		below = e.events[topic]
	}
	out.at.Offset = random.Int64N(below)
	records := out.recordsOf(t, topic)
	out.rewrite(t, topic, do(records, out.at.Offset))
	return out
}

// resign lets another key of the same name sign every checkpoint.
func (f folder) resign(t *testing.T) {
	t.Helper()
	public, err := os.ReadFile(filepath.Join(string(f), "keys", "checkpoint.pub"))
	if err != nil {
		t.Fatal(err)
	}
	name, _, _ := strings.Cut(string(public), "+")
	private, _, err := note.GenerateKey(rand.Reader, name)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	records := f.recordsOf(t, record.TopicCheckpoint)
	for i := range records {
		text, _, _ := strings.Cut(string(records[i].Value), "\n\n")
		if records[i].Value, err = note.Sign(&note.Note{Text: text + "\n"}, signer); err != nil {
			t.Fatal(err)
		}
	}
	f.rewrite(t, record.TopicCheckpoint, records)
}

// check fails the test unless verify names where the tampering is.
func (x tampered) check(t *testing.T) {
	t.Helper()
	before := x.contents(t, "")
	d := verified(t, x.folder, 1, x.args...).Differences[0]
	named := record.Position{Topic: d.Topic, Partition: d.Partition, Offset: d.Offset}
	inRange := x.wide && named.Topic == x.at.Topic && named.Offset <= x.at.Offset && x.at.Offset < d.To
	if !inRange && (named != x.at || d.To != 0) {
		t.Errorf("verify names %s, and it is at %s", d, x.at)
	}
	if !maps.Equal(before, x.contents(t, "")) {
		t.Error("verify changed the folder")
	}
}

func TestVerifyNamesEveryTampering(t *testing.T) {
	embeddedOnly(t)
	alongside(t)
	e := makeEvidence(t)
	names := slices.Sorted(maps.Keys(tamperings))
	n := 0
	for n < counts(len(names), 200) {
		for _, name := range names {
			ok := t.Run(fmt.Sprintf("%s, %d", name, n), func(t *testing.T) { tamperings[name](t, e).check(t) })
			if !ok {
				t.Fatal("a tampering was not named")
			}
			n++
		}
	}
	t.Logf("%d of %d tamperings were named", n, n)
}

// A service that runs on a log that was rolled back must leave outside what
// convicts it.
func TestAServiceOnARolledBackLogLeavesTheOutsideCheckpoint(t *testing.T) {
	embeddedOnly(t)
	alongside(t)
	e := makeEvidence(t)
	f := e.early.copy(t)
	p := serve(t, nil, append(f.args(), "--checkpoint-interval", "0", "--checkpoint-sink", e.checkpoint)...)
	p.administer(t, "checkpoint.put")
	eventually(t, "the sink was left as it is", func() bool { return strings.Contains(p.logs.String(), "the sink keeps what it has") })
	p.terminate(t)
	verified(t, f, 0)
	if report := verified(t, f, 1, "--checkpoint", e.checkpoint); report.Outside.IsZero() {
		t.Errorf("%+v", report)
	}
}

func TestVerifySaysWhatIsNotProved(t *testing.T) {
	embeddedOnly(t)
	alongside(t)
	e := makeEvidence(t)
	t.Run("what is newer than the last checkpoint", func(t *testing.T) {
		before := verified(t, e.late, 0)
		f := e.late.copy(t)
		records := f.recordsOf(t, record.TopicAccess)
		f.rewrite(t, record.TopicAccess, append(records, records[0]))
		after := verified(t, f, 0)
		for i, tree := range after.Trees {
			want := before.Trees[i].Unproven
			if tree.Topic == record.TopicAccess {
				want++
			}
			if tree.Unproven != want {
				t.Errorf("%s: %d are unproven, want %d", tree.Topic, tree.Unproven, want)
			}
		}
	})
	t.Run("events that nobody accepted", func(t *testing.T) {
		f := e.late.copy(t)
		topic := e.event()
		records := f.recordsOf(t, topic)
		f.rewrite(t, topic, append(records, records[0]))
		if events := verified(t, f, 0).Events; events.Unacknowledged != 1 {
			t.Errorf("events %+v", events)
		}
	})
	t.Run("a folder in use cannot be told of", func(t *testing.T) {
		f := e.late.copy(t)
		p := serve(t, nil, f.args()...)
		if code, _, stderr := runBinary(t, append([]string{"verify"}, f.args()...)...); code != 3 || !strings.Contains(stderr, "another hooklog runs on this folder") {
			t.Errorf("exit code %d: %s", code, stderr)
		}
		p.terminate(t)
	})
	t.Run("people read it", func(t *testing.T) {
		code, stdout, stderr := runBinary(t, append([]string{"verify"}, e.late.args()...)...)
		for _, says := range []string{"svc.call/0: proved to ", " newer unproven", "Rollback not checked", "Nothing differs."} {
			if code != 0 || stderr != "" || !strings.Contains(stdout, says) {
				t.Errorf("%d %q is not in\n%s\n%s", code, says, stdout, stderr)
			}
		}
	})
}
