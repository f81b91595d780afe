package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"hooklog/domain/call"
	"hooklog/domain/record"
	"hooklog/transport/kafka"
	"hooklog/transport/keyring"
)

// The two webhooks that are compared.
const (
	aloneKey    = "webhook.alone"
	listenedKey = "webhook.listened"
)

// trivialPipeline does nothing, so that what a run costs anyway is measured.
const trivialPipeline = "pipeline: [{event.listen: {eventKey: " + listenedKey + "}}]\nbody: done\n"

// benchPipelines compares calls that a pipeline listens to with the same calls of
// a webhook that nobody listens to, in one service. An answer waits for the run,
// up to the result window.
func benchPipelines(ctx context.Context, p plan) error {
	title("Webhook calls of 1 KiB JSON without a listener, and with one trivial pipeline that listens; 64 connections")
	for _, sync := range []bool{false, true} {
		dir, err := p.fresh()
		if err != nil {
			return err
		}
		fmt.Printf("\n  embedded broker, sync %s\n", onOff(sync))
		if err := p.listened(ctx, hooklogConfig{Log: logAt{Dir: dir, Sync: sync}}); err != nil {
			return err
		}
	}
	if len(p.brokers) == 0 {
		return nil
	}
	return p.listenedOnKafka(ctx)
}

// listenedOnKafka does the same on brokers that hold no hooklog, nor do they
// afterwards.
func (p plan) listenedOnKafka(ctx context.Context) (err error) {
	clean, err := p.borrowBrokers(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, clean()) }()
	dir, err := p.fresh()
	if err != nil {
		return err
	}
	ring := p.keyRing() + "-pipelines"
	if err := keyring.Create(ring); err != nil {
		return err
	}
	fmt.Printf("\n  Kafka at %s\n", strings.Join(p.brokers, ", "))
	return p.listened(ctx, hooklogConfig{Log: logAt{Dir: dir, Brokers: p.brokers}, KeyRing: ring})
}

// listened measures both webhooks of one service by turns, and then reads off its
// log how long the runs took.
func (p plan) listened(ctx context.Context, cfg hooklogConfig) error {
	s, err := startHooklog(ctx, cfg)
	if err != nil {
		return err
	}
	sides, samples, err := p.besideListened(ctx, s)
	if err := errors.Join(err, s.stop()); err != nil {
		return err
	}
	table(sides, samples)
	compared("with a listener beside without", samples, 0)
	took, open, err := runTimes(ctx, cfg.Log)
	if err != nil {
		return err
	}
	slices.Sort(took)
	fmt.Printf("  from the call's arrival (to the millisecond) to the end of its run: p50 %.1f ms, p99 %.1f ms; %d runs, %d of them not ended when the service was\n",
		milliseconds(took[len(took)/2]), milliseconds(took[len(took)*99/100]), len(took)+open, open)
	return nil
}

func (p plan) besideListened(ctx context.Context, s *server) ([]side, [][]sample, error) {
	alone, err := s.put(ctx, aloneKey)
	if err != nil {
		return nil, nil, err
	}
	heard, err := s.put(ctx, listenedKey)
	if err != nil {
		return nil, nil, err
	}
	if _, err := s.command(ctx, "pipeline.put", url.Values{"name": {"trivial"}, "body": {trivialPipeline}}); err != nil {
		return nil, nil, err
	}
	under := func(token string) func(context.Context) (sample, error) {
		return func(ctx context.Context) (sample, error) {
			got, err := s.under(ctx, p.load(64, receiveRequest(s.Address, token)))
			return got, errors.Join(err, s.drained(ctx, heard))
		}
	}
	if err := s.drained(ctx, heard); err != nil { // the runner is there
		return nil, nil, err
	}
	sides := []side{{"no listener", under(alone)}, {"one listener", under(heard)}}
	samples, err := takeTurns(ctx, p.rounds, sides...)
	return sides, samples, err
}

// drained makes one more call and waits for its run, which comes behind those that
// are still open.
func (s *server) drained(ctx context.Context, token string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.Address+receivePath+"?pollingRedirectEnabled=true", nil)
	if err != nil {
		return err
	}
	r.Header.Set("Token", token)
	resp, err := http.DefaultClient.Do(r) // which follows redirects until there is a result
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	var ended struct{ Status call.Status }
	if err := json.NewDecoder(resp.Body).Decode(&ended); err != nil {
		return err
	}
	if ended.Status != call.OK {
		return fmt.Errorf("a call was answered %d and ended as %q", resp.StatusCode, ended.Status)
	}
	return nil
}

// runTimes reads off a log how long the calls with a listener took to complete,
// and how many did not.
func runTimes(ctx context.Context, at logAt) (took []time.Duration, open int, err error) {
	log, closeAll, err := at.open()
	if err != nil {
		return nil, 0, err
	}
	defer closeAll()
	bounds, err := log.Bounds(ctx, record.TopicCall)
	if err != nil {
		return nil, 0, err
	}
	received := map[string]time.Time{}
	for partition, b := range bounds {
		err := eachCall(ctx, log, int32(partition), b, func(told any) {
			switch told := told.(type) {
			case call.Accepted:
				if len(told.Listeners) > 0 {
					received[told.CorrelationID] = told.Received
				}
			case call.Completed:
				if at, first := received[told.CorrelationID]; first {
					took = append(took, told.Finished.Sub(at))
					delete(received, told.CorrelationID)
				}
			}
		})
		if err != nil {
			return nil, 0, err
		}
	}
	return took, len(received), nil
}

// eachCall tells every record of a partition of svc.call.
func eachCall(ctx context.Context, log *kafka.Log, partition int32, b record.Bounds, tell func(any)) error {
	tail, err := log.Tail(ctx, record.Position{Topic: record.TopicCall, Partition: partition, Offset: b.Start})
	if err != nil {
		return err
	}
	defer tail.Close()
	for next := b.Start; next < b.End; {
		records, err := tail.Next(ctx)
		if err != nil {
			return err
		}
		for i := range records {
			decoded, err := call.Decode(&records[i])
			if err != nil {
				return err
			}
			tell(decoded)
		}
		next = records[len(records)-1].Offset + 1
	}
	return nil
}
