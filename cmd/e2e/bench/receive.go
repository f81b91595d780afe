package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// The least part of the floor's rate that hooklog should reach.
const (
	receiveTarget  = 0.80
	webhooksTarget = 0.95
)

func (p plan) load(connections int, requests ...[]byte) load {
	return load{Connections: connections, Requests: requests, WarmUp: p.warmUp, Measured: p.measured}
}

// fresh makes an empty folder.
func (p plan) fresh() (string, error) { return os.MkdirTemp(p.dir, "data-") }

// benchReceive compares calls on the embedded broker. Each side begins each round
// in a new process with an empty log.
func benchReceive(ctx context.Context, p plan) error {
	title("Webhook calls of 1 KiB JSON, embedded broker: a bare handler that makes the same two appends, and hooklog")
	for _, sync := range []bool{false, true} {
		for _, connections := range p.connections {
			sides := []side{
				{"bare handler", func(ctx context.Context) (sample, error) { return p.bareCalls(ctx, sync, connections) }},
				{"hooklog", func(ctx context.Context) (sample, error) { return p.calls(ctx, sync, connections) }},
			}
			samples, err := takeTurns(ctx, p.rounds, sides...)
			if err != nil {
				return err
			}
			fmt.Printf("\n  sync %s, %d connections\n", onOff(sync), connections)
			table(sides, samples)
			compared("hooklog beside the bare handler", samples, receiveTarget)
			memory(samples[1])
		}
	}
	return nil
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

func (p plan) bareCalls(ctx context.Context, sync bool, connections int) (sample, error) {
	dir, err := p.fresh()
	if err != nil {
		return sample{}, err
	}
	s, err := startBare(ctx, bareConfig{Log: logAt{Dir: dir, Sync: sync}})
	if err != nil {
		return sample{}, err
	}
	got, err := s.under(ctx, p.load(connections, receiveRequest(s.Address, sampleID)))
	return got, errors.Join(err, s.stop(), os.RemoveAll(dir))
}

func (p plan) calls(ctx context.Context, sync bool, connections int) (sample, error) {
	dir, err := p.fresh()
	if err != nil {
		return sample{}, err
	}
	s, err := startHooklog(ctx, hooklogConfig{Log: logAt{Dir: dir, Sync: sync}})
	if err != nil {
		return sample{}, err
	}
	got, err := s.called(ctx, p, connections)
	return got, errors.Join(err, s.stop(), os.RemoveAll(dir))
}

// called makes a webhook and calls it.
func (s *server) called(ctx context.Context, p plan, connections int) (sample, error) {
	token, err := s.put(ctx, "webhook.full")
	if err != nil {
		return sample{}, err
	}
	return s.under(ctx, p.load(connections, receiveRequest(s.Address, token)))
}

// keyRing is the path of a ring for services on Kafka.
func (p plan) keyRing() string { return filepath.Join(p.dir, "ring") }
