package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"hooklog/cmd/settings"
	"hooklog/domain/record"
	"hooklog/transport/kafka"
	"hooklog/transport/kafka/embedded"
)

// folded are the topics that a rebuild reads.
var folded = []string{record.TopicCommand, record.TopicCall, record.TopicAccess, record.TopicSession}

// reading is what it took to read topics.
type reading struct {
	Records   int64
	Took, CPU time.Duration
}

// benchRebuild compares the start of a service whose projections were deleted
// with a bare consumer of the same topics. What a start takes anyway, which is
// mostly the broker that opens its log, is measured and left out.
func benchRebuild(ctx context.Context, p plan) error {
	title("Rebuild of the projections, embedded broker: a bare consumer of the same topics, and the fold at a start without state")
	dir, err := p.grownLog(ctx)
	if err != nil {
		return err
	}
	var bare, folds []reading
	for range p.rounds {
		consumed, err := readAll(ctx, "consume", consuming{dir, folded})
		if err != nil {
			return err
		}
		bare = append(bare, consumed)
		if err := os.RemoveAll(settings.Config{DataDir: dir}.StateDir()); err != nil {
			return err
		}
		without, err := startOn(ctx, dir)
		if err != nil {
			return err
		}
		with, err := startOn(ctx, dir)
		if err != nil {
			return err
		}
		folds = append(folds, reading{Records: consumed.Records, Took: without.Took - with.Took, CPU: without.CPU - with.CPU})
	}
	perSecond := func(r reading) float64 { return float64(r.Records) / r.Took.Seconds() }
	perRecord := func(r reading) float64 { return microseconds(r.CPU) / float64(r.Records) }
	fmt.Printf("  bare consumer %10.0f records/s, %.2f µs CPU a record, %d records\n", middle(bare, perSecond), middle(bare, perRecord), bare[0].Records)
	fmt.Printf("  rebuild       %10.0f records/s, %.2f µs CPU a record\n", middle(folds, perSecond), middle(folds, perRecord))
	fmt.Printf("  rebuild beside the bare consumer: × %.2f\n", middle(folds, perSecond)/middle(bare, perSecond))
	return nil
}

// grownLog gives the folder of a stopped service that took many calls, all of
// which a checkpoint covers.
func (p plan) grownLog(ctx context.Context) (dir string, err error) {
	if dir, err = p.fresh(); err != nil {
		return "", err
	}
	s, err := startHooklog(ctx, hooklogConfig{Log: logAt{Dir: dir}})
	if err != nil {
		return "", err
	}
	p.measured = p.history
	_, err = s.called(ctx, p, 256)
	if err == nil {
		_, err = s.command(ctx, "checkpoint.put", nil)
	}
	return dir, errors.Join(err, s.stop())
}

// startOn starts a service on a folder, stops it, and tells what its start took.
func startOn(ctx context.Context, dir string) (ready, error) {
	s, err := startHooklog(ctx, hooklogConfig{Log: logAt{Dir: dir}})
	if err != nil {
		return ready{}, err
	}
	return s.ready, s.stop()
}

// readAll lets a child read the log in a role.
func readAll(ctx context.Context, role string, config any) (reading, error) {
	c, err := startChild(ctx, role, config)
	if err != nil {
		return reading{}, err
	}
	var all reading
	if err := c.hear(&all); err != nil {
		return reading{}, err
	}
	return all, c.stop()
}

// consuming is for the role of the bare consumer.
type consuming struct {
	Dir    string
	Topics []string
}

// consume is the role of the bare consumer: a plain client reads everything and
// keeps nothing.
func consume(config []byte) error {
	var at consuming
	if err := json.Unmarshal(config, &at); err != nil {
		return err
	}
	quiet := slog.New(slog.DiscardHandler)
	broker, err := embedded.Open(embedded.Config{Dir: at.Dir, Log: quiet})
	if err != nil {
		return err
	}
	defer broker.Close()
	missing, err := recordsOn(broker, at.Topics, quiet)
	if err != nil {
		return err
	}
	all := reading{Records: missing}
	began, cpu := time.Now(), ownCPU()
	client, err := kgo.NewClient(kgo.SeedBrokers(broker.Addrs()...), kgo.Dialer(broker.DialContext),
		kgo.ConsumeTopics(at.Topics...), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		return err
	}
	defer client.Close()
	for missing > 0 {
		fetches := client.PollFetches(context.Background())
		if err := fetches.Err(); err != nil {
			return err
		}
		missing -= int64(fetches.NumRecords())
	}
	all.Took, all.CPU = time.Since(began), ownCPU()-cpu
	tell(all)
	return nil
}

// recordsOn counts what the topics hold.
func recordsOn(broker *embedded.Broker, topics []string, quiet *slog.Logger) (n int64, err error) {
	log, err := kafka.Open(kafka.Config{Brokers: broker.Addrs(), Dialer: broker.DialContext, ClientID: "bare", Log: quiet})
	if err != nil {
		return 0, err
	}
	defer log.Close()
	for _, topic := range topics {
		bounds, err := log.Bounds(context.Background(), topic)
		if err != nil {
			return 0, err
		}
		for _, b := range bounds {
			n += b.End - b.Start
		}
	}
	return n, nil
}
