//go:build faults

package faults_test

import (
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"hooklog/domain/access"
)

const acceptHint = "hooklog rebuild --accept-truncation"

// history is a service's folder at two moments, and calls from before and between.
type history struct {
	early, late             folder
	earlyCalls, lateCalls   []result
	earlyHook, betweenHooks webhook
}

func makeHistory(t *testing.T) history {
	t.Helper()
	live := folder(filepath.Join(t.TempDir(), "data"))
	var h history
	p := serve(t, nil, live.args()...)
	h.earlyHook = p.put(t, "eventKey=webhook.early")
	for range counts(20, 500) {
		h.earlyCalls = append(h.earlyCalls, p.called(t, h.earlyHook.UUID, []byte("early")))
	}
	p.terminate(t)
	h.early = live.copy(t)
	p = serve(t, nil, live.args()...)
	h.betweenHooks = p.put(t, "eventKey=webhook.between")
	for range counts(20, 500) {
		h.lateCalls = append(h.lateCalls, p.called(t, h.earlyHook.UUID, []byte("late")))
	}
	p.terminate(t)
	h.late = live
	return h
}

// goesOn fails the test unless the service runs on the folder with what is left:
// the early part, and nothing of the later one.
func (h history) goesOn(t *testing.T, f folder) {
	t.Helper()
	p := serve(t, nil, f.args()...)
	pollAll(t, p.client, h.earlyCalls, http.StatusOK)
	pollAll(t, p.client, h.lateCalls, http.StatusGone)
	if status, answer, err := p.command("webhook.get", "uuid="+h.betweenHooks.UUID); err != nil || status != http.StatusNotFound {
		t.Errorf("a webhook that is lost is answered %d %s %v", status, answer, err)
	}
	p.works(t, "webhook.afterwards")
	p.terminate(t)
	p = serve(t, nil, f.args()...) // and it is not refused again
	p.works(t, "webhook.again")
	p.terminate(t)
}

func pollAll(t *testing.T, c *client, calls []result, want int) {
	t.Helper()
	for _, call := range calls {
		if _, status, err := c.poll(call.CorrelationID); err != nil || status != want {
			t.Fatalf("poll: %d %v, want %d", status, err, want)
		}
	}
}

func TestALogThatHasLostRecords(t *testing.T) {
	embeddedOnly(t)
	h := makeHistory(t)
	for _, tt := range []struct {
		name   string
		make   func(t *testing.T) folder
		reason string
	}{
		{"the checkpoint is ahead of the log", func(t *testing.T) folder {
			f := h.early.copy(t)
			f.takeState(t, h.late)
			return f
		}, "before what was folded"},
		{"the log was cut and has grown past the checkpoint", func(t *testing.T) folder {
			f := h.early.copy(t)
			f.dropState(t)
			p := serve(t, nil, f.args()...)
			for i := range 5 {
				p.works(t, "webhook.grown-"+string(rune('a'+i)))
			}
			for range 2 * len(h.lateCalls) {
				p.called(t, h.earlyHook.UUID, []byte("another history"))
			}
			p.terminate(t)
			f.takeState(t, h.late)
			return f
		}, "is not the one that was folded"},
		{"the log is another one", func(t *testing.T) folder {
			f := folder(filepath.Join(t.TempDir(), "data"))
			p := serve(t, nil, f.args()...)
			for range len(h.earlyCalls) + len(h.lateCalls) {
				p.works(t, "webhook.other-"+randomName())
			}
			p.terminate(t)
			f.takeState(t, h.late)
			return f
		}, "the topic is another one than was folded"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			f := tt.make(t)
			h.refuse(t, f, tt.reason)

			rebuilt(t, append(f.args(), "--accept-truncation")...)
			said := accepted(t, f.commands(t))
			if len(said) != 1 || !strings.HasPrefix(said[0], access.System+": ") || !strings.Contains(said[0], tt.reason) {
				t.Errorf("on the record is %q", said)
			}
			rebuilt(t, f.args()...) // which needs no permission any more
			if again := accepted(t, f.commands(t)); len(again) != 1 {
				t.Errorf("on the record is %q", again)
			}
			if strings.Contains(tt.name, "ahead") {
				h.goesOn(t, f)
				return
			}
			p := serve(t, nil, f.args()...)
			pollAll(t, p.client, h.lateCalls, http.StatusGone)
			p.works(t, "webhook.afterwards")
			p.terminate(t)
		})
	}
}

