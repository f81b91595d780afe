package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/transport/keyring"
)

// borrowBrokers makes sure that the brokers hold no hooklog; clean removes the
// topics that were made on them.
func (p plan) borrowBrokers(ctx context.Context) (clean func() error, err error) {
	client, err := kgo.NewClient(kgo.SeedBrokers(p.brokers...))
	if err != nil {
		return nil, err
	}
	admin := kadm.NewClient(client)
	topics, err := ownTopics(ctx, admin)
	if err == nil && len(topics) > 0 {
		err = fmt.Errorf("the brokers hold topics of a hooklog, such as %s; name brokers that hold none", topics[0])
	}
	if err != nil {
		client.Close()
		return nil, err
	}
	return func() error {
		defer client.Close()
		return removeTopics(context.WithoutCancel(ctx), admin)
	}, nil
}

// benchKafka compares calls on real brokers, where they are given. Both servers
// stay for all rounds, and all topics that were made are removed at the end.
func benchKafka(ctx context.Context, p plan) (err error) {
	if len(p.brokers) == 0 {
		return nil
	}
	title("Webhook calls of 1 KiB JSON on Kafka at %s", strings.Join(p.brokers, ", "))
	clean, err := p.borrowBrokers(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, clean()) }()

	dir, err := p.fresh()
	if err != nil {
		return err
	}
	at := logAt{Dir: dir, Brokers: p.brokers}
	floor, err := startBare(ctx, bareConfig{Log: at})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, floor.stop()) }()
	if err := keyring.Create(p.keyRing()); err != nil {
		return err
	}
	service, err := startHooklog(ctx, hooklogConfig{Log: at, KeyRing: p.keyRing()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, service.stop()) }()
	token, err := service.put(ctx, "webhook.full")
	if err != nil {
		return err
	}
	for _, connections := range p.connections {
		on := func(s *server) func(context.Context) (sample, error) {
			return func(ctx context.Context) (sample, error) {
				return s.under(ctx, p.load(connections, receiveRequest(s.Address, token)))
			}
		}
		sides := []side{{"bare handler", on(floor)}, {"hooklog", on(service)}}
		samples, err := takeTurns(ctx, p.rounds, sides...)
		if err != nil {
			return err
		}
		fmt.Printf("\n  %d connections\n", connections)
		table(sides, samples)
		compared("hooklog beside the bare handler", samples, receiveTarget)
		memory(samples[1])
	}
	return nil
}

// ownTopics are those that hooklog or the bare handler made.
func ownTopics(ctx context.Context, admin *kadm.Client) (own []string, err error) {
	topics, err := admin.ListTopics(ctx)
	if err != nil {
		return nil, err
	}
	for _, name := range topics.Names() {
		if strings.HasPrefix(name, "svc.") {
			own = append(own, name)
		}
	}
	return own, nil
}

func removeTopics(ctx context.Context, admin *kadm.Client) error {
	own, err := ownTopics(ctx, admin)
	if err != nil || len(own) == 0 {
		return err
	}
	removed, err := admin.DeleteTopics(ctx, own...)
	return errors.Join(err, removed.Error())
}
