package registry_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"hooklog/domain/access"
	"hooklog/domain/record"
	"hooklog/projections/projectiontest"
	"hooklog/projections/registry"
)

func TestListenersFollowThePipelines(t *testing.T) {
	i := start(t)
	check := func(after string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, i.Listeners("webhook.a")); diff != "" {
			t.Errorf("after %s (-want +got):\n%s", after, diff)
		}
	}
	check("nothing")
	i.fold(putPipeline("p1", "orders", "webhook.a"))
	check("a put", "orders@1")
	i.fold(putPipeline("p2", "all", "webhook.*"), putPipeline("p3", "other", "webhook.b"))
	check("a put of others", "all@1", "orders@1")
	i.fold(putPipeline("p4", "orders", "webhook.a", "webhook.b"))
	check("a new version", "all@1", "orders@2")
	i.fold(by(putPipeline("p5", "orders", "webhook.c"), "nobody"))
	check("a put that was refused", "all@1", "orders@2")
	i.fold(putPipeline("p6", "orders", "webhook.b"))
	check("a version that listens to another key", "all@1")
	i.fold(removePipeline("d1", "all"), removePipeline("d2", "orders"), removePipeline("d3", "other"))
	check("the end of all")
	i.fold(putPipeline("p7", "orders", "webhook.a"), removePipeline("d4", "orders"), putPipeline("p8", "orders", "webhook.a"))
	check("a whole life in one batch", "orders@5")
}

func TestListenersOfAStoreListenFromTheStart(t *testing.T) {
	s, log := projectiontest.OpenStore(t), projectiontest.NewLog(record.TopicCommand, 1)
	log.Append(encode(putPipeline("p1", "orders", "webhook.a"), putPipeline("p2", "orders", "webhook.a"), putPipeline("p3", "gone", "webhook.a"), removePipeline("d", "gone"))...)
	first, err := registry.New(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := projectiontest.Start(t, first, s, log).Current(t.Context()); err != nil {
		t.Fatal(err)
	}
	second, err := registry.New(s) // folds nothing
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]*registry.Registry{"folding": first, "restarted": second} {
		if diff := cmp.Diff([]string{"orders@2"}, r.Listeners("webhook.a")); diff != "" {
			t.Errorf("%s: listeners (-want +got):\n%s", name, diff)
		}
	}
}

// Whoever put a pipeline and is told so may send a call at once: it listens.
func TestWhoeverIsToldOfAPipelineHasAListener(t *testing.T) {
	i := start(t)
	told, _ := i.Await("p", "f-p")
	release := i.HoldWaiters()
	i.log.Append(encode(putPipeline("p", "orders", "webhook.a"))...)
	for late := time.Now().Add(10 * time.Second); len(i.Listeners("webhook.a")) == 0; runtime.Gosched() {
		if time.Now().After(late) {
			release()
			t.Fatal("nobody listens until whoever put the pipeline is told")
		}
	}
	if p, ok, err := i.Pipeline("orders", 1); !ok || err != nil {
		t.Errorf("the version is %+v, %v, %v", p, ok, err)
	}
	release()
	if o := <-told; o.Err() != nil || o.Pipeline == nil || o.Pipeline.Listener() != "orders@1" {
		t.Errorf("outcome is %+v", o)
	}
}

func TestListenersAreAskedWhilePipelinesChange(t *testing.T) {
	i := start(t)
	i.fold(putPipeline("p", "always", "webhook.*"))
	var asking sync.WaitGroup
	done := make(chan struct{})
	for range 4 {
		asking.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if got := i.Listeners("webhook.a"); len(got) == 0 || got[0] != "always@1" {
					t.Errorf("listeners are %v", got)
					return
				}
			}
		})
	}
	for n := range 50 {
		i.fold(putPipeline(fmt.Sprint("p", n), fmt.Sprint("n", n%7), "webhook.a"), removePipeline(fmt.Sprint("d", n), fmt.Sprint("n", (n+3)%7)))
	}
	close(done)
	asking.Wait()
}

func TestEveryVersionIsFound(t *testing.T) {
	i := start(t)
	i.fold(
		putPipeline("p1", "orders", "webhook.a"),
		by(putPipeline("p2", "orders", "webhook.b"), "pat", access.RoleAdministrator),
		putPipeline("p3", "gone", "webhook.c"), removePipeline("d", "gone"),
	)
	tests := []struct {
		name    string
		version int
		want    string
	}{
		{"orders", 0, "orders@2 webhook.b by pat since kim"},
		{"orders", 1, "orders@1 webhook.a by kim since kim"},
		{"orders", 2, "orders@2 webhook.b by pat since kim"},
		{"orders", 3, ""},
		{"orders", -1, ""},
		{"gone", 0, ""},
		{"gone", 1, "gone@1 webhook.c by kim since kim"},
		{"never", 0, ""},
		{"never", 1, ""},
	}
	for _, tt := range tests {
		p, ok, err := i.Pipeline(tt.name, tt.version)
		got := ""
		if ok {
			got = fmt.Sprintf("%s %s by %s since %s", p.Listener(), strings.Join(p.EventKeys, " "), p.Owner(), p.CreatedBy)
		}
		if got != tt.want || err != nil {
			t.Errorf("version %d of %s is %q, %v, want %q", tt.version, tt.name, got, err, tt.want)
		}
		if ok && (p.Body.Reveal() != "sealed" || p.SealedFor != "c") {
			t.Errorf("version %d of %s has no source", tt.version, tt.name)
		}
	}
}

func TestPipelinesAreListedByTheirNames(t *testing.T) {
	i := start(t)
	i.fold(
		putPipeline("p1", "z"), putPipeline("p2", "a.b"), putPipeline("p3", "a"), putPipeline("p4", "gone"),
		putPipeline("p5", "a-0"), putPipeline("p6", "a-0", "webhook.a"), removePipeline("d", "gone"),
	)
	tests := []struct {
		after    string
		limit    int
		readable func(string) bool
		want     string
	}{
		{"", 0, all, "a@1 a-0@2 a.b@1 z@1"},
		{"", 2, all, "a@1 a-0@2"},
		{"a", 0, all, "a-0@2 a.b@1 z@1"},
		{"a-0", 1, all, "a.b@1"},
		{"b", 0, all, "z@1"}, // a name that nobody has
		{"z", 0, all, ""},
		{"a", 2, func(name string) bool { return name != "a-0" }, "a.b@1 z@1"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprintf("at most %d after %q", tt.limit, tt.after), func(t *testing.T) {
			list, err := i.Pipelines(tt.after, tt.limit, tt.readable)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, p := range list {
				got = append(got, p.Listener())
				if !p.Body.IsZero() {
					t.Errorf("%s is listed with its source", p.Name)
				}
			}
			if text := strings.Join(got, " "); text != tt.want {
				t.Errorf("listed %s, want %s", text, tt.want)
			}
		})
	}
}
