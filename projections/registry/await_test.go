package registry_test

import (
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	domain "hooklog/domain/registry"
)

// receive gives the outcome that was sent before the fold was over.
func receive(t *testing.T, outcomes <-chan domain.Outcome) domain.Outcome {
	t.Helper()
	select {
	case o := <-outcomes:
		return o
	default:
		t.Fatal("the fold is over and there is no outcome")
		return domain.Outcome{}
	}
}

func TestEveryWaiterGetsTheOutcomeOfItsCommand(t *testing.T) {
	i := start(t)
	first, _ := i.Await("c1", "f-c1")
	second, _ := i.Await("c1", "f-c1")
	other, stop := i.Await("c2", "f-c2")
	defer stop()
	i.fold(create("c1", 1, "webhook.a"))
	for _, outcomes := range []<-chan domain.Outcome{first, second} {
		if o := receive(t, outcomes); o.Err() != nil || o.Webhook == nil || o.Webhook.EventKey != "webhook.a" {
			t.Errorf("outcome is %+v", o)
		}
	}
	if len(other) != 0 {
		t.Errorf("the waiter for another command got %+v", <-other)
	}
}

func TestAWaiterGetsTheFaultOfItsCommand(t *testing.T) {
	i := start(t)
	outcomes, stop := i.Await("c2", "f-c2")
	defer stop()
	i.fold(create("c1", 1, "webhook.a"), create("c2", 2, "webhook.a"))
	if o := receive(t, outcomes); o.Fault != "conflict" || o.Webhook != nil {
		t.Errorf("outcome is %+v", o)
	}
}

func TestRequestsUnderOneIDAreToldApartByTheirFingerprints(t *testing.T) {
	i := start(t)
	mine, _ := i.Await("c", "mine")
	yours, _ := i.Await("c", "yours")
	my, your := create("c", 1, "webhook.a"), create("c", 2, "webhook.b")
	my.Fingerprint, your.Fingerprint = "mine", "yours"
	i.fold(my)
	if o := receive(t, mine); o.Err() != nil {
		t.Errorf("the first request came to %+v", o)
	}
	if len(yours) != 0 {
		t.Fatal("the other request got the outcome of the first")
	}
	i.fold(your)
	if o := receive(t, yours); o.Fault != "conflict" {
		t.Errorf("the other request came to %+v", o)
	}
}

func TestARepeatIsAnsweredWithTheFirstOutcome(t *testing.T) {
	i := start(t)
	i.fold(create("c", 1, "webhook.a"), remove("d", 1))
	outcomes, stop := i.Await("c", "f-c")
	defer stop()
	if len(outcomes) != 0 {
		t.Fatal("an outcome before the repeat was folded")
	}
	i.fold(create("c", 1, "webhook.a"))
	if o := receive(t, outcomes); o.Err() != nil || o.Webhook == nil || o.Webhook.Version != 1 {
		t.Errorf("outcome is %+v", o)
	}
}

func TestAWaiterThatStoppedGetsNothing(t *testing.T) {
	i := start(t)
	gone, stop := i.Await("c", "f-c")
	stays, _ := i.Await("c", "f-c")
	stop()
	i.fold(create("c", 1, "webhook.a"))
	if len(gone) != 0 {
		t.Error("the waiter that stopped got an outcome")
	}
	receive(t, stays)
	stop() // once more, when all is over
	if n := i.Waiting(); n != 0 {
		t.Errorf("%d waiters are left", n)
	}
}

func TestStoppedWaitersAreForgotten(t *testing.T) {
	i := start(t)
	for n := range 100 {
		_, stop := i.Await("c", "f")
		_, stopOther := i.Await("c", string(rune('a'+n%26)))
		stop()
		stopOther()
	}
	if n := i.Waiting(); n != 0 {
		t.Errorf("%d waiters are left", n)
	}
}

// A dispatcher that is told of an outcome answers from the gates and rows: they
// are there while nobody can be told yet.
func TestWhoeverIsWokenSeesWhatWasFolded(t *testing.T) {
	i := start(t)
	outcomes, _ := i.Await("c", "f-c")
	release := i.HoldWaiters()
	i.log.Append(encode(create("c", 1, "webhook.a"))...)
	for late := time.Now().Add(10 * time.Second); ; runtime.Gosched() {
		if _, open := i.Gate(token(1).Hash()); open {
			break
		}
		if time.Now().After(late) {
			release()
			t.Fatal("the gate is closed until whoever opened it is told")
		}
	}
	if list, err := i.Webhooks("", 0, all); len(list) != 1 || err != nil {
		t.Errorf("%d webhooks are listed, %v", len(list), err)
	}
	release()
	if o := <-outcomes; o.Err() != nil {
		t.Errorf("outcome is %+v", o)
	}
}

func TestConcurrentCallersGetTheirOwnOutcomes(t *testing.T) {
	i := start(t)
	var callers sync.WaitGroup
	for n := range 50 {
		callers.Go(func() {
			c := create(fmt.Sprint("c", n), n, fmt.Sprint("webhook.k", n))
			outcomes, stop := i.Await(c.ID, c.Fingerprint)
			defer stop()
			i.log.Append(encode(c)...)
			if o := <-outcomes; o.Err() != nil || o.Webhook.EventKey != fmt.Sprint("webhook.k", n) {
				t.Errorf("command %s came to %+v", c.ID, o)
			}
		})
	}
	callers.Wait()
	if n := i.Waiting(); n != 0 {
		t.Errorf("%d waiters are left", n)
	}
}
