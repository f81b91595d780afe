//go:build faults

package faults_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"

	"hooklog/domain/call"
)

// pipelineGroup is the group of those who run pipelines.
const pipelineGroup = "hooklog-pipelines"

func TestKillPipelines(t *testing.T) {
	t.Run("an embedded log", func(t *testing.T) {
		embeddedOnly(t)
		t.Parallel()
		data := filepath.Join(t.TempDir(), "data")
		(&dying{
			t: t, args: []string{"--data-dir", data}, settles: 30 * time.Second,
			forget: func() { forgetOffsets(t, data) },
		}).run(counts(3, 36))
	})
	t.Run("brokers", func(t *testing.T) {
		alongside(t)
		brokers := emptyBrokers(t)
		(&dying{
			t: t, brokers: brokers, args: onBrokers(t), settles: 60 * time.Second,
			forget: func() { deleteGroup(t, brokers) },
		}).run(counts(3, 30))
	})
}

// forgetOffsets empties the file in which the embedded broker keeps how far groups
// have come.
func forgetOffsets(t *testing.T, data string) {
	t.Helper()
	path := filepath.Join(data, "log", "groups.log")
	if info, err := os.Stat(path); err != nil || info.Size() == 0 {
		t.Fatalf("there are no offsets to forget: %v, %v", info, err)
	}
	if err := os.Truncate(path, 0); err != nil {
		t.Fatal(err)
	}
}

// deleteGroup deletes the group as soon as the brokers know that its member is
// dead.
func deleteGroup(t *testing.T, brokers []string) {
	t.Helper()
	admin := kadm.NewClient(kafkaLog{brokers: brokers}.client(t))
	eventually(t, "the group is deleted", func() bool {
		deleted, err := admin.DeleteGroups(t.Context(), pipelineGroup)
		if err == nil {
			err = deleted[pipelineGroup].Err
		}
		if err != nil && err != kerr.NonEmptyGroup { //nolint:errorlint // the broker's own answer
			t.Fatalf("delete the group: %v", err)
		}
		return err == nil
	})
}

// dying is a service that runs pipelines and is killed again and again.
type dying struct {
	t       *testing.T
	brokers []string // nil with an embedded log
	args    []string
	// forget makes the brokers forget how far the runner has come.
	forget func()
	// settles is how long after the last start the last call may end.
	settles time.Duration

	jobs   *jobs
	killed []time.Time
}

func (d *dying) run(kills int) {
	t := d.t
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	began, forgotten := time.Now(), 0
	for life := range kills {
		p := serve(t, d.brokers, d.args...)
		if life == 0 {
			d.jobs = openJobs(t, p.client)
		}
		before := d.jobs.tally()
		gone := d.jobs.load(p.client, random.Uint64(), 8)
		d.jobs.edit(t, p.client, life) // while calls are under way
		least := 60 + random.IntN(counts(60, 300))
		eventually(t, "enough is acknowledged and run", func() bool {
			now := d.jobs.tally()
			// In some lives nobody waits until the pipelines run at all.
			return now.acknowledged >= before.acknowledged+least && (life%3 == 1 || now.ok >= before.ok+least/2)
		})
		p.kill(t)
		d.killed = append(d.killed, time.Now())
		gone()
		if life%3 == 2 { // the last life of the small count is one
			d.forget()
			forgotten++
		}
	}
	p := serve(t, d.brokers, d.args...)
	all, took := d.settle(p)
	d.jobs.judge(t, p.client, all)
	p.works(t, "webhook.afterwards")
	p.terminate(t)

	tally := d.jobs.tally()
	t.Logf("killed %d times under load, offsets deleted %d times, %d versions: %d calls acknowledged and %d accepted, each with one result that counts, the last %s after the last start; %d were open when the service was killed; %d completions and %d sent events are on the log again and do not count; %d calls refused; %s in all",
		kills, forgotten, kills+1, tally.acknowledged, len(all.accepted), took, d.interrupted(all), all.endedAgain, all.sentAgain, tally.refused, since(began))
	if open := d.interrupted(all); open < kills {
		t.Errorf("too little was tried: %d calls were open at %d kills", open, kills)
	}
}

// settle waits until every accepted call has its result.
func (d *dying) settle(p *process) (all lives, took time.Duration) {
	d.t.Helper()
	began := time.Now()
	for {
		all = p.log.lives(d.t)
		switch took = since(began); {
		case all.open() == 0:
			return all, took
		case took > d.settles:
			d.t.Fatalf("%d of %d accepted calls have no result %s after the last start\n%s", all.open(), len(all.accepted), took, p.logs)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// interrupted counts the calls that were accepted before a kill and ended after it.
func (d *dying) interrupted(all lives) (n int) {
	for id, s := range all.states {
		status, finished := s.Finished()
		if status == call.Processing {
			continue
		}
		for _, at := range d.killed {
			if all.accepted[id].Received.Before(at) && finished.After(at) {
				n++
				break
			}
		}
	}
	return n
}
