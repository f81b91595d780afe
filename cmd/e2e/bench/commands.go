package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// benchCommands compares the latency of commands, which are appended, folded and
// only then answered, with that of one append by the bare handler.
func benchCommands(ctx context.Context, p plan) (err error) {
	title("Management commands, embedded broker, sync on: one append by the bare handler, and commands that wait for their fold")
	dirs := [2]string{}
	for i := range dirs {
		if dirs[i], err = p.fresh(); err != nil {
			return err
		}
	}
	floor, err := startBare(ctx, bareConfig{Log: logAt{Dir: dirs[0], Sync: true}, Command: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, floor.stop()) }()
	service, err := startHooklog(ctx, hooklogConfig{Log: logAt{Dir: dirs[1], Sync: true}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.stop()) }()
	token, err := service.put(ctx, "webhook.full")
	if err != nil {
		return err
	}

	p.measured = min(p.measured, 1500*time.Millisecond)
	edit := commandRequest(service.Address, "webhook.put", "maxPayloadLength=1000&uuid="+token)
	get := commandRequest(service.Address, "webhook.get", "uuid="+token)
	for _, connections := range p.commandConnections {
		on := func(s *server, request []byte) func(context.Context) (sample, error) {
			return func(ctx context.Context) (sample, error) { return s.under(ctx, p.load(connections, request)) }
		}
		sides := []side{{"bare append", on(floor, edit)}, {"webhook.put", on(service, edit)}, {"webhook.get", on(service, get)}}
		samples, err := takeTurns(ctx, p.rounds, sides...)
		if err != nil {
			return err
		}
		fmt.Printf("\n  %d connections\n", connections)
		table(sides, samples)
		fmt.Printf("  webhook.put beside the bare append: p50 × %.2f\n", ratio(samples[1], samples[0], latency))
	}
	return nil
}
