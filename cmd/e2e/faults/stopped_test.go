//go:build faults

package faults_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"hooklog/domain/record"
)

const (
	// bodyBudget is less than what is sent at once to a service that cannot pass
	// it on. One webhook gets a quarter of it, so there are several.
	bodyBudget = 64 << 20
	webhooks   = 6
	largeCalls = 768
	largeBody  = 256 << 10
	// memoryLimit is what the memory may grow by, over all stops: garbage is
	// collected only when there is several times as much of it as of the rest.
	memoryLimit = 10 * bodyBudget
	backWithin  = 15 * time.Second
)

// siege is a service whose brokers are stopped.
type siege struct {
	t      *testing.T
	p      *process
	tokens []string
	keys   []string

	mu sync.Mutex
	// answers are the statuses, by the digest of the payload.
	answers map[record.Digest]int
	slowest time.Duration
	memory  int64 // before the first stop
	calls   uint64
	turn    int
}

func TestBrokersStopped(t *testing.T) {
	alongside(t)
	brokers := stoppableBrokers(t)
	args := append(onBrokers(t), "--body-budget", strconv.Itoa(bodyBudget))
	s := &siege{t: t, answers: map[record.Digest]int{}}
	s.p = serve(t, brokers.brokers, args...)
	for i := range webhooks {
		hook := s.p.put(t, fmt.Sprintf("eventKey=webhook.stopped-%d", i))
		s.tokens, s.keys = append(s.tokens, hook.UUID), append(s.keys, hook.EventKey)
		s.send(s.body(16)) // so that the topic is there
	}
	stops := []time.Duration{12 * time.Second}
	if soaking { // the last is longer than a record is worth sending
		stops = append(stops, 12*time.Second, 12*time.Second, 45*time.Second)
	}
	for _, length := range stops {
		s.stop(brokers, length)
	}
	s.p.terminate(t) // from now on nothing can land any more
	s.p = serve(t, brokers.brokers, args...)
	s.judge()
}

// stop calls the service before, during and after a stop of its brokers.
func (s *siege) stop(brokers stoppable, length time.Duration) {
	t := s.t
	before := s.p.called(t, s.token(), s.body(16))
	pollAll(t, s.p.client, []result{before}, http.StatusOK) // it is folded
	memory := memoryOf(t, s.p.cmd.Process.Pid)
	if s.memory == 0 {
		s.memory = memory
	}
	most := memory

	until := make(chan struct{})
	var calling sync.WaitGroup
	for range 8 { // these are under way when the brokers stop
		calling.Go(func() { s.callUntil(until) })
	}
	taken := s.taken()
	eventually(t, "calls are under way", func() bool { return s.taken() >= taken+200 })
	brokers.stop(t)
	stopped := time.Now()
	for range largeCalls {
		calling.Go(func() { s.send(s.body(largeBody)) })
	}
	for time.Since(stopped) < length {
		most = max(most, memoryOf(t, s.p.cmd.Process.Pid))
		time.Sleep(50 * time.Millisecond)
	}
	if polled, status, err := s.p.poll(before.CorrelationID); err != nil || status != http.StatusOK {
		t.Errorf("a result that is known needs no broker, and is answered %d %+v %v", status, polled, err)
	}
	brokers.goOn(t)
	s.recover()
	close(until)
	calling.Wait()
	if grown := most - s.memory; grown > memoryLimit {
		t.Errorf("memory has grown by %d MiB, more than %d MiB", grown>>20, memoryLimit>>20)
	}
	t.Logf("stopped for %s: memory grew from %d to %d MiB with %d MiB sent at once and a budget of %d MiB",
		length, memory>>20, most>>20, largeCalls*largeBody>>20, bodyBudget>>20)
}

// recover waits until calls are taken again.
func (s *siege) recover() {
	began := time.Now()
	eventually(s.t, "calls are taken again", func() bool {
		body := s.body(32)
		_, status, err := s.p.call(s.token(), body)
		s.note(body, status, 0)
		return err == nil && status == http.StatusOK
	})
	took := since(began)
	if took > backWithin {
		s.t.Errorf("calls are taken again only %s after the brokers went on", took)
	}
	s.t.Logf("calls are taken again %s after the brokers went on", took)
}

func (s *siege) callUntil(end <-chan struct{}) {
	for {
		select {
		case <-end:
			return
		default:
			s.send(s.body(1 << 10))
		}
	}
}

// send makes a call, which must be answered in time with 200 or 503.
func (s *siege) send(body []byte) {
	began := time.Now()
	_, status, err := s.p.call(s.token(), body)
	took := time.Since(began)
	if err != nil || took > answerWithin || status != http.StatusOK && status != http.StatusServiceUnavailable {
		s.t.Errorf("answered %d, %v after %s", status, err, took)
	}
	s.note(body, status, took)
}

func (s *siege) note(body []byte, status int, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[sha256.Sum256(body)] = status
	s.slowest = max(s.slowest, took)
}

// taken counts the calls that were acknowledged.
func (s *siege) taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, status := range s.answers {
		if status == http.StatusOK {
			n++
		}
	}
	return n
}

// token gives the webhooks' tokens by turns.
func (s *siege) token() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turn++
	return s.tokens[s.turn%len(s.tokens)]
}

// body makes a payload that no other call has.
func (s *siege) body(size int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	return append(binary.BigEndian.AppendUint64(nil, s.calls), bytes.Repeat([]byte{'x'}, size-8)...)
}

// judge holds the answers against the log: what was answered with 200 is there,
// what was not is there at most once, and has a result only if it was accepted.
func (s *siege) judge() {
	t := s.t
	found := s.p.log.audit(t, s.keys...)
	ids := map[record.Digest]string{}
	for id, digest := range found.events {
		if _, twice := ids[digest]; twice {
			t.Errorf("a call is on the log twice")
		}
		ids[digest] = id
	}
	taken, refused, lateEvents, lateAccepted := 0, 0, 0, 0
	for digest, status := range s.answers {
		id, there := ids[digest]
		_, accepted := found.accepted[id]
		switch {
		case status == http.StatusOK && !accepted:
			t.Errorf("an acknowledged call is lost")
		case status == http.StatusOK:
			taken++
		default:
			refused++
			if there {
				lateEvents++
			}
			if accepted {
				lateAccepted++
			}
		}
	}
	polls(t, s.p.client, found)
	if taken < 200 || refused < 1000 || lateEvents == 0 {
		t.Errorf("too little was tried: %d taken, %d refused, %d landed late", taken, refused, lateEvents)
	}
	t.Logf("%d calls acknowledged, 0 lost; %d answered 503, the slowest call after %s; of these %d events landed late, %d of them accepted, each once",
		taken, refused, s.slowest.Round(time.Millisecond), lateEvents, lateAccepted)
}
