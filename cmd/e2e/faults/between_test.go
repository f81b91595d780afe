//go:build faults

package faults_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"hooklog/domain/record"
)

// TestKilledBetweenTheAppends kills the service at each step of a call, which is
// not acknowledged at any of them: before and after either append has landed.
func TestKilledBetweenTheAppends(t *testing.T) {
	if realBrokers() != nil {
		t.Skip("real brokers stop at no given append")
	}
	event := record.EventTopic(pairKey)
	for _, tt := range []struct {
		name string
		// stopAt holds the service at the step; reached is closed when it is there.
		stopAt           func(c *kfake.Cluster) (reached <-chan struct{}, heal func())
		events, accepted int
	}{
		{"before the event has landed", stopBefore(event), 0, 0},
		{"after the event has landed", stopAfter(event), 1, 0},
		{"before the accepted record has landed", stopBefore(record.TopicCall), 1, 0},
		{"after the accepted record has landed", stopAfter(record.TopicCall), 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			alongside(t)
			cluster := simulated(t)
			args := onBrokers(t)
			p := serve(t, cluster.ListenAddrs(), args...)
			hook := p.put(t, "eventKey="+pairKey)
			p.called(t, hook.UUID, []byte("so that the topic exists"))
			rounds := counts(2, 20)
			for range rounds {
				reached, heal := tt.stopAt(cluster)
				answered := make(chan int, 1)
				go func() {
					_, status, _ := p.call(hook.UUID, []byte("in vain"))
					answered <- status
				}()
				<-reached
				p.kill(t)
				if status := <-answered; status == http.StatusOK {
					t.Errorf("a call that was not on the log was acknowledged")
				}
				heal()
				p = serve(t, cluster.ListenAddrs(), args...)
			}
			found := p.log.audit(t, pairKey)
			if len(found.events) != 1+rounds*tt.events || len(found.accepted) != 1+rounds*tt.accepted {
				t.Errorf("after %d kills there are %d events and %d accepted records", rounds, len(found.events), len(found.accepted))
			}
			polls(t, p.client, found)
			p.called(t, hook.UUID, []byte("as before"))
			t.Logf("killed %d times: %d events, %d accepted", rounds, len(found.events)-1, len(found.accepted)-1)
		})
	}
}

// stopBefore holds an append back, and drops it once the service is dead.
func stopBefore(topic string) func(*kfake.Cluster) (<-chan struct{}, func()) {
	return func(c *kfake.Cluster) (<-chan struct{}, func()) {
		reached, healed := make(chan struct{}), make(chan struct{})
		arrive := sync.OnceFunc(func() { close(reached) })
		c.ControlKey(int16(kmsg.Produce), func(req kmsg.Request) (kmsg.Response, error, bool) {
			if !appendsTo(c, req, topic) {
				return nil, nil, false
			}
			arrive()
			c.SleepControl(func() { <-healed })
			return nil, errors.New("its sender is dead"), true
		})
		return reached, func() { close(healed) }
	}
}

// stopAfter takes an append and never confirms it.
func stopAfter(topic string) func(*kfake.Cluster) (<-chan struct{}, func()) {
	return func(c *kfake.Cluster) (<-chan struct{}, func()) {
		reached := make(chan struct{})
		unconfirmed := c.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Topic: topic, Err: kerr.NotEnoughReplicasAfterAppend, Count: -1,
		})
		go func() {
			defer close(reached)
			// The second try is made when the first has landed.
			_ = unconfirmed.Wait(context.Background(), 2)
		}()
		return reached, unconfirmed.Remove
	}
}
