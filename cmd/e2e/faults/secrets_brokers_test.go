//go:build faults

package faults_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl/plain"
)

func TestNoSecretLeavesAServiceOnBrokers(t *testing.T) {
	alongside(t)
	for _, level := range levels("info") {
		t.Run(level, func(t *testing.T) {
			s := newSpies()
			folder := filepath.Join(t.TempDir(), s.plant)
			ring := filepath.Join(t.TempDir(), "ring")
			if code, _, stderr := runBinary(t, "keys", "init", ring); code != 0 {
				t.Fatal(stderr)
			}
			brokers, login, stop := s.brokers(t)
			args := append([]string{
				"--data-dir", folder, "--key-ring", ring, "--brokers", strings.Join(brokers, ","), "--replication", "1", "--partitions", "3",
			}, login...)
			s.unready(t, level, args)

			run := s.prepared(t, level, args...)
			run.Env = append(run.Env, "HOOKLOG_BROKER_PASSWORD="+s.broker.text)
			p := begin(t, run).greeted(t, brokers)
			p.url = strings.TrimSuffix(p.url, "/"+s.plant)
			s.everything(t, p)
			found := &search{t: t, canaries: s.all()}
			s.onTopics(t, found, brokers, login != nil)
			found.clean("metrics", s.metrics(t, p), s.plant)
			found.clean("spans", s.exported(t), s.plant)
			if stop != nil {
				stop()
				s.drive(t, p.url, calls(s.tokens[0].text)[:1])
				s.drive(t, p.url, s.grants(s.changed.text)[:1])
				s.wantStatuses(t, "503")
				found.clean("metrics without brokers", s.metrics(t, p), s.plant)
			}
			p.signal(t, syscall.SIGTERM)
			p.exit(t) // without brokers, not in order
			found.clean("spans to the end", s.exported(t), s.plant)
			found.clean("answers", s.answers.Bytes(), s.plant)
			s.quiet(t, found, p)
			found.clean("projections", filesBelow(t, folder), s.plant)
			found.clean("rows of the projections", dump(t, filepath.Join(folder, "state")), s.plant)
			t.Logf("%d secrets, %v answers, %d places, %d bytes: nothing found", len(s.all()), s.statuses, found.places, found.bytes)
		})
	}
}

// brokers gives those of the run, or simulated ones that ask for a password and
// can be stopped.
func (s *spies) brokers(t *testing.T) (addresses, login []string, stop func()) {
	t.Helper()
	if realBrokers() != nil {
		return emptyBrokers(t), nil, nil
	}
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "hooklog", s.broker.text),
		kfake.Superuser("PLAIN", "auditor", "auditor"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster.ListenAddrs(), []string{"--broker-sasl", "scram-sha-256", "--broker-user", "hooklog"}, cluster.Close
}

// unready asks a service that cannot log in to its brokers, or cannot reach them.
func (s *spies) unready(t *testing.T, level string, args []string) {
	t.Helper()
	if !slices.Contains(args, "--broker-sasl") {
		args = slices.Clone(args)
		args[slices.Index(args, "--brokers")+1] = unusedAddress(t)
	}
	run := s.prepared(t, level, args...)
	run.Env = append(run.Env, "HOOKLOG_BROKER_PASSWORD="+s.wrong.text)
	p := begin(t, run)
	listening := run.Args[slices.Index(run.Args, "--listen")+1]
	eventually(t, "it says that it is not ready", func() bool {
		conn, err := net.Dial("tcp", listening)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil && strings.Contains(p.logs.String(), "Waiting for the log")
	})
	s.drive(t, "http://"+listening, append(calls(s.unknown.text), managed(s.unknown.text, s.secretsOfUsers)...))
	s.wantStatuses(t, "503")
	p.signal(t, syscall.SIGTERM)
	p.exit(t)
	found := &search{t: t, canaries: s.all()}
	found.clean("log lines without brokers", []byte(p.logs.String()), "Waiting for the log")
}

// onTopics looks through the keys, headers and values of all records.
func (s *spies) onTopics(t *testing.T, found *search, brokers []string, login bool) {
	t.Helper()
	options := []kgo.Opt{
		kgo.SeedBrokers(brokers...), kgo.ConsumeTopics("^svc.*"), kgo.ConsumeRegex(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
	}
	if login {
		options = append(options, kgo.SASL(plain.Auth{User: "auditor", Pass: "auditor"}.AsMechanism()))
	}
	client, err := kgo.NewClient(options...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	topics := map[string]*bytes.Buffer{}
	readAll(t, client, func(r *kgo.Record) {
		if topics[r.Topic] == nil {
			topics[r.Topic] = &bytes.Buffer{}
		}
		fmt.Fprintf(topics[r.Topic], "%s\n%s\n", r.Key, r.Value)
		for _, h := range r.Headers {
			fmt.Fprintf(topics[r.Topic], "%s: %s\n", h.Key, h.Value)
		}
	})
	for name, content := range topics {
		planted := s.plant
		if name == "svc.access" {
			planted = lookedFrom
		}
		found.clean("topic "+name, content.Bytes(), planted)
	}
	if len(topics) < 6 {
		t.Errorf("there are only %d topics", len(topics))
	}
}

// readAll reads everything that is on the topics of a consumer now.
func readAll(t *testing.T, client *kgo.Client, visit func(*kgo.Record)) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	ends, err := kadm.NewClient(client).ListEndOffsets(ctx)
	if err != nil {
		t.Fatal(err)
	}
	left := int64(0)
	ends.Each(func(o kadm.ListedOffset) { left += o.Offset })
	if left == 0 {
		t.Fatal("there are no records")
	}
	for left > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("%d records are left: %v", left, err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			left--
			visit(r)
		})
	}
}
