package commands_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/fault"
	"hooklog/domain/record"
	"hooklog/transport/commands"
)

var errDown = fault.New(fault.Unavailable, "down").Because(errors.New("broker-7:9092"))

var (
	readers  = []string{"reader"}
	retriers = []string{"retrier"}
)

const whyItFailed = "Step 2 failed: 4711 is no UUID."

func TestRunsAreShownWithWhatHappened(t *testing.T) {
	w := newRuns(t)
	w.call(1, "orders@7 error", "stock@1")
	answer, err := w.dispatcher().Run(t.Context(), request(t, "run.get", administrator))
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	const facts = `{"correlationId":"c0ffee00-1234-4abc-8def-000000000001","traceId":"abc123:0000000001","eventKey":"webhook.orders","received":"2026-03-02T08:01:00Z",`
	want := `{"items":[` +
		facts + `"pipeline":"orders","version":7,"attempt":1,"status":"error","started":"2026-03-02T08:01:01Z","finished":"2026-03-02T08:01:02Z",` +
		`"principal":"anonymousUser","effective":"stock","owner":"ann","error":"Step 2 failed: 4711 is no UUID.","steps":[` +
		`{"path":"2","command":"webhook.get","started":"2026-03-02T08:01:01Z","finished":"2026-03-02T08:01:02Z","attempt":1,"error":"4711 is no UUID.","user":"stock","commandId":"d1"}]},` +
		facts + `"pipeline":"stock","version":1,"attempt":1,"status":"processing"}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("answer (-want +got):\n%s", diff)
	}
	t.Run("but not with another key ring", func(t *testing.T) {
		w.ring = newRing(t)
		if _, err := w.run("run.get", administrator); !fault.Is(err, fault.Unavailable) || strings.Contains(fault.From(err).Detail, "4711") {
			t.Errorf("got %v", err)
		}
	})
}

func TestRunGet(t *testing.T) {
	w := newRuns(t)
	w.call(1, "orders@7 error")
	w.call(2, "orders@7 ok", "stock@1 error")
	w.call(3, "orders@8")
	w.calls[callID(1)], _ = w.calls[callID(1)].Retry(retryOf(1, "orders@7"))
	w.end(1, "orders@7", 2, "ok")
	tests := []struct {
		name   string
		roles  []string
		params []string
		want   []string
	}{
		{"lists the latest attempts, the newest first", administrator, nil, []string{"orders@8 1 processing", "orders@7 1 ok", "stock@1 1 error " + whyItFailed, "orders@7 2 ok"}},
		{"lists what the caller may read", readers, nil, []string{"orders@8 1 processing", "orders@7 1 ok", "orders@7 2 ok"}},
		{"lists runs of a pipeline", administrator, []string{"pipeline=stock"}, []string{"stock@1 1 error " + whyItFailed}},
		{"lists runs of a status", administrator, []string{"status=processing"}, []string{"orders@8 1 processing"}},
		{"lists runs between two times", administrator, []string{"from=2026-03-02T09:01:00+01:00", "to=2026-03-02T08:02:00Z"}, []string{"orders@7 2 ok"}},
		{"shows every attempt of one call", administrator, []string{"correlationId=" + callID(1)}, []string{"orders@7 2 ok", "orders@7 1 error " + whyItFailed}},
		{"shows of one call what the caller may read", readers, []string{"correlationId=" + callID(2)}, []string{"orders@7 1 ok"}},
		{"shows of one call what was asked for", administrator, []string{"correlationId=" + callID(2), "status=error"}, []string{"stock@1 1 error " + whyItFailed}},
		{"shows nothing of an unknown call", administrator, []string{"correlationId=" + callID(9)}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := w.run("run.get", tt.roles, tt.params...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("runs (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("lists page by page", func(t *testing.T) {
		var all []string
		params := []string{"limit=3"}
		for {
			answer, err := w.dispatcher().Run(t.Context(), request(t, "run.get", administrator, params...))
			if err != nil {
				t.Fatal(err)
			}
			page := answer.(commands.Page[commands.Run])
			for _, r := range page.Items {
				all = append(all, r.TraceID+" "+r.Pipeline)
			}
			if page.Next == "" {
				break
			}
			params = []string{"limit=3", "cursor=" + page.Next}
		}
		want := []string{"abc123:0000000003 orders", "abc123:0000000002 orders", "abc123:0000000002 stock", "abc123:0000000001 orders"}
		if diff := cmp.Diff(want, all); diff != "" {
			t.Errorf("runs (-want +got):\n%s", diff)
		}
	})
	for _, bad := range []string{"from=yesterday", "to=2026-03-02", "limit=0", "cursor=%%"} {
		t.Run("refuses "+bad, func(t *testing.T) {
			if _, err := w.run("run.get", administrator, bad); !fault.Is(err, fault.Invalid) {
				t.Errorf("got %v", err)
			}
		})
	}
	t.Run("is refused to those without the right, on the record", func(t *testing.T) {
		before := len(w.appended)
		_, err := w.run("run.get", retriers)
		if !fault.Is(err, fault.Forbidden) || len(w.appended) != before+1 || w.appended[before].Topic != record.TopicAccess {
			t.Errorf("got %v, %d records", err, len(w.appended)-before)
		}
	})
}

func TestRunGetOfACallThatIsOnTheLogOnly(t *testing.T) {
	w := newRuns(t)
	further := w.call(1, "orders@7 ok")
	w.behind = append(w.behind, further)
	w.call(1, "orders@7")
	t.Run("is answered when the fold has caught up", func(t *testing.T) {
		if got, err := w.run("run.get", administrator, "correlationId="+callID(1)); err != nil || len(got) != 1 || got[0] != "orders@7 1 ok" {
			t.Errorf("got %v, %v", got, err)
		}
	})
	t.Run("is answered from the fold when the log is down", func(t *testing.T) {
		w.down = errDown
		w.call(1, "orders@7")
		if got, err := w.run("run.get", administrator, "correlationId="+callID(1)); err != nil || len(got) != 1 || got[0] != "orders@7 1 processing" {
			t.Errorf("got %v, %v", got, err)
		}
	})
}

func TestTheReaderOfRunsNeedsTheirPipelines(t *testing.T) {
	w := newRuns(t)
	w.state.policy = access.Policy{{Name: "r", Roles: readers, Commands: []string{"run.get"}}}
	w.call(1, "orders@7 error")
	if got, err := w.run("run.get", readers); err != nil || len(got) != 0 {
		t.Errorf("a rule without keys shows %v, %v", got, err)
	}
}
