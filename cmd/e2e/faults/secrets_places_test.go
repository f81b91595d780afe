//go:build faults

package faults_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"hooklog/projections/store"
)

// throughTheWindow gives every byte that Kafka clients get: one that may read
// everything, and two that guess.
func (s *spies) throughTheWindow(t *testing.T, p *process) []byte {
	t.Helper()
	var seen buffer
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := new(net.Dialer).DialContext(ctx, network, address)
		return tapped{conn, &seen}, err
	}
	for _, password := range []string{s.wrongReader.text, s.wrongReader.text + s.reader.text, s.reader.text} {
		client := s.windowClient(t, p, password, kgo.Dialer(dial))
		if password == s.reader.text {
			readAll(t, client, func(*kgo.Record) {})
		} else if err := client.Ping(t.Context()); err == nil {
			t.Error("a wrong password is let in")
		}
	}
	// A token in the place of a name is repeated to who asks, and to nobody else.
	asking := kadm.NewClient(s.windowClient(t, p, s.reader.text))
	_, _ = asking.ListEndOffsets(t.Context(), "svc.event."+s.tokens[0].text, s.tokens[0].text)
	_, _ = asking.FetchOffsets(t.Context(), s.tokens[0].text)
	return []byte(seen.String())
}

func (s *spies) windowClient(t *testing.T, p *process, password string, options ...kgo.Opt) *kgo.Client {
	t.Helper()
	client, err := kgo.NewClient(append(options, kgo.SeedBrokers(p.log.brokers...),
		kgo.ConsumeTopics("^svc.*"), kgo.ConsumeRegex(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.SASL(plain.Auth{User: "reader", Pass: password}.AsMechanism()))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

// tapped is a connection of which all that is read is kept.
type tapped struct {
	net.Conn
	to io.Writer
}

func (c tapped) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	_, _ = c.to.Write(p[:n])
	return n, err
}

// profiles is what operators can take from the ops listener.
func (s *spies) profiles(t *testing.T, p *process) []byte {
	t.Helper()
	var all []byte
	for _, name := range []string{"cmdline", "goroutine?debug=2", "heap?debug=1", "allocs", "threadcreate?debug=1", "symbol", "trace?seconds=0.1"} {
		status, answer, err := p.do(http.MethodGet, p.ops+"/debug/pprof/"+name, nil)
		if err != nil || status != http.StatusOK {
			t.Fatalf("%s: %d %v", name, status, err)
		}
		all = append(all, answer...)
	}
	return all
}

// metrics is what Prometheus gets.
func (s *spies) metrics(t *testing.T, p *process) []byte {
	t.Helper()
	status, answer, err := p.do(http.MethodGet, p.ops+"/metrics", nil)
	if err != nil || status != http.StatusOK {
		t.Fatalf("metrics: %d %v", status, err)
	}
	for _, id := range s.ids {
		if bytes.Contains(answer, []byte(id)) {
			t.Errorf("a correlation id is in the metrics: %s", id)
		}
	}
	return answer
}

// crash ends the process with the stacks of all its goroutines, while requests
// with secrets are in the middle.
func (s *spies) crash(t *testing.T, p *process) {
	t.Helper()
	at, _ := url.Parse(p.url)
	for i, r := range []request{
		{method: "POST", target: receivePath + "?token=" + s.tokens[0].text, headers: []string{asText, "Content-Length: 9000"}},
		{method: "POST", target: receivePath, headers: []string{asJSON, "Content-Length: 9000"}},
		{method: "POST", target: "/api/v3/command/webhook.get", headers: append(managed("", s.secretsOfUsers)[0].headers, asForm, "Content-Length: 9000")},
	} {
		conn, err := net.Dial("tcp", at.Host)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = conn.Close() })
		_, _ = io.WriteString(conn, r.raw(at.Host)+`{"token":"`+s.tokens[i].text+`","uuid":"`+s.tokens[i].text+`"`)
	}
	eventually(t, "the requests are in the middle", func() bool {
		_, stacks, err := p.do(http.MethodGet, p.ops+"/debug/pprof/goroutine?debug=2", nil)
		return err == nil && strings.Count(string(stacks), "httpapi.(*inflow).Read(") >= 3
	})
	p.signal(t, syscall.SIGQUIT)
	p.exit(t)
	if !strings.Contains(p.logs.String(), "httpapi.(*inflow).Read(") {
		t.Errorf("it did not crash: %.2000s", p.logs)
	}
}

// onDisk looks through the data folder, but for the keys, whose place it is.
func (s *spies) onDisk(t *testing.T, found *search, folder string) {
	t.Helper()
	partitions := filepath.Join(folder, "log", "partitions")
	topics, err := os.ReadDir(partitions)
	if err != nil {
		t.Fatal(err)
	}
	for _, topic := range topics {
		planted := s.plant
		if strings.HasPrefix(topic.Name(), "svc.access") {
			planted = lookedFrom
		}
		raw := filesBelow(t, filepath.Join(partitions, topic.Name()))
		found.clean("topic "+topic.Name(), raw, planted)
		for _, id := range s.ids {
			if topic.Name() == "svc.call-0" && !strings.Contains(string(raw), id) {
				t.Errorf("the correlation id %s is not found on svc.call", id)
			}
		}
	}
	if len(topics) < 6 {
		t.Errorf("there are only %d topics", len(topics))
	}
	found.clean("projections", filesBelow(t, filepath.Join(folder, "state")), s.plant)
	found.clean("rows of the projections", dump(t, filepath.Join(folder, "state")), s.plant)
	compact(t, filepath.Join(folder, "state"))
	found.clean("projections, compacted", filesBelow(t, filepath.Join(folder, "state")), s.plant)

	if err := os.RemoveAll(filepath.Join(folder, "keys")); err != nil {
		t.Fatal(err)
	}
	found.clean("data folder", filesBelow(t, folder), s.plant)
}

func dump(t *testing.T, folder string) []byte {
	t.Helper()
	rows, err := store.Open(folder, nil, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	var all bytes.Buffer
	if err := errors.Join(rows.Dump(&all), rows.Close()); err != nil {
		t.Fatal(err)
	}
	return all.Bytes()
}

var mergerName = regexp.MustCompile(`merger=(\S+)`)

// compact lets Pebble write everything anew.
func compact(t *testing.T, folder string) {
	t.Helper()
	options := &pebble.Options{Logger: silent{}}
	if name := mergerName.FindSubmatch(filesBelow(t, folder)); name != nil {
		options.Merger = &pebble.Merger{Name: string(name[1]), Merge: pebble.DefaultMerger.Merge}
	}
	db, err := pebble.Open(folder, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(db.Flush(), db.Compact(t.Context(), []byte{0}, []byte{0xff}, false), db.Close()); err != nil {
		t.Fatal(err)
	}
}

// silent is a logger of Pebble.
type silent struct{}

func (silent) Infof(string, ...any)         {}
func (silent) Errorf(string, ...any)        {}
func (silent) Fatalf(f string, args ...any) { panic(fmt.Sprintf(f, args...)) }
