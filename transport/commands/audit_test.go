package commands_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/audit"
	"hooklog/domain/fault"
	"hooklog/transport/commands"
)

// audits is an audit of n entries about the key webhook.a, the newest of which has
// the highest offset; it fails behind as many as failAfter says.
type audits struct {
	n, failAfter int
	filter       audit.Filter
	listed       int
}

func (a *audits) List(f audit.Filter, after string, limit int) (page []audit.Entry, next string, err error) {
	a.filter = f
	a.listed++
	begin, _ := strconv.Atoi(after)
	if a.failAfter > 0 && begin >= a.failAfter {
		return nil, "", errors.New("broken")
	}
	for i := begin; i < a.n && len(page) < limit; i++ {
		offset := int64(a.n - 1 - i)
		if f.OldestFirst {
			offset = int64(i)
		}
		page = append(page, audit.Entry{Offset: offset, Outcome: audit.OK})
	}
	if end := begin + len(page); end < a.n {
		next = strconv.Itoa(end)
	}
	return page, next, nil
}

func auditing(t *testing.T, w *world, a *audits) *commands.Dispatcher {
	d := newDispatcher(t, w, &bytes.Buffer{})
	d.Audit = a
	return d
}

func TestTheAuditIsReadPageByPage(t *testing.T) {
	d := auditing(t, &world{}, &audits{n: 5})
	var offsets []int64
	for params := []string{"limit=2"}; ; {
		answer, err := d.Run(t.Context(), request(t, "audit.get", administrator, params...))
		if err != nil {
			t.Fatal(err)
		}
		page := answer.(commands.Page[audit.Entry])
		for _, e := range page.Items {
			offsets = append(offsets, e.Offset)
		}
		if page.Next == "" {
			break
		}
		params = []string{"limit=2", "cursor=" + page.Next}
	}
	if diff := cmp.Diff([]int64{4, 3, 2, 1, 0}, offsets); diff != "" {
		t.Errorf("offsets (-want +got):\n%s", diff)
	}
	t.Run("and an empty page is a list", func(t *testing.T) {
		answer, err := auditing(t, &world{}, &audits{}).Run(t.Context(), request(t, "audit.get", administrator))
		text, _ := json.Marshal(answer)
		if string(text) != `{"items":[]}` || err != nil {
			t.Errorf("%s, %v", text, err)
		}
	})
}

func TestTheAuditIsFiltered(t *testing.T) {
	monday := time.Date(2026, 3, 2, 8, 0, 0, 0, time.UTC)
	a, w := &audits{}, &world{policy: access.Policy{
		{Name: "a", Roles: []string{"orders"}, Commands: []string{"audit.get"}, Keys: []string{"webhook.a"}},
		{Name: "b", Roles: []string{"auditor"}, Commands: []string{"audit.*"}, Keys: []string{"*"}},
		{Name: "c", Roles: []string{"nearly"}, Commands: []string{"audit.get"}, Keys: []string{"webhook.*"}},
	}}
	d := auditing(t, w, a)
	params := []string{"from=2026-03-02T08:00:00Z", "to=2026-03-02T10:00:00+01:00", "user=kim", "command=login", "webhook=e1f3a9", "outcome=ok"}
	for _, tt := range []struct {
		role              string
		ofA, ofB, withAll bool
	}{{"orders", true, false, false}, {"nearly", true, true, false}, {"auditor", true, true, true}, {access.RoleAdministrator, true, true, true}} {
		if _, err := d.Run(t.Context(), request(t, "audit.get", []string{tt.role}, params...)); err != nil {
			t.Fatal(err)
		}
		got := a.filter
		if got.Readable("webhook.a") != tt.ofA || got.Readable("webhook.b") != tt.ofB || got.All != tt.withAll {
			t.Errorf("%s sees of a: %v, of b: %v, of no key: %v", tt.role, got.Readable("webhook.a"), got.Readable("webhook.b"), got.All)
		}
		if !got.From.Equal(monday) || !got.To.Equal(monday.Add(time.Hour)) {
			t.Errorf("from %s to %s", got.From, got.To)
		}
		got.From, got.To, got.Readable, got.All = time.Time{}, time.Time{}, nil, false
		if diff := cmp.Diff(audit.Filter{User: "kim", Command: "login", Webhook: "e1f3a9", Outcome: "ok"}, got); diff != "" {
			t.Errorf("filter (-want +got):\n%s", diff)
		}
	}
	for _, command := range []string{"audit.get", "audit.export"} {
		if _, err := d.Run(t.Context(), request(t, command, administrator, "from=yesterday")); !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", command, err)
		}
	}
	if _, err := d.Run(t.Context(), request(t, "audit.export", []string{"orders"})); !fault.Is(err, fault.Forbidden) {
		t.Errorf("the right to audit.get exports: %v", err)
	}
}

func TestAnExportGoesOnAsItIsRead(t *testing.T) {
	a, w := &audits{n: 1234}, &world{}
	answer, err := auditing(t, w, a).Run(t.Context(), request(t, "audit.export", administrator, "user=kim"))
	if err != nil {
		t.Fatal(err)
	}
	t.Run("and is on the record before", func(t *testing.T) {
		var look access.Look
		if err := json.Unmarshal(w.appended[0].Value, &look); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]any{"user": "kim"}, look.Params); diff != "" || look.Name != "audit.export" || look.Outcome != "ok" {
			t.Errorf("recorded %+v, params (-want +got):\n%s", look, diff)
		}
	})
	next := int64(0)
	for value, err := range answer.(commands.Lines) {
		if err != nil || value.(audit.Entry).Offset != next {
			t.Fatalf("line %d: %v, %v", next, value, err)
		}
		next++
	}
	if next != 1234 || a.listed != 3 {
		t.Errorf("%d lines of %d portions", next, a.listed)
	}
	t.Run("until nobody reads on", func(t *testing.T) {
		a.listed = 0
		for range answer.(commands.Lines) {
			break
		}
		if a.listed != 1 {
			t.Errorf("%d portions were read", a.listed)
		}
	})
	t.Run("or is there any more, though nothing is found", func(t *testing.T) {
		ctx, leave := context.WithCancel(t.Context())
		answer, err := auditing(t, w, &audits{n: 5000}).Run(ctx, request(t, "audit.export", administrator))
		if err != nil {
			t.Fatal(err)
		}
		leave()
		var failed error
		for _, err := range answer.(commands.Lines) {
			failed = err
		}
		if !errors.Is(failed, context.Canceled) {
			t.Errorf("it ends with %v", failed)
		}
	})
	t.Run("and says where it fails", func(t *testing.T) {
		a.failAfter = 500
		lines := 0
		var failed error
		for _, err := range answer.(commands.Lines) {
			if failed = err; err == nil {
				lines++
			}
		}
		if lines != 500 || failed == nil {
			t.Errorf("%d lines, then %v", lines, failed)
		}
	})
}

func TestALookIsRecordedWithWhatWasLookedAt(t *testing.T) {
	w := &world{}
	d := newDispatcher(t, w, &bytes.Buffer{})
	const id = "7c9e6679-7425-40de-944b-e07fc1f90ae7"
	if _, err := d.Run(t.Context(), request(t, "run.get", administrator, "pipeline=orders", "correlationId="+id, "limit=7")); err != nil {
		t.Fatal(err)
	}
	var look access.Look
	if err := json.Unmarshal(w.appended[0].Value, &look); err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"pipeline": "orders", "correlationId": "…f90ae7", "limit": 7.0}
	if diff := cmp.Diff(want, look.Params); diff != "" {
		t.Errorf("params (-want +got):\n%s", diff)
	}
}
