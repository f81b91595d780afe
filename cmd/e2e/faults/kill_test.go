//go:build faults

package faults_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"hooklog/cmd/e2e/binary"
)

// killing is a service that is killed again and again under load.
type killing struct {
	t       *testing.T
	random  *rand.Rand
	all     *ledger
	brokers []string // nil with an embedded log
	args    []string
	// least is how many commands must be acknowledged in each life. With brokers
	// there are few, because a delete takes as long as a lease lives.
	least int
	ready time.Duration // the slowest start
}

func TestKillUnderLoad(t *testing.T) {
	t.Run("an embedded log", func(t *testing.T) {
		embeddedOnly(t)
		k := killing{least: 30, args: []string{"--data-dir", filepath.Join(t.TempDir(), "data")}}
		k.run(t, counts(3, 40))
	})
	t.Run("brokers", func(t *testing.T) {
		k := killing{least: 8, brokers: emptyBrokers(t), args: onBrokers(t)}
		k.run(t, counts(2, 15))
	})
}

// onBrokers makes a ring, and gives the settings of an instance that uses it.
func onBrokers(t *testing.T) []string {
	t.Helper()
	folder := t.TempDir()
	ring := filepath.Join(folder, "ring")
	if code, _, stderr := runBinary(t, "keys", "init", ring); code != 0 {
		t.Fatal(stderr)
	}
	return []string{"--data-dir", filepath.Join(folder, "data"), "--key-ring", ring}
}

// run kills the service and verifies each next life.
func (k *killing) run(t *testing.T, kills int) {
	const leastCalls = 100 // of each life
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	k.t, k.all, k.random = t, newLedger(), rand.New(rand.NewPCG(seed, 0))
	if _, err := binary.Path(); err != nil { // it does not count as a start
		t.Fatal(err)
	}
	began := time.Now()
	interrupted := 0
	for life := range kills {
		if life%3 == 2 { // a start that does not come to its end
			k.interrupt()
			interrupted++
		}
		p := k.start()
		k.all.verify(t, p)
		if life == 0 {
			k.all.open(t, p.client, 4)
		}
		calls, commands := k.all.counts()
		calls += leastCalls + k.random.IntN(counts(300, 1500))
		gone := k.all.load(p.client, fmt.Sprintf("life-%d", life), k.random.Uint64(), 6, 2)
		eventually(t, "enough is acknowledged", func() bool {
			haveCalls, haveCommands := k.all.counts()
			if refused := k.all.refusals(); refused > 0 { // who is refused gives up
				t.Fatalf("life %d: %d calls or commands were refused: %v\n%s", life, refused, k.all.refused, p.logs)
			}
			return haveCalls >= calls && haveCommands >= commands+k.least
		})
		p.kill(t)
		gone()
	}
	p := k.start()
	k.all.verify(t, p)
	p.works(t, "webhook.afterwards")
	p.terminate(t)

	calls, commands := k.all.counts()
	t.Logf("killed %d times under load and %d times while it started: 0 of %d acknowledged calls lost, 0 of %d acknowledged commands lost, all results answered; slowest start %s; %s in all",
		kills, interrupted, calls, commands, k.ready, since(began))
}

func (k *killing) start() *process {
	k.t.Helper()
	began := time.Now()
	p := serve(k.t, k.brokers, k.args...)
	k.ready = max(k.ready, since(began))
	return p
}

// interrupt kills a service at some moment of its start.
func (k *killing) interrupt() {
	k.t.Helper()
	p := launch(k.t, k.brokers, k.args...)
	time.Sleep(time.Duration(k.random.IntN(150)) * time.Millisecond) // the moment is what is tried
	p.kill(k.t)
}
