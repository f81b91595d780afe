//go:build faults

package faults_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"hooklog/cmd/verify"
	"hooklog/domain/record"
)

// callRetention is the shortest that the settings allow with results that live and
// wait for so short.
const callRetention = 3 * time.Second

// expiringArgs are the settings of a service that keeps calls for a moment only.
func expiringArgs(dir, ring string) []string {
	return []string{
		"--data-dir", dir, "--key-ring", ring, "--checkpoint-interval", "0",
		"--result-life", "100ms", "--result-deadline", "100ms", "--call-retention", callRetention.String(),
	}
}

// On brokers records expire. That is no tampering; but who deletes what is to be
// kept still is found, also by who has nothing but the brokers and the key.
func TestVerifyOnBrokersKnowsRetentionFromDeletion(t *testing.T) {
	alongside(t)
	brokers := emptyBrokers(t)
	dir, ring := filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "ring")
	if code, _, stderr := runBinary(t, "keys", "init", ring); code != 0 {
		t.Fatal(stderr)
	}
	p := serve(t, brokers, expiringArgs(dir, ring)...)
	key := filepath.Join(dir, "keys", "checkpoint.pub")
	verifyBrokers := func(code int) verify.Report {
		return verifiedWith(t, code, "--brokers", strings.Join(brokers, ","), "--key", key,
			"--result-life", "100ms", "--result-deadline", "100ms", "--call-retention", callRetention.String())
	}
	hooks := []webhook{p.put(t, "eventKey=webhook.one"), p.put(t, "eventKey=webhook.two")}
	p.work(t, hooks, 3)
	signed := time.Now()
	report := verifyBrokers(0)
	if report.Events.Checked != 24 || len(report.Trees) != 7 {
		t.Fatalf("%+v", report)
	}
	p.terminate(t)
	eventually(t, "the calls are older than their retention", func() bool { return time.Since(signed) > callRetention+time.Second })

	deleteCalls(t, brokers, 2)
	p = serve(t, brokers, expiringArgs(filepath.Join(t.TempDir(), "fresh"), ring)...)
	p.work(t, hooks, 2)
	report = verifyBrokers(0)
	gone := int64(0)
	for _, tree := range report.Trees {
		if tree.Topic == record.TopicCall {
			gone += tree.Start
			if tree.Proved != tree.End {
				t.Errorf("%s/%d is proved to %d of %d", tree.Topic, tree.Partition, tree.Proved, tree.End)
			}
		}
	}
	if gone == 0 {
		t.Fatal("no call has expired")
	}

	p.work(t, hooks, 3) // with checkpoints between
	deleteCalls(t, brokers, 0)
	d := verifyBrokers(1).Differences[0]
	if d.Topic != record.TopicCall || !strings.Contains(d.Reason, "are gone, and are younger than") {
		t.Errorf("verify names %s", d)
	}
	p.terminate(t)
}

// deleteCalls removes the records of svc.call but for the last of each partition.
func deleteCalls(t *testing.T, brokers []string, keep int64) {
	t.Helper()
	admin := kadm.NewClient(kafkaLog{brokers: brokers}.client(t))
	ends, err := admin.ListEndOffsets(t.Context(), record.TopicCall)
	if err != nil {
		t.Fatal(err)
	}
	before := make(kadm.Offsets)
	ends.Each(func(o kadm.ListedOffset) {
		if o.Offset > keep {
			before.AddOffset(o.Topic, o.Partition, o.Offset-keep, -1)
		}
	})
	answers, err := admin.DeleteRecords(t.Context(), before)
	if err == nil {
		err = answers.Error()
	}
	if err != nil {
		t.Fatal(err)
	}
}