// refuse fails the test unless every verb but one refuses the folder with the
// reason, and changes neither the log nor what was folded.
func (h history) refuse(t *testing.T, f folder, reason string) {
	t.Helper()
	before, log := f.dump(t), f.contents(t, filepath.Join("log", "partitions"))
	refused(t, append([]string{"serve"}, f.args()...), reason, acceptHint)
	refused(t, append([]string{"rebuild"}, f.args()...), reason, acceptHint)
	refused(t, append([]string{"admin", "reset"}, f.args()...), reason, acceptHint)
	if f.dump(t) != before {
		t.Errorf("what was folded has changed")
	}
	if !maps.Equal(records(f.contents(t, filepath.Join("log", "partitions"))), records(log)) {
		t.Errorf("the log has changed")
	}
}

// records are the files that hold records.
func records(files map[string]string) map[string]string {
	maps.DeleteFunc(files, func(name, _ string) bool { return !strings.HasSuffix(name, ".dat") })
	return files
}

func TestFilesThatHaveLostTheirEnd(t *testing.T) {
	embeddedOnly(t)
	t.Parallel()
	h := makeHistory(t)
	f := h.late.copy(t)
	// The early segment is the beginning of the late one, which is longer by more
	// than a batch.
	cut := filepath.Join("log", "partitions", "svc.call-0", "0.dat")
	short, err := os.Stat(filepath.Join(string(h.early), cut))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(filepath.Join(string(f), cut), short.Size()); err != nil {
		t.Fatal(err)
	}
	for name, state := range map[string]func(t *testing.T, f folder){
		"with what was folded":    func(*testing.T, folder) {},
		"without what was folded": func(t *testing.T, f folder) { f.dropState(t) },
	} {
		t.Run(name, func(t *testing.T) {
			f := f.copy(t)
			state(t, f)
			before := f.contents(t, "")
			for _, verb := range []string{"serve", "rebuild"} {
				refused(t, append([]string{verb}, f.args()...), cut, "was left as it is", acceptHint)
			}
			if !maps.Equal(f.contents(t, ""), before) {
				t.Errorf("the files have changed")
			}
			rebuilt(t, append(f.args(), "--accept-truncation")...)
			if said := accepted(t, f.commands(t)); len(said) != 1 || !strings.Contains(said[0], cut) {
				t.Errorf("on the record is %q", said)
			}
			p := serve(t, nil, f.args()...)
			pollAll(t, p.client, h.earlyCalls, http.StatusOK)
			pollAll(t, p.client, h.lateCalls, http.StatusGone)
			p.works(t, "webhook.afterwards")
			p.terminate(t)
		})
	}
}

func TestTheSameRowsAgain(t *testing.T) {
	embeddedOnly(t)
	t.Parallel()
	f := makeHistory(t).late
	serve(t, nil, f.args()...).terminate(t) // which folds what the last one had not
	want := f.dump(t)
	if strings.Count(want, "\n") < 40 {
		t.Fatalf("there is little to compare:\n%s", want)
	}
	for name, again := range map[string]func(t *testing.T, f folder){
		"DIR/state is deleted": func(t *testing.T, f folder) {
			f.dropState(t)
			serve(t, nil, f.args()...).terminate(t)
		},
		"hooklog rebuild": func(t *testing.T, f folder) { rebuilt(t, f.args()...) },
		"hooklog rebuild where the state cannot be read": func(t *testing.T, f folder) {
			for path := range f.contents(t, "state") {
				if err := os.WriteFile(path, []byte("rubbish"), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			rebuilt(t, f.args()...)
		},
		"DIR/state is deleted, and the start killed": func(t *testing.T, f folder) {
			f.dropState(t)
			serve(t, nil, f.args()...).kill(t)
			serve(t, nil, f.args()...).terminate(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := f.copy(t)
			again(t, f)
			if got := f.dump(t); got != want {
				t.Errorf("the dump differs: %d bytes in place of %d", len(got), len(want))
			}
		})
	}
	t.Logf("%d rows compared", strings.Count(want, "\n"))
}

func TestRebuildKnowsItsFolder(t *testing.T) {
	embeddedOnly(t)
	t.Parallel()
	t.Run("one without a log is left as it is", func(t *testing.T) {
		empty := t.TempDir()
		refused(t, []string{"rebuild", "--data-dir", empty}, empty, "holds no log")
		if entries, err := os.ReadDir(empty); err != nil || len(entries) > 0 {
			t.Errorf("it has %v, %v", entries, err)
		}
	})
	t.Run("one that is in use is refused", func(t *testing.T) {
		f := folder(filepath.Join(t.TempDir(), "data"))
		p := serve(t, nil, f.args()...)
		refused(t, append([]string{"rebuild"}, f.args()...), "another hooklog runs on this folder")
		p.works(t, "webhook.undisturbed")
		p.terminate(t)
	})
}
